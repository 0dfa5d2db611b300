//===- RopeTest.cpp - rotary embedding against what it is for -------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frequencies are held against numbers that another program computed in fp64 by
// the formulas of Hugging Face's modeling_rope_utils.py; keys of a library
// against their definition, far from position 0.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Random.h"
#include "dialect/KVOps.h"
#include "test/unit/PlayedModel.h"
#include "llvm/Support/FormatVariadic.h"

using namespace kvc;
using namespace kvc::test;
using namespace llvm;

namespace {
/// The position point of a model with this rope.
struct Rope {
  Rope(const std::string &rope, size_t headDim) {
    auto made = harness::Model::fromSpec(
        formatv("kvc: 1\nname: m\nmodel: {{layers: 1, heads: 1, head_dim: {0}, "
                "rope: {1}}\ncache: {{context: 9}\n",
                headDim, rope)
            .str(),
        "rope", /*threads=*/false);
    if (!CHECK(bool(made))) {
      std::printf("%s\n", toString(made.takeError()).c_str());
      std::exit(1);
    }
    model = std::move(*made);
    kv::ModelOp op = *model->module().getOps<kv::ModelOp>().begin();
    policy = (*op.getLayers().begin()).getPolicy();
  }
  kv::PositionAttrInterface position() const { return policy.getPosition(); }
  /// What kernels feel, as text.
  std::string kernelForm() const {
    std::string text;
    raw_string_ostream(text) << policy.getKernelForm();
    return text;
  }

  std::unique_ptr<harness::Model> model;
  kv::PolicyAttr policy;
};
} // namespace

static void testFrequencies() {
  struct Case {
    const char *rope;
    double factor;
    std::vector<double> frequencies;
  };
  const Case cases[] = {
      {"{theta: 10000}", 1, {1.0, 0.1, 0.01, 0.001}},
      {"{theta: 10000, scaling: {type: linear, factor: 4}}",
       1,
       {0.25, 0.025, 0.0025, 0.00025}},
      {"{theta: 10000, scaling: {type: ntk, factor: 4}}",
       1,
       {1.0, 0.06299605249474366, 0.003968502629920499, 0.00025}},
      {"{theta: 500000, scaling: {type: llama3, factor: 8, low: 1, high: 4, "
       "original_context: 8192}}",
       1,
       {1.0, 0.19392274474868576, 0.03760603093086393, 0.0072926647372171085,
        0.0005248461609929547, 3.428102195952591e-05, 6.647869871181236e-06,
        1.2891731721515574e-06}},
      {"{theta: 10000, scaling: {type: yarn, factor: 16, original_context: "
       "4096}}",
       1.2772588722239782,
       {1.0, 0.31622776601683794, 0.1, 0.024211188335664154, 0.0053125,
        0.0009388011803624875, 6.25e-05, 1.976423537605237e-05}},
      {"{theta: 150000, scaling: {type: yarn, factor: 32, original_context: "
       "4096, truncate: false, attention_factor: 1.5}}",
       1.5,
       {1.0, 0.2254180002028708, 0.050813274815461475, 0.006794959489732219,
        0.00045648391922324086, 1.818833668168956e-05, 4.0999784818029795e-06,
        9.242089502428301e-07}},
      // Equal borders, as published configs have them: nothing lies between.
      {"{theta: 500000, scaling: {type: llama3, factor: 16, low: 1, high: 1, "
       "original_context: 8192}}",
       1,
       {1.0, 0.19392274474868576, 0.03760603093086393, 0.0072926647372171085,
        0.001414213562373095, 1.7140510979762956e-05, 3.323934935590618e-06,
        6.445865860757787e-07}},
      // A wavelength of exactly the border, 2 pi, stays.
      {"{theta: 10000, scaling: {type: llama3, factor: 16, low: "
       "2.5464790894703255, high: 2.5464790894703255, original_context: 16}}",
       1,
       {1.0, 0.000625}},
      {"{theta: 50000, scaling: {type: yarn, factor: 64, original_context: "
       "4096, beta_fast: 1, beta_slow: 1}}",
       1.4158883083359672,
       {1.0, 0.2586001363063102, 0.0668740304976422, 0.017293633402042617,
        0.00447213595499958, 1.8070233867863153e-05, 4.672964941316314e-06,
        1.2084293707790077e-06}},
      // The ramp's borders meet, or cross: both lie below dimension 0.
      {"{theta: 10000, scaling: {type: yarn, factor: 2, original_context: 4}}",
       1.0693147180559945,
       {1.0, 0.005}},
      {"{theta: 10000, scaling: {type: yarn, factor: 2, original_context: 16}}",
       1.0693147180559945,
       {1.0, 0.05, 0.005, 0.0005}}};
  for (const Case &wanted : cases) {
    const size_t pairs = wanted.frequencies.size();
    Rope rope(wanted.rope, 2 * pairs);
    CHECK_EQ(rope.position().getFactor(), wanted.factor);
    const auto got = rope.position().getFrequencies();
    if (!CHECK_EQ(got.size(), pairs))
      continue;
    for (size_t i = 0; i < pairs; ++i)
      // Another pow may round differently.
      if (!CHECK(std::fabs(got[i] - wanted.frequencies[i]) <=
                 4e-16 * wanted.frequencies[i]))
        std::printf("%s: frequency %zu is %.17g\n", wanted.rope, i, got[i]);
    // Scaled or not, it is the same kernel.
    CHECK_EQ(rope.kernelForm(), Rope("{theta: 3}", 2 * pairs).kernelForm());
  }
  CHECK(Rope("{pairing: half}", 8).kernelForm() !=
        Rope("{pairing: interleaved}", 8).kernelForm());
}

