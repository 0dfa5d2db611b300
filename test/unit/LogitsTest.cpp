//===- LogitsTest.cpp - what happens to logits, against numbers by hand ---===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Softcap, ALiBi and learned sinks, in the reference and in a library.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Inputs.h"
#include "compiler/harness/Safetensors.h"
#include "compiler/harness/Trace.h"
#include "test/unit/PlayedModel.h"

#include <limits>

using namespace kvc;
using namespace kvc::test;
using namespace llvm;

/// A learned sink s against n logits x with values 1.
static void testLearnedSinks() {
  const float x = 0.5f;
  for (float sink :
       {-90.0f, -1.0f, 0.0f, 1.25f, 7.0f, 60.0f, 0x1p56f, -0x1p56f}) {
    PlayedModel model("model: {layers: 1, heads: 1, head_dim: 1, scale: 1,\n"
                      "        learned_sinks: true}\ncache: {context: 9}\n",
                      0, {{sink}});
    for (int n = 1; n <= 5; ++n) {
      const double s = sink;
      CHECK(
          model.step(0, {x}, {1}, {1}, {n / (n + std::exp(s - x))},
                     {std::max(s, x + std::log(n)) +
                      std::log1p(std::exp(-std::fabs(s - x - std::log(n))))}));
    }
  }
}

/// Sinks are of heads and layers, whatever heads of keys they meet; a reader
/// has its own, or none.
static void testSinksByHead() {
  PlayedModel model("model: {layers: 3, heads: 6, kv_heads: 2, head_dim: 3}\n"
                    "cache: {context: 9}\nlayers:\n"
                    "  - {at: 0, learned_sinks: true}\n"
                    "  - {at: 1..2, share: 0, heads: 2}\n"
                    "  - {at: 2, learned_sinks: true}\n",
                    0, {{0, 1, 2, 3, 4, 5}, {}, {-1, 1}});
  const float zeros[18] = {}, ones[6] = {1, 1, 1, 1, 1, 1};
  // All logits are 0, and values 1.
  for (int n = 1; n <= 3; ++n) {
    std::vector<double> out, lse;
    auto expect = [&](std::vector<double> denominators) {
      out.clear(), lse.clear();
      for (double denominator : denominators) {
        out.insert(out.end(), 3, n / denominator);
        lse.push_back(std::log(denominator));
      }
    };
    std::vector<double> denominators;
    for (int head = 0; head < 6; ++head)
      denominators.push_back(n + std::exp(head));
    expect(denominators);
    CHECK(model.step(0, zeros, ArrayRef(zeros).take_front(6), ones, out, lse));
    expect({double(n), double(n)});
    CHECK(model.step(1, ArrayRef(zeros).take_front(6), {}, {}, out, lse));
    expect({n + std::exp(-1), n + std::exp(1)});
    CHECK(model.step(2, ArrayRef(zeros).take_front(6), {}, {}, out, lse));
  }
}

