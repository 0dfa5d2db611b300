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

#include <algorithm>
#include <cmath>

namespace kvc::test {

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static const float sunkSinks[] = {0.5f, -1, 2, 8};
const float *const learnedSinks[LayerCount] = {
    nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, sunkSinks};

float sinkOf(int32_t layer, int64_t head) {
  return learnedSinks[layer] ? learnedSinks[layer][head] : 0;
}

kvc_options goodOptions(int64_t firstPosition) {
  kvc_options options = {};
  options.size = sizeof(options);
  options.first_position = firstPosition;
  options.learned_sinks = learnedSinks;
  return options;
}

template <typename Item>
static kvc_status call(kvc_status (*function)(Item *, size_t), Item &item) {
  kvc_status status = function(&item, 1);
  CHECK_EQ(status, item.status);
  return status;
}

kvc_status decode(kvc_step step) { return call(library().decode, step); }
kvc_status prefill(kvc_chunk chunk) { return call(library().prefill, chunk); }
kvc_status append(kvc_chunk chunk) { return call(library().append, chunk); }
kvc_status attend(kvc_query query) { return call(library().attend, query); }

kvc_status decode(const Cache &cache, int32_t layer, int64_t token) {
  Token arrays(token);
  return decode(arrays.step(cache, layer, cache.first + token));
}

void fill(const Cache &cache, int32_t layer, int64_t from, int64_t to) {
  for (int64_t token = from; token < to; ++token)
    CHECK_EQ(decode(cache, layer, token), KVC_OK);
}

Tokens::Tokens(int32_t layer, int64_t token, int64_t count)
    : layer(layer), token(token), count(count) {
  const size_t heads = policies[layer].heads, rows = count;
  for (int64_t t = token; t < token + count; ++t) {
    Token one(t);
    q.insert(q.end(), one.q.begin(), one.q.begin() + heads * headDim);
    k.insert(k.end(), one.k.begin(), one.k.end());
    v.insert(v.end(), one.v.begin(), one.v.end());
  }
  out.assign(rows * heads * valueDim, untouched);
  lse.assign(rows * heads, untouched);
}

kvc_chunk Tokens::chunk(const Cache &cache) {
  bool reader = reads(layer);
  return {cache,
          layer,
          cache.first + token,
          count,
          q.data(),
          reader ? nullptr : k.data(),
          reader ? nullptr : v.data(),
          out.data(),
          lse.data(),
          KVC_OK};
}

kvc_chunk Tokens::append(const Cache &cache) {
  kvc_chunk chunk = this->chunk(cache);
  chunk.q = nullptr;
  chunk.out = nullptr;
  chunk.lse = nullptr;
  return chunk;
}

kvc_query Tokens::query(const Cache &cache, int64_t from, int64_t to,
                        bool withSinks) {
  return {cache,     layer,    cache.first + token, count,      from,  to,
          withSinks, q.data(), out.data(),          lse.data(), KVC_OK};
}

void Tokens::checkOutputs(int64_t first) const {
  const int64_t heads = policies[layer].heads;
  for (int64_t i = 0; i < count; ++i)
    checkRow(&out[i * heads * valueDim], &lse[i * heads], layer,
             {token + i + 1, token + i + 1}, first);
}

void Tokens::checkUntouched() const {
  auto is = [](float value) { return value == untouched; };
  CHECK(std::all_of(out.begin(), out.end(), is));
  CHECK(std::all_of(lse.begin(), lse.end(), is));
}

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

std::array<float, 2> rotated(const float *x, int64_t rope, int64_t index) {
  if (rope < 0)
    return {x[0], x[1]};
  double angle = static_cast<double>(index) * ropeFrequency[rope];
  float c = static_cast<float>(std::cos(angle) * ropeFactor[rope]);
  float s = static_cast<float>(std::sin(angle) * ropeFactor[rope]);
  return {x[0] * c - x[1] * s, x[0] * s + x[1] * c};
}

static bool isStored(const Policy &policy, int64_t t, int64_t seen) {
  return t < seen &&
         (t < policy.sink || !policy.window || t > seen - 1 - policy.window);
}

/// Tokens stored at `seen`, ascending.
static std::vector<int64_t> storedTokens(const Policy &policy, int64_t seen) {
  std::vector<int64_t> stored;
  for (int64_t t = 0; t < seen; ++t)
    if (isStored(policy, t, seen))
      stored.push_back(t);
  return stored;
}

static int64_t evicted(const Policy &policy, int64_t seen) {
  return policy.window
             ? std::max<int64_t>(0, seen - policy.window - policy.sink)
             : 0;
}

/// The streams of keys and of values that have token t at a length.
static int64_t keyStream(const Policy &policy, int64_t t, int64_t seen) {
  return t < policy.sink          ? KeySinks
         : t < policy.coded(seen) ? KeyCodes
                                  : KeyFloats;
}
static int64_t valueStream(const Policy &policy, int64_t t) {
  return t < policy.sink ? ValueSinks : ValueFloats;
}

/// Tokens that a query attends to.
static std::vector<int64_t> tokensOf(const Policy &policy, const Asked &asked) {
  std::vector<int64_t> tokens;
  int64_t end = std::min({asked.seen, asked.newest, asked.to});
  for (int64_t t = std::max<int64_t>(0, asked.from); t < end; ++t)
    if (isStored(policy, t, asked.seen))
      tokens.push_back(t);
  return tokens;
}

bool isHeld(int32_t layer, const Asked &asked) {
  const Policy &policy = policies[layer];
  if (asked.seen >= asked.newest)
    return true;
  auto isThere = [&](int64_t t) {
    int64_t form = keyStream(policy, t, asked.seen);
    for (int64_t length = std::max<int64_t>(0, asked.newest - policy.rollback);
         length <= asked.newest; ++length)
      if (isStored(policy, t, length) && keyStream(policy, t, length) == form)
        return true;
    return false;
  };
  // Codes that are made anew are made of all that was stored.
  std::vector<int64_t> tokens = policy.remade ? storedTokens(policy, asked.seen)
                                              : tokensOf(policy, asked);
  return std::all_of(tokens.begin(), tokens.end(), isThere);
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

void checkRow(const float *out, const float *lse, int32_t layer,
              const Asked &asked, int64_t first) {
  const Policy &policy = policies[layer];
  const int64_t group = policy.heads / kvHeads;
  std::vector<int64_t> tokens = tokensOf(policy, asked);
  Token newest(asked.seen - 1);
  for (int64_t head = 0; head < policy.heads; ++head) {
    double expected[valueDim] = {};
    int64_t of = head / group;
    for (int64_t t : tokens) {
      Token token(t);
      int64_t index = first + asked.seen - 1 -
                      (t < policy.sink ? evicted(policy, asked.seen) : 0);
      auto q = rotated(&newest.q[head * headDim], policy.rope, index);
      auto k = rotated(&token.k[of * headDim], policy.rope, first + t);
      for (int64_t i = 0; i < valueDim; ++i)
        expected[i] += token.v[of * valueDim + i] + q[0] * k[0] + q[1] * k[1];
    }
    for (int64_t i = 0; i < valueDim; ++i)
      CHECK(std::abs(out[head * valueDim + i] - expected[i]) < 1e-3);
    CHECK_EQ(lse[head], static_cast<float>(tokens.size()) +
                            (asked.withSinks ? sinkOf(layer, head) : 0));
  }
}

void checkOutput(const Token &newest, int32_t layer, int64_t seen,
                 int64_t first) {
  checkRow(newest.out.data(), newest.lse.data(), layer, {seen, seen}, first);
}

void checkRead(const Cache &cache, int32_t layer, int64_t seen, int64_t piece) {
  const Policy &policy = policies[layer];
  std::vector<int64_t> stored = storedTokens(policy, seen);
  int64_t count = static_cast<int64_t>(stored.size()), told = -1;
  CHECK_EQ(library().stored(cache, layer, &told), KVC_OK);
  CHECK_EQ(told, count);
  for (int64_t from = 0; from < count; from += piece) {
    int64_t to = from + piece < count ? from + piece : count, rows = to - from;
    std::vector<float> keys(kvHeads * rows * headDim);
    std::vector<float> values(kvHeads * rows * valueDim);
    std::vector<int64_t> positions(rows);
    CHECK_EQ(library().read(cache, layer, from, to, keys.data(), values.data(),
                            positions.data()),
             KVC_OK);
    for (int64_t i = 0; i < rows; ++i) {
      int64_t t = stored[from + i];
      Token token(t);
      CHECK_EQ(positions[i], cache.first + t);
      for (int64_t head = 0; head < kvHeads; ++head) {
        auto k =
            rotated(&token.k[head * headDim], policy.rope, cache.first + t);
        for (int64_t d = 0; d < headDim; ++d)
          CHECK_EQ(keys[(head * rows + i) * headDim + d], k[d]);
        for (int64_t d = 0; d < valueDim; ++d)
          CHECK_EQ(values[(head * rows + i) * valueDim + d],
                   token.v[head * valueDim + d]);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

namespace {

/// A range of tokens for each stream.
struct Spans {
  Spans() { std::fill_n(begin, streamCount, INT64_MAX); }

  void add(int64_t stream, int64_t token) {
    begin[stream] = std::min(begin[stream], token);
    end[stream] = std::max(end[stream], token + 1);
  }
  /// What is stored at a length.
  void add(const Policy &policy, int64_t length) {
    for (int64_t t : storedTokens(policy, length)) {
      add(keyStream(policy, t, length), t);
      if (policy.remade && t >= policy.sink)
        add(KeyFloats, t);
      add(valueStream(policy, t), t);
    }
  }
  /// That and what rollback keeps.
  void addKept(const Policy &policy, int64_t length) {
    int64_t back = std::max<int64_t>(0, length - policy.rollback);
    for (int64_t earlier = back; earlier <= length; ++earlier)
      add(policy, earlier);
    addOriginals(policy, back, length);
  }
  /// Tokens come as originals, also where they are coded at once.
  void addOriginals(const Policy &policy, int64_t from, int64_t to) {
    for (int64_t t = std::max(from, policy.sink); t < to; ++t)
      add(KeyFloats, t);
  }
  int64_t tokens(int64_t stream) const {
    return std::max<int64_t>(0, end[stream] - begin[stream]);
  }

  int64_t begin[streamCount], end[streamCount] = {};
};

} // namespace

void HeldBytes::append(int64_t count) {
  for (; count > 0; count -= policy.rows)
    appendPiece(std::min(count, policy.rows));
}

void HeldBytes::appendPiece(int64_t count) {
  const int64_t after = seen + count;
  Spans spans;
  spans.addKept(policy, seen);
  for (int64_t length = seen + 1; length <= after; ++length)
    spans.add(policy, length);
  spans.addOriginals(policy, seen, after);
  spans.addKept(policy, after);
  for (int64_t i = 0; i < streamCount; ++i) {
    if (!spans.tokens(i))
      continue;
    int64_t origin = i == KeySinks || i == ValueSinks ? 0 : policy.sink;
    most[i] =
        std::max(most[i], (spans.end[i] - 1 - origin) / pageTokens[i] -
                              (spans.begin[i] - origin) / pageTokens[i] + 1);
  }
  seen = after;
}

int64_t HeldBytes::bytes() const {
  int64_t bytes = 0;
  for (int64_t i = 0; i < streamCount; ++i)
    bytes += most[i] * bytesOfPage(i);
  return bytes;
}

void checkStats(const Cache &cache, int32_t layer, int64_t seen,
                const HeldBytes &held) {
  const Policy &policy = policies[layer];
  kvc_stats stats = cache.stats(layer);
  int64_t stored = static_cast<int64_t>(storedTokens(policy, seen).size());
  CHECK_EQ(stats.seen, seen);
  CHECK_EQ(stats.stored, stored);
  CHECK_EQ(stats.evicted, seen - stored);
  CHECK_EQ(stats.held, held.bytes());
  kvc_bytes plan;
  CHECK_EQ(library().plan(layer, seen, &plan), KVC_OK);
  CHECK_EQ(plan.padding, 0);
  CHECK_EQ(stats.used.codes, plan.codes);
  CHECK_EQ(stats.used.residual, plan.residual);
  CHECK_EQ(stats.used.sinks, plan.sinks);
  CHECK_EQ(stats.used.rollback, plan.rollback);
  CHECK_EQ(stats.used.originals, plan.originals);
  // In the toy model a stored token costs the same in every form.
  int64_t used = stored * (keyBytes + valueBytes);
  CHECK_EQ(plan.codes + plan.residual + plan.sinks, used);
  Spans now, kept;
  now.add(policy, seen);
  kept.addKept(policy, seen);
  int64_t rollback = 0;
  for (int64_t i = 0; policy.rollback && i < streamCount; ++i)
    rollback += (kept.tokens(i) - now.tokens(i)) * tokenBytes[i];
  CHECK_EQ(plan.rollback, rollback);
  const int64_t originals =
      policy.remade ? now.tokens(KeyFloats) * keyBytes : 0;
  CHECK_EQ(plan.originals, originals);
  CHECK_EQ(stats.used.padding, stats.held - used - rollback - originals);
}

void checkStats(const Cache &cache, int32_t layer, int64_t seen) {
  HeldBytes held(layer);
  for (int64_t t = 0; t < seen; ++t)
    held.append(1);
  checkStats(cache, layer, seen, held);
}

} // namespace kvc::test
