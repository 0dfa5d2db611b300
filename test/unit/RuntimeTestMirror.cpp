//===- RuntimeTestMirror.cpp - what the model must answer -------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Straight from the definitions; no speed is needed.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTestMirror.h"

#include <cmath>
#include <set>
#include <vector>

namespace kvc::test {

kvc_status decode(kvc_step step) {
  kvc_status status = library().decode(&step, 1);
  CHECK_EQ(status, step.status);
  return status;
}

kvc_status decode(const Cache &cache, int32_t layer, int64_t token) {
  Token arrays(token);
  return decode(arrays.step(cache, layer, cache.first + token));
}

std::array<float, 2> rotated(const float *x, int64_t rope, int64_t index) {
  if (rope < 0)
    return {x[0], x[1]};
  double angle = static_cast<double>(index) * ropeFrequency[rope];
  float c = static_cast<float>(std::cos(angle) * ropeFactor[rope]);
  float s = static_cast<float>(std::sin(angle) * ropeFactor[rope]);
  return {x[0] * c - x[1] * s, x[0] * s + x[1] * c};
}

/// Tokens stored at `seen`, ascending, straight from the definition.
static std::vector<int64_t> storedTokens(const Policy &policy, int64_t seen) {
  std::vector<int64_t> stored;
  for (int64_t t = 0; t < seen; ++t)
    if (t < policy.sink || !policy.window || t > seen - 1 - policy.window)
      stored.push_back(t);
  return stored;
}

void checkOutput(const Token &newest, int32_t layer, int64_t seen,
                 int64_t first) {
  const Policy &policy = policies[layer];
  std::vector<int64_t> stored = storedTokens(policy, seen);
  int64_t evicted = seen - static_cast<int64_t>(stored.size());
  for (int64_t head = 0; head < policy.heads; ++head) {
    double expected[valueDim] = {};
    for (int64_t t : stored) {
      Token token(t);
      int64_t index = first + seen - 1 - (t < policy.sink ? evicted : 0);
      auto q = rotated(&newest.q[head * headDim], policy.rope, index);
      auto k = rotated(token.k.data(), policy.rope, first + t);
      for (int64_t i = 0; i < valueDim; ++i)
        expected[i] += token.v[i] + q[0] * k[0] + q[1] * k[1];
    }
    for (int64_t i = 0; i < valueDim; ++i)
      CHECK(std::abs(newest.out[head * valueDim + i] - expected[i]) < 1e-3);
    CHECK_EQ(newest.lse[head], static_cast<float>(stored.size()));
  }
}

void checkRead(const Cache &cache, int32_t layer, int64_t seen, int64_t piece) {
  const Policy &policy = policies[layer];
  std::vector<int64_t> stored = storedTokens(policy, seen);
  int64_t count = static_cast<int64_t>(stored.size()), told = -1;
  CHECK_EQ(library().stored(cache, layer, &told), KVC_OK);
  CHECK_EQ(told, count);
  for (int64_t from = 0; from < count; from += piece) {
    int64_t to = from + piece < count ? from + piece : count;
    std::vector<float> keys((to - from) * headDim);
    std::vector<float> values((to - from) * valueDim);
    std::vector<int64_t> positions(to - from);
    CHECK_EQ(library().read(cache, layer, from, to, keys.data(), values.data(),
                            positions.data()),
             KVC_OK);
    for (int64_t i = from; i < to; ++i) {
      Token token(stored[i]);
      CHECK_EQ(positions[i - from], cache.first + stored[i]);
      auto k = rotated(token.k.data(), policy.rope, cache.first + stored[i]);
      for (int64_t d = 0; d < headDim; ++d)
        CHECK_EQ(keys[(i - from) * headDim + d], k[d]);
      for (int64_t d = 0; d < valueDim; ++d)
        CHECK_EQ(values[(i - from) * valueDim + d], token.v[d]);
    }
  }
}

/// Bytes that a sequence holds at most: in each step, for each stream, the
/// pages of all tokens it must hold while the step runs.
static int64_t expectedHeld(const Policy &policy, int64_t length) {
  int64_t most[streamCount] = {};
  for (int64_t seen = 1; seen <= length; ++seen) {
    std::set<int64_t> pages[streamCount];
    auto hold = [&](int64_t stream, int64_t token) {
      bool sinks = stream == KeySinks || stream == ValueSinks;
      int64_t slot = token - (sinks ? 0 : policy.sink);
      pages[stream].insert(slot / pageTokens[stream]);
    };
    for (int64_t length : {seen - 1, seen})
      for (int64_t t : storedTokens(policy, length)) {
        bool sink = t < policy.sink;
        hold(sink ? ValueSinks : ValueFloats, t);
        hold(sink                       ? KeySinks
             : t < policy.coded(length) ? KeyCodes
                                        : KeyFloats,
             t);
      }
    if (seen > policy.sink) // the newest comes as it is, then it is coded
      hold(KeyFloats, seen - 1);
    for (int64_t i = 0; i < streamCount; ++i)
      if (static_cast<int64_t>(pages[i].size()) > most[i])
        most[i] = static_cast<int64_t>(pages[i].size());
  }
  int64_t held = 0;
  for (int64_t i = 0; i < streamCount; ++i)
    held += most[i] * pageBytes[i];
  return held;
}

void checkStats(const Cache &cache, int32_t layer, int64_t seen) {
  kvc_stats stats = cache.stats(layer);
  int64_t stored =
      static_cast<int64_t>(storedTokens(policies[layer], seen).size());
  CHECK_EQ(stats.seen, seen);
  CHECK_EQ(stats.stored, stored);
  CHECK_EQ(stats.evicted, seen - stored);
  CHECK_EQ(stats.held, expectedHeld(policies[layer], seen));
  kvc_bytes plan;
  CHECK_EQ(library().plan(layer, seen, &plan), KVC_OK);
  CHECK_EQ(plan.padding, 0);
  CHECK_EQ(stats.used.codes, plan.codes);
  CHECK_EQ(stats.used.residual, plan.residual);
  CHECK_EQ(stats.used.sinks, plan.sinks);
  // In the toy model a stored token costs the same in every form.
  int64_t used = stored * 4 * (headDim + valueDim);
  CHECK_EQ(plan.codes + plan.residual + plan.sinks, used);
  CHECK_EQ(stats.used.padding, stats.held - used);
}

} // namespace kvc::test
