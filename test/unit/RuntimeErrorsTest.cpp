//===- RuntimeErrorsTest.cpp - what the runtime refuses ---------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each status with its text, and the cache as it was.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTestMirror.h"
#include "RuntimeTestPlatform.h"
#include "runtime/Elements.h"
#include "runtime/Platform.h"
#include "runtime/Text.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace kvc;
using namespace kvc::test;

namespace {

/// Expects the step to be refused with this status and text, and the cache to
/// stay as it is.
void refused(const Cache &cache, const kvc_step &step, kvc_status status,
             const std::string &text) {
  bool layer = step.layer >= 0 && step.layer < LayerCount;
  kvc_stats before = layer ? cache.stats(step.layer) : kvc_stats{};
  CHECK_EQ(decode(step), status);
  CHECK_EQ(cache.error(), text);
  if (!layer)
    return;
  kvc_stats after = cache.stats(step.layer);
  CHECK_EQ(after.seen, before.seen);
  CHECK_EQ(after.held, before.held);
  CHECK_EQ(cache.error(), ""); // a success forgets the text
}

void refusesArguments() {
  Cache cache;
  Token token(0);
  kvc_step good = token.step(cache, AllFloats, 0);
  auto with = [&](auto change) {
    kvc_step step = good;
    change(step);
    return step;
  };
  CHECK_EQ(decode(with([](kvc_step &step) { step.cache = nullptr; })),
           KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().decode(nullptr, 1), KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().decode(nullptr, 0), KVC_OK);
  for (int32_t layer : {-1, int32_t{LayerCount}})
    refused(cache, with([&](kvc_step &step) { step.layer = layer; }),
            KVC_INVALID_ARGUMENT,
            "there is no layer " + std::to_string(layer) +
                ": the model has 9 layers, from 0");
  refused(cache, with([](kvc_step &step) { step.q = nullptr; }),
          KVC_INVALID_ARGUMENT, "layer 0: q is null");
  refused(cache, with([](kvc_step &step) { step.k = nullptr; }),
          KVC_INVALID_ARGUMENT, "layer 0: k is null");
  refused(cache, with([](kvc_step &step) { step.v = nullptr; }),
          KVC_INVALID_ARGUMENT, "layer 0: v is null");
  refused(cache, with([](kvc_step &step) { step.out = nullptr; }),
          KVC_INVALID_ARGUMENT, "layer 0: out is null");
  CHECK_EQ(decode(with([](kvc_step &step) { step.lse = nullptr; })), KVC_OK);
}

void refusesOrder() {
  Cache cache(100);
  Token token(0);
  for (int64_t position : {int64_t{0}, int64_t{99}, int64_t{101},
                           std::numeric_limits<int64_t>::min()})
    refused(cache, token.step(cache, AllFloats, position), KVC_ORDER,
            "layer 0: position " + std::to_string(position) +
                " is out of order: 100 comes next");
  CHECK_EQ(decode(cache, AllFloats, 0), KVC_OK);
  refused(cache, token.step(cache, AllFloats, 100), KVC_ORDER,
          "layer 0: position 100 is out of order: 101 comes next");
  CHECK_EQ(decode(cache, AllFloats, 1), KVC_OK);
}

void refusesNumbers() {
  Cache cache;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::string allowed = ": magnitudes up to 2^56 are allowed";
  struct {
    float value;
    const char *text;
  } bad[] = {{std::nanf(""), "NaN"},
             {-std::nanf(""), "NaN"},
             {infinity, "infinity"},
             {-infinity, "-infinity"},
             {std::nextafter(0x1p56f, infinity), "7.20576e+16"},
             {-0x1p100f, "-1.26765e+30"}};
  for (auto [value, text] : bad) {
    Token token(0);
    token.q[3] = value;
    refused(cache, token.step(cache, AllFloats, 0), KVC_NOT_FINITE,
            std::string("layer 0: q[1, 1] is ") + text + allowed);
    token = Token(0);
    token.k[1] = value;
    refused(cache, token.step(cache, StreamCoded, 0), KVC_NOT_FINITE,
            std::string("layer 1: k[0, 1] is ") + text + allowed);
    token = Token(0);
    token.v[2] = value;
    refused(cache, token.step(cache, StreamCoded, 0), KVC_NOT_FINITE,
            std::string("layer 1: v[0, 2] is ") + text + allowed);
  }
  Token token(0);
  token.q[0] = token.k[0] = 0x1p56f;
  token.v[0] = -0x1p56f;
  CHECK_EQ(decode(token.step(cache, AllFloats, 0)), KVC_OK);
}

void refusesBeyondTheLimit() {
  Cache cache;
  for (int64_t t = 0; t < 5; ++t)
    CHECK_EQ(decode(cache, Limited, t), KVC_OK);
  Token token(5);
  refused(cache, token.step(cache, Limited, 5), KVC_FULL,
          "layer 3: it is full: its context is 5 tokens");
  checkRead(cache, Limited, 5, 5);
}

void refusesReaders() {
  Cache cache(10);
  Token token(0);
  const std::string readerOf = "layer 2: position 10 is out of order: layer 0, "
                               "whose cache it reads, ";
  refused(cache, token.step(cache, AllReader, 10), KVC_ORDER,
          readerOf + "holds nothing yet");
  CHECK_EQ(decode(cache, AllFloats, 0), KVC_OK);
  kvc_step step = token.step(cache, AllReader, 10);
  step.k = token.k.data();
  refused(cache, step, KVC_INVALID_ARGUMENT,
          "layer 2: it reads layer 0's cache, so k and v must be null");

  // Twice is the same; a query left out is not missed.
  CHECK_EQ(decode(token.step(cache, AllReader, 10)), KVC_OK);
  Token again(0);
  CHECK_EQ(decode(again.step(cache, AllReader, 10)), KVC_OK);
  CHECK(again.out == token.out);
  CHECK_EQ(cache.stats(AllReader).seen, 1);
  CHECK_EQ(decode(cache, AllFloats, 1), KVC_OK);
  CHECK_EQ(decode(cache, AllFloats, 2), KVC_OK);
  refused(cache, token.step(cache, AllReader, 13), KVC_ORDER,
          "layer 2: position 13 is out of order: layer 0, whose cache it "
          "reads, is at 12");
  // One that is behind asks as of then.
  Token second(1), third(2);
  CHECK_EQ(decode(again.step(cache, AllReader, 10)), KVC_OK);
  CHECK(again.out == token.out);
  CHECK_EQ(decode(second.step(cache, AllReader, 11)), KVC_OK);
  checkOutput(second, AllReader, 2, 10);
  refused(cache, token.step(cache, AllReader, 10), KVC_ORDER,
          "layer 2: position 10 is out of order: it has been at 11");
  refused(cache, token.step(cache, AllReader, 9), KVC_ORDER,
          "layer 2: position 9 is out of order: it has been at 11");
  CHECK_EQ(decode(third.step(cache, AllReader, 12)), KVC_OK);
  checkOutput(third, AllReader, 3, 10);

  kvc_stats stats = cache.stats(AllReader);
  CHECK_EQ(stats.seen, 3);
  CHECK_EQ(stats.stored + stats.evicted + stats.held + stats.used.residual, 0);
  int64_t stored;
  CHECK_EQ(library().stored(cache, AllReader, &stored), KVC_INVALID_ARGUMENT);
  CHECK_EQ(cache.error(), "layer 2 stores nothing: it reads layer 0's cache");
  CHECK_EQ(library().read(cache, AllReader, 0, 0, nullptr, nullptr, nullptr),
           KVC_INVALID_ARGUMENT);
}

void refusesReads() {
  Cache cache;
  for (int64_t t = 0; t < 30; ++t)
    CHECK_EQ(decode(cache, StreamCoded, t), KVC_OK);
  auto read = [&](int64_t from, int64_t to) {
    return library().read(cache, StreamCoded, from, to, nullptr, nullptr,
                          nullptr);
  };
  CHECK_EQ(read(0, 12), KVC_OK);
  CHECK_EQ(read(12, 12), KVC_OK);
  CHECK_EQ(read(-1, 3), KVC_INVALID_ARGUMENT);
  CHECK_EQ(read(3, 2), KVC_INVALID_ARGUMENT);
  CHECK_EQ(read(0, 13), KVC_INVALID_ARGUMENT);
  CHECK_EQ(cache.error(),
           "layer 1: [0, 13) is no part of its 12 stored tokens");
  CHECK_EQ(library().stored(cache, StreamCoded, nullptr), KVC_INVALID_ARGUMENT);
  CHECK_EQ(cache.error(), "layer 1: out is null");
  CHECK_EQ(library().stats(cache, StreamCoded, nullptr), KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().stats(nullptr, StreamCoded, nullptr),
           KVC_INVALID_ARGUMENT);
  // One plane alone, across the border of sinks and body.
  float keys[kvHeads * 4 * headDim], values[kvHeads * 4 * valueDim];
  CHECK_EQ(library().read(cache, StreamCoded, 0, 4, keys, nullptr, nullptr),
           KVC_OK);
  CHECK_EQ(library().read(cache, StreamCoded, 0, 4, nullptr, values, nullptr),
           KVC_OK);
  for (int64_t i = 0; i < 4; ++i) {
    Token token(i < 2 ? i : 18 + i);
    for (int64_t head = 0; head < kvHeads; ++head) {
      CHECK_EQ(values[(head * 4 + i) * valueDim], token.v[head * valueDim]);
      CHECK_EQ(keys[(head * 4 + i) * headDim],
               rotated(&token.k[head * headDim], 1, i < 2 ? i : 18 + i)[0]);
    }
  }
}

/// Options as a later version may have them.
struct Longer {
  kvc_options options;
  int64_t later; // a member that this library does not know
};

void takesOptions() {
  kvc_cache *cache = nullptr;
  auto create = [&](uint32_t size, int64_t first) {
    Longer longer = {};
    longer.options.size = size;
    longer.options.first_position = first;
    longer.options.learned_sinks = learnedSinks;
    kvc_status status = library().create(&longer.options, &cache);
    if (status == KVC_OK) {
      Token token(0);
      CHECK_EQ(decode({cache, AllFloats, first, token.q.data(), token.k.data(),
                       token.v.data(), token.out.data(), nullptr, KVC_OK}),
               KVC_OK);
      library().destroy(cache);
    }
    return status;
  };
  CHECK_EQ(create(sizeof(kvc_options), 0), KVC_OK);
  CHECK_EQ(create(sizeof(kvc_options), int64_t{1} << 40), KVC_OK);
  CHECK_EQ(create(sizeof(kvc_options), (int64_t{1} << 40) + 1),
           KVC_INVALID_ARGUMENT);
  CHECK_EQ(create(sizeof(kvc_options), -1), KVC_INVALID_ARGUMENT);
  CHECK(!cache);
  CHECK_EQ(create(sizeof(kvc_options) + 8, 7), KVC_OK);
  // No version has less than this one.
  CHECK_EQ(create(sizeof(kvc_options) - 1, 7), KVC_INVALID_ARGUMENT);
  CHECK_EQ(create(24, 7), KVC_INVALID_ARGUMENT);
  CHECK_EQ(create(4, 7), KVC_INVALID_ARGUMENT);
  CHECK(!cache);
  CHECK_EQ(library().create(nullptr, &cache), KVC_INVALID_ARGUMENT);
  CHECK_EQ(create(4097, 7), KVC_INVALID_ARGUMENT);
  CHECK_EQ(create(0, 0), KVC_INVALID_ARGUMENT);
  // What is not known is not ignored.
  Longer later = {goodOptions(), 1};
  later.options.size = sizeof(later);
  CHECK_EQ(library().create(&later.options, &cache), KVC_VERSION);
  CHECK(!cache);
  CHECK_EQ(library().create(nullptr, nullptr), KVC_INVALID_ARGUMENT);
  library().destroy(nullptr);
}

void refusesCpus() {
  hiddenFeatures = runtime::CpuF16c | runtime::CpuX86_64V2 | runtime::CpuAvx2;
  kvc_cache *cache = nullptr;
  CHECK_EQ(library().create(nullptr, &cache), KVC_UNSUPPORTED_CPU);
  CHECK(!cache);
  char text[256];
  kvc_options options = goodOptions();
  options.error = text;
  options.error_size = sizeof(text);
  CHECK_EQ(library().create(&options, &cache), KVC_UNSUPPORTED_CPU);
  CHECK_EQ(std::string(text), std::string(library().last_error(nullptr)));
  kvc_bytes plan;
  CHECK_EQ(library().plan(0, 1, &plan), KVC_UNSUPPORTED_CPU);
  // merge is asked for no cache either.
  float out[mostHeads * valueDim];
  CHECK_EQ(library().merge(0, nullptr, 0, 1, out, nullptr),
           KVC_UNSUPPORTED_CPU);
  CHECK_EQ(std::string(library().last_error(nullptr)),
           "this CPU lacks what the library was built for: F16C, SSE4.2 and "
           "the rest of x86-64-v2");
  hiddenFeatures = 0;
  CHECK_EQ(library().merge(0, nullptr, 0, 1, out, nullptr), KVC_OK);
  CHECK_EQ(std::string(library().last_error(nullptr)), "");
}

template <typename Value> std::string text(Value value) {
  char buffer[64];
  runtime::Text(buffer, sizeof(buffer)) << value;
  return buffer;
}

void writesTexts() {
  CHECK_EQ(text(int64_t{0}), "0");
  CHECK_EQ(text(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  CHECK_EQ(text(std::numeric_limits<int64_t>::max()), "9223372036854775807");
  CHECK_EQ(text(1.0), "1e+0");
  CHECK_EQ(text(-0.00048828125), "-4.88281e-4");
  CHECK_EQ(text(9.9999999), "1e+1");
  CHECK_EQ(text(1.05e20), "1.05e+20");
  CHECK_EQ(text(3.4028234663852886e38), "3.40282e+38");
  char buffer[6];
  runtime::Text(buffer, sizeof(buffer)) << "abc" << int64_t{12345};
  CHECK_EQ(std::string(buffer), "abc12");
}

void knowsElements() {
  const uint16_t half[] = {0x7bff, 0xfbff, 0x0001, 0x3c00, 0xfc00, 0x7e00};
  CHECK_EQ(runtime::firstRefused(KVC_F16, half, 4), -1);
  CHECK_EQ(runtime::firstRefused(KVC_F16, half, 6), 4);
  CHECK_EQ(runtime::firstRefused(KVC_F16, half + 5, 1), 0);
  CHECK_EQ(runtime::elementValue(KVC_F16, half, 0), 65504);
  CHECK_EQ(runtime::elementValue(KVC_F16, half, 1), -65504);
  CHECK_EQ(runtime::elementValue(KVC_F16, half, 2), 0x1p-24);
  CHECK_EQ(runtime::elementValue(KVC_F16, half, 4), -INFINITY);
  CHECK(std::isnan(runtime::elementValue(KVC_F16, half, 5)));
  const uint16_t brain[] = {0x5b80, 0xdb80, 0x5b81, 0x7f80, 0xffff};
  CHECK_EQ(runtime::firstRefused(KVC_BF16, brain, 2), -1);
  for (int64_t i = 2; i < 5; ++i)
    CHECK_EQ(runtime::firstRefused(KVC_BF16, brain + i, 1), 0);
  CHECK_EQ(runtime::elementValue(KVC_BF16, brain, 1), -0x1p56);
  std::vector<float> many(1000, 1.0f);
  CHECK_EQ(runtime::firstRefused(KVC_F32, many.data(), 1000), -1);
  many[997] = -INFINITY;
  CHECK_EQ(runtime::firstRefused(KVC_F32, many.data(), 1000), 997);
}

} // namespace

int main() {
  refusesArguments();
  refusesOrder();
  refusesNumbers();
  refusesBeyondTheLimit();
  refusesReaders();
  refusesReads();
  takesOptions();
  refusesCpus();
  writesTexts();
  knowsElements();
  CHECK_EQ(liveBlocks, 0);
  return checkResult();
}