/// What create refuses, and the words that it leaves.
static void testSinkErrors() {
  PlayedModel some("model: {layers: 2, heads: 2, head_dim: 1}\n"
                   "cache: {context: 9}\n"
                   "layers: [{at: 1, learned_sinks: true}]\n",
                   0, {{}, {0, 0}});
  PlayedModel none("model: {layers: 1, heads: 2, head_dim: 1}\n"
                   "cache: {context: 9}\n");
  CHECK(!some.library.layers()[0].learnedSinks);
  CHECK(some.library.layers()[1].learnedSinks);
  auto refuses = [](const harness::LoadedLibrary &library,
                    const float *const *sinks, kvc_status status,
                    StringRef words) {
    char text[128] = "old";
    kvc_options options = {};
    options.size = sizeof(options);
    options.learned_sinks = sinks;
    options.error = text;
    options.error_size = sizeof(text);
    kvc_cache *cache = nullptr;
    CHECK_EQ(library->create(&options, &cache), status);
    CHECK_EQ(StringRef(text).str(), words.str());
    library->destroy(cache);
    // Without a place for the text it is the same; a short one cuts it.
    options.error_size = 6;
    cache = nullptr;
    CHECK_EQ(library->create(&options, &cache), status);
    CHECK_EQ(StringRef(text).str(), words.take_front(5).str());
    library->destroy(cache);
    options.error = nullptr;
    cache = nullptr;
    CHECK_EQ(library->create(&options, &cache), status);
    library->destroy(cache);
  };
  const float good[2] = {1, -2};
  const float inf = std::numeric_limits<float>::infinity();
  const float bad[2] = {1, -inf}, nan[2] = {NAN, 0};
  const float large[2] = {0x1p56f, 0x1.000002p56f};
  auto two = [](const float *a, const float *b) {
    return std::array<const float *, 2>{a, b};
  };
  refuses(some.library, two(nullptr, good).data(), KVC_OK, "");
  refuses(some.library, nullptr, KVC_INVALID_ARGUMENT,
          "layer 1 takes learned sinks, 2 of them, and learned_sinks has none "
          "for it");
  refuses(some.library, two(nullptr, nullptr).data(), KVC_INVALID_ARGUMENT,
          "layer 1 takes learned sinks, 2 of them, and learned_sinks has none "
          "for it");
  refuses(some.library, two(good, good).data(), KVC_INVALID_ARGUMENT,
          "layer 0 takes no learned sinks: its entry in learned_sinks must be "
          "null");
  refuses(some.library, two(nullptr, bad).data(), KVC_NOT_FINITE,
          "layer 1: learned_sinks[1] is -infinity: magnitudes up to 2^56 are "
          "allowed");
  refuses(
      some.library, two(nullptr, nan).data(), KVC_NOT_FINITE,
      "layer 1: learned_sinks[0] is NaN: magnitudes up to 2^56 are allowed");
  refuses(some.library, two(nullptr, large).data(), KVC_NOT_FINITE,
          "layer 1: learned_sinks[1] is 7.20576e+16: magnitudes up to 2^56 are "
          "allowed");
  refuses(none.library, nullptr, KVC_OK, "");
  refuses(none.library, two(nullptr, nullptr).data(), KVC_INVALID_ARGUMENT,
          "no layer takes learned sinks: learned_sinks must be null");
}

/// 2 tanh(s / 2) of s = 0.5, 1.5 and -4, in this order.
static void testSoftcap() {
  PlayedModel model("model: {layers: 1, heads: 1, head_dim: 1, scale: 0.5,\n"
                    "        softcap: 2}\ncache: {context: 9}\n");
  const double y[] = {0.48983732480741826, 1.2702979047745746,
                      -1.9280551601516338};
  const double w[] = {std::exp(y[0]), std::exp(y[1]), std::exp(y[2])};
  CHECK(model.step(0, {1}, {1}, {1}, {1}, {y[0]}));
  CHECK(model.step(0, {1}, {3}, {10}, {(w[0] + 10 * w[1]) / (w[0] + w[1])},
                   {std::log(w[0] + w[1])}));
  const double sum = w[0] + w[1] + w[2];
  CHECK(model.step(0, {1}, {-8}, {-5}, {(w[0] + 10 * w[1] - 5 * w[2]) / sum},
                   {std::log(sum)}));
}

/// The paper's slopes of 7 heads: those of 4, then every other one of 8.
static void testAlibi() {
  const double slopes[] = {1. / 4, 1. / 16, 1. / 64, 1. / 256,
                           1. / 2, 1. / 8,  1. / 32};
  PlayedModel model("model: {layers: 1, heads: 7, kv_heads: 1, head_dim: 2,\n"
                    "        alibi: true}\ncache: {context: 99}\n");
  const float zeros[14] = {};
  for (int p = 0; p < 40; ++p) {
    // Dot products are 0, values the tokens' numbers.
    std::vector<double> out, lse;
    for (double slope : slopes) {
      double sum = 0, first = 0;
      for (int t = 0; t <= p; ++t) {
        sum += std::exp(-slope * (p - t));
        first += std::exp(-slope * (p - t)) * t;
      }
      out.insert(out.end(), {first / sum, -first / sum});
      lse.push_back(std::log(sum));
    }
    const float v[2] = {float(p), float(-p)};
    CHECK(model.step(0, zeros, {0, 0}, v, out, lse));
  }
}