static std::vector<float> gaussian(harness::Random &random, int count) {
  std::vector<float> values(count);
  for (float &value : values)
    value = static_cast<float>(random.gaussian());
  return values;
}

/// Pairs of a pairing, written out.
static std::vector<std::pair<int, int>> pairsOf(bool interleaved, int dims) {
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < dims / 2; ++i)
    pairs.push_back(interleaved ? std::pair(2 * i, 2 * i + 1)
                                : std::pair(i, i + dims / 2));
  return pairs;
}

/// Keys that a library stores: their definition, to 1e-6 at any position; norms
/// are kept; what no pair has stays.
static void testKeys() {
  constexpr int headDim = 9, dims = 6;
  const auto frequencies =
      Rope("{dims: 6}", headDim).position().getFrequencies();
  for (bool interleaved : {false, true})
    for (int64_t first : {int64_t{0}, int64_t{100'000'000}, int64_t{1} << 40}) {
      PlayedModel model(formatv("model: {{layers: 1, heads: 1, head_dim: {0},\n"
                                "  rope: {{dims: {1}, pairing: {2}}}\n"
                                "cache: {{context: 9}\n",
                                headDim, dims,
                                interleaved ? "interleaved" : "half")
                            .str(),
                        first);
      harness::Random random(5);
      std::vector<float> all;
      for (int t = 0; t < 9; ++t) {
        const auto k = gaussian(random, headDim);
        all.insert(all.end(), k.begin(), k.end());
        model.take(0, k, k, k);
      }
      const std::vector<float> keys = model.keys(0);
      if (!CHECK_EQ(keys.size(), all.size()))
        return;
      for (int t = 0; t < 9; ++t) {
        const float *x = &all[t * headDim], *y = &keys[t * headDim];
        const auto pairs = pairsOf(interleaved, dims);
        for (size_t i = 0; i < pairs.size(); ++i) {
          auto [a, b] = pairs[i];
          // The angle rounded to a double is the definition.
          const double angle = double(first + t) * frequencies[i];
          const double c = std::cos(angle), s = std::sin(angle);
          CHECK(std::fabs(y[a] - (x[a] * c - x[b] * s)) < 1e-6);
          CHECK(std::fabs(y[b] - (x[a] * s + x[b] * c)) < 1e-6);
          CHECK(std::fabs(std::hypot(double(y[a]), double(y[b])) -
                          std::hypot(double(x[a]), double(x[b]))) < 1e-6);
        }
        for (int d = dims; d < headDim; ++d)
          CHECK_EQ(y[d], x[d]);
      }
    }
}

/// The same tokens far from position 0 attend as they do at 0.
static void testOffsets() {
  const char *ropes[] = {
      "{dims: 6, pairing: interleaved}",
      "{scaling: {type: llama3, factor: 8, original_context: 16}}",
      "{scaling: {type: yarn, factor: 4, original_context: 64}}"};
  for (const char *rope : ropes) {
    const std::string text = formatv(
        "model: {{layers: 1, heads: 2, kv_heads: 1, head_dim: 8,\n"
        "  rope: {0}}\ncache: {{sink: 2, window: 7, positions: cache}\n",
        rope);
    PlayedModel near(text, 0), far(text, 100'000'000);
    harness::Random random(6);
    for (int t = 0; t < 30; ++t) {
      const auto q = gaussian(random, 16), k = gaussian(random, 8),
                 v = gaussian(random, 8);
      near.take(0, q, k, v);
      far.take(0, q, k, v);
      for (size_t i = 0; i < near.got.out.size(); ++i)
        CHECK(std::fabs(near.got.out[i] - far.got.out[i]) < 1e-5);
      for (size_t i = 0; i < near.got.lse.size(); ++i)
        CHECK(std::fabs(near.got.lse[i] - far.got.lse[i]) < 1e-5);
    }
  }
}

/// Yarn's factor acts on queries and on keys: an unrotated score times its
/// square, at distance 0.
static void testAttentionFactor() {
  PlayedModel model(
      "model: {layers: 1, heads: 1, head_dim: 2, scale: 1, rope:\n"
      "  {scaling: {type: yarn, factor: 4, original_context: 64,\n"
      "             attention_factor: 1.5}}}\n"
      "cache: {context: 9}\n");
  CHECK(model.step(0, {0.5f, 0.25f}, {2, -1}, {1, 1}, {1, 1}, {0.75 * 2.25}));
}

int main() {
  testFrequencies();
  testKeys();
  testOffsets();
  testAttentionFactor();
  return checkResult();
}