/// Scale, then softcap, then distance; the sink is touched by none of them.
static void testOrder() {
  PlayedModel model("model: {layers: 1, heads: 1, head_dim: 1, scale: 0.5,\n"
                    "  softcap: 2, alibi: {slopes: [3]}, learned_sinks: true}\n"
                    "cache: {context: 9}\n",
                    0, {{4.0f}});
  const double sink = std::exp(4.0);
  const double y0 = 1.2702979047745746, y1 = -1.9280551601516338;
  CHECK(model.step(0, {1}, {3}, {1}, {std::exp(y0) / (std::exp(y0) + sink)},
                   {std::log(std::exp(y0) + sink)}));
  const double sum = std::exp(y0 - 3) + std::exp(y1) + sink;
  CHECK(model.step(0, {1}, {-8}, {2},
                   {(std::exp(y0 - 3) + 2 * std::exp(y1)) / sum},
                   {std::log(sum)}));
}

/// A sink is as far as the window is long where positions are the cache's.
static void testDistances() {
  for (bool cache : {false, true}) {
    PlayedModel model("model: {layers: 1, heads: 1, head_dim: 1,\n"
                      "        alibi: {slopes: [0.25]}}\n"
                      "cache: {sink: 1, window: 2, positions: " +
                          std::string(cache ? "cache" : "absolute") + "}\n",
                      /*first=*/1000);
    for (int p = 0; p < 50; ++p) {
      std::vector<double> distances{0};
      if (p > 0)
        distances.push_back(1);
      if (p > 1)
        distances.push_back(cache ? 2 : p);
      double sum = 0;
      for (double distance : distances)
        sum += std::exp(-0.25 * distance);
      CHECK(model.step(0, {0}, {0}, {1}, {1}, {std::log(sum)}));
    }
  }
}

/// `layers.{i}.sinks` of a trace.
static void testTrace() {
  auto file = TemporaryFile::create("safetensors");
  if (!CHECK(bool(file)))
    return;
  const std::string &path = file->path();
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const std::vector<harness::LayerShape> layers{{2, 1, 3, 3, 0, true}};
  auto read = [&](ArrayRef<int64_t> sinks) {
    harness::SafetensorsWriter writer;
    writer.addF32("layers.0.q", {1, 2, 3}, values);
    writer.addF32("layers.0.k", {1, 1, 3}, ArrayRef(values).take_front(3));
    writer.addF32("layers.0.v", {1, 1, 3}, ArrayRef(values).take_front(3));
    int64_t count = 1;
    for (int64_t extent : sinks)
      count *= extent;
    if (!sinks.empty())
      writer.addF32("layers.0.sinks", sinks,
                    ArrayRef(values).take_front(count));
    CHECK(!writer.write(path));
    return harness::readTrace(path, layers, harness::Element::F32);
  };
  auto good = read({2});
  CHECK(bool(good) && good->sinks() == harness::LearnedSinks{{1, 2}});
  for (auto [sinks, words] :
       {std::pair<std::vector<int64_t>, std::string>{
            {}, "' has no tensor 'layers.0.sinks'"},
        {{3}, "': tensor 'layers.0.sinks' is [3], the model wants [2]"},
        {{1, 2},
         "': tensor 'layers.0.sinks' is [1, 2], the model wants [2]"}}) {
    auto bad = read(sinks);
    CHECK(!bad);
    CHECK_EQ(toString(bad.takeError()), "'" + path + words);
  }
}

int main() {
  testLearnedSinks();
  testSinksByHead();
  testSinkErrors();
  testSoftcap();
  testAlibi();
  testOrder();
  testDistances();
  testTrace();
  return checkResult();
}
