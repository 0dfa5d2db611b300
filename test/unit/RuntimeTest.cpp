//===- RuntimeTest.cpp - what a cache stores and answers --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every layer of the model by hand is held against its mirror at every length,
// also where memory runs short.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTestMirror.h"
#include "RuntimeTestPlatform.h"
#include "runtime/Allocator.h"

#include <string>

using namespace kvc;
using namespace kvc::test;

namespace {

void decodesLikeTheMirror(int64_t first) {
  Cache cache(first);
  for (int64_t t = 0; t < 60; ++t)
    for (int32_t layer : {AllFloats, AllReader, StreamCoded, StreamReader,
                          Narrow, Sunk, Remade, RemadeReader}) {
      Token token(t);
      CHECK_EQ(decode(token.step(cache, layer, first + t)), KVC_OK);
      checkOutput(token, layer, t + 1, first);
      if (!reads(layer)) {
        checkStats(cache, layer, t + 1);
        checkRead(cache, layer, t + 1, 1 + t % 5);
      }
    }
}

void holdsPagesAtBorders() {
  Cache cache;
  for (int64_t t = 0; t < 21; ++t) {
    int64_t before = allocations;
    CHECK_EQ(decode(cache, AllFloats, t), KVC_OK);
    CHECK_EQ(allocations - before, (t % 3 == 0) + (t % 4 == 0));
    CHECK_EQ(cache.stats(AllFloats).held,
             (t / 3 + 1) * bytesOfPage(KeyFloats) +
                 (t / 4 + 1) * bytesOfPage(ValueFloats));
  }
}

void staysFlat() {
  Cache cache;
  int64_t t = 0;
  for (; t < 100; ++t)
    CHECK_EQ(decode(cache, StreamCoded, t), KVC_OK);
  int64_t held = cache.stats(StreamCoded).held;
  // 1 page of sinks each. With rollback and the newest a step needs 7 floating
  // keys, 14 codes and 14 values at the most.
  CHECK_EQ(held, bytesOfPage(KeySinks) + bytesOfPage(ValueSinks) +
                     3 * bytesOfPage(KeyFloats) + 4 * bytesOfPage(KeyCodes) +
                     5 * bytesOfPage(ValueFloats));
  int64_t before = allocations;
  Token token(0);
  for (; t < 1'000'000; ++t) {
    token = Token(t);
    if (decode(token.step(cache, StreamCoded, t)) != KVC_OK)
      break;
  }
  CHECK_EQ(t, 1'000'000);
  CHECK_EQ(allocations, before);
  CHECK_EQ(cache.stats(StreamCoded).held, held);
  CHECK_EQ(cache.stats(StreamCoded).evicted, 1'000'000 - 12);
}

void countsSaturated() {
  Cache cache;
  for (int64_t t = 0; t < 8; ++t) {
    Token token(t);
    token.v[0] = t % 2 ? 1000 : 1;
    CHECK_EQ(decode(token.step(cache, StreamCoded, t)), KVC_OK);
  }
  // Four appended, one flush of the toy coder.
  CHECK_EQ(cache.stats(StreamCoded).saturated, 5);
}

void goesOnInABatch() {
  Cache one, two(50);
  Token a(0), b(0), c(0), d(0);
  kvc_step steps[4] = {a.step(one, AllFloats, 0), b.step(two, AllFloats, 7),
                       c.step(two, Limited, 51), d.step(one, AllReader, 0)};
  CHECK_EQ(library().decode(steps, 4), KVC_ORDER);
  CHECK_EQ(steps[0].status, KVC_OK);
  CHECK_EQ(steps[1].status, KVC_ORDER);
  CHECK_EQ(steps[2].status, KVC_ORDER);
  CHECK_EQ(steps[3].status, KVC_OK);
  CHECK_EQ(one.error(), "");
  CHECK_EQ(two.error(), "layer 0: position 7 is out of order: 50 comes next");
  checkOutput(a, AllFloats, 1, 0);
  checkOutput(d, AllReader, 1, 0);
}

void survivesShortMemory() {
  int64_t before = liveBlocks, needed = 0;
  kvc_cache *none = nullptr;
  for (;; ++needed) {
    blocksLeft = needed;
    kvc_options options = goodOptions();
    kvc_status status = library().create(&options, &none);
    blocksLeft = -1;
    if (status == KVC_OK)
      break;
    CHECK_EQ(status, KVC_OUT_OF_MEMORY);
    CHECK(!none);
    CHECK_EQ(liveBlocks, before);
  }
  CHECK(needed > 5);
  library().destroy(none);
  CHECK_EQ(liveBlocks, before);

  Cache cache;
  int64_t failed = 0;
  for (int64_t t = 0; t < 50; ++t)
    for (int32_t layer : {AllFloats, StreamCoded, Narrow})
      for (int64_t blocks = 0;; ++blocks) {
        blocksLeft = blocks;
        Token token(t);
        kvc_status status = decode(token.step(cache, layer, t));
        if (status == KVC_OK) {
          checkOutput(token, layer, t + 1, 0);
          break;
        }
        ++failed;
        CHECK_EQ(status, KVC_OUT_OF_MEMORY);
        CHECK(cache.error().find("no memory for a page of ") !=
              std::string::npos);
        CHECK_EQ(cache.stats(layer).seen, t);
        checkRead(cache, layer, t, 7);
      }
  blocksLeft = -1;
  CHECK(failed > 13);

  // The second page of a step fails: the first goes back.
  Cache other;
  blocksLeft = 1;
  CHECK_EQ(decode(other, AllFloats, 0), KVC_OUT_OF_MEMORY);
  CHECK_EQ(other.error(), "layer 0: no memory for a page of 96 bytes");
  CHECK_EQ(other.stats(AllFloats).held, 0);
  blocksLeft = 2;
  CHECK_EQ(decode(other, AllFloats, 0), KVC_OK);
  blocksLeft = -1;
  checkRead(other, AllFloats, 1, 1);
}

/// What a cache held goes back to the system where that was much, and is not
/// the caller's.
void returnsMuch() {
  constexpr int64_t length = 40000; // of tables that are longer
  for (int64_t tokens : {int64_t{100}, length}) {
    const int64_t before = returns;
    int64_t held = 0;
    {
      kvc_status status;
      Cache cache(goodOptions(), status);
      for (int32_t layer : {AllFloats, Sunk}) {
        Tokens some(layer, 0, tokens);
        CHECK_EQ(append(some.append(cache)), KVC_OK);
        held += cache.stats(layer).held;
      }
    }
    CHECK_EQ(held >= runtime::Allocator::Kept, tokens == length);
    CHECK_EQ(returns - before, tokens == length ? 1 : 0);
  }
  const int64_t before = returns;
  runtime::Allocator callers = {};
  callers.allocate = [](void *, size_t, size_t) -> void * { return nullptr; };
  callers.settle(INT64_MAX);
  CHECK_EQ(returns, before);
}

void tellsAboutItself() {
  CHECK_EQ(library().abi_version, uint32_t{KVC_ABI_VERSION});
  CHECK_EQ(library().size, sizeof(kvc_library_table));
  kvc_info info = {};
  info.size = sizeof info;
  CHECK_EQ(library().info(&info), KVC_OK);
  CHECK_EQ(std::string(info.name), "toy");
  CHECK_EQ(std::string(info.spec), "kvc: 1");
  CHECK_EQ(info.layers, 9);
  CHECK_EQ(info.kernels, 9);
  CHECK_EQ(info.io, KVC_F32);
  CHECK_EQ(library().info(nullptr), KVC_INVALID_ARGUMENT);

  kvc_layer_info layer = {};
  layer.size = sizeof layer;
  CHECK_EQ(library().layer_info(AllReader, &layer), KVC_OK);
  CHECK_EQ(layer.heads, 6);
  CHECK_EQ(layer.kv_heads, 2);
  CHECK_EQ(layer.head_dim, 2);
  CHECK_EQ(layer.value_dim, 3);
  CHECK_EQ(layer.owner, 0);
  CHECK_EQ(layer.kernel, 2);
  CHECK_EQ(layer.piece, 3);
  CHECK_EQ(layer.chunk, -1);
  CHECK_EQ(layer.rollback, 0);
  CHECK_EQ(layer.limit, -1);
  CHECK_EQ(layer.learned_sinks, 0);
  CHECK_EQ(std::string(layer.policy), "share 0");
  CHECK_EQ(library().layer_info(StreamCoded, &layer), KVC_OK);
  CHECK_EQ(layer.piece, 4);
  CHECK_EQ(layer.chunk, 4);
  CHECK_EQ(layer.rollback, 3);
  CHECK_EQ(library().layer_info(Limited, &layer), KVC_OK);
  CHECK_EQ(layer.piece, 1);
  CHECK_EQ(layer.limit, 5);
  CHECK_EQ(library().layer_info(Sunk, &layer), KVC_OK);
  CHECK_EQ(layer.learned_sinks, 1);
  CHECK_EQ(library().layer_info(LayerCount, &layer), KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().layer_info(-1, &layer), KVC_INVALID_ARGUMENT);

  kvc_bytes plan;
  CHECK_EQ(library().plan(StreamCoded, int64_t{1} << 40, &plan), KVC_OK);
  CHECK_EQ(plan.sinks, 80);
  CHECK_EQ(library().plan(AllReader, 100, &plan), KVC_OK);
  CHECK_EQ(plan.residual + plan.codes + plan.sinks, 0);
  CHECK_EQ(library().plan(0, -1, &plan), KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().plan(LayerCount, 1, &plan), KVC_INVALID_ARGUMENT);

  CHECK_EQ(std::string(library().status_name(KVC_FULL)), "full");
  CHECK_EQ(std::string(library().status_name(KVC_GONE)), "gone");
}

} // namespace

int main() {
  decodesLikeTheMirror(0);
  decodesLikeTheMirror(1000);
  decodesLikeTheMirror(int64_t{1} << 40);
  holdsPagesAtBorders();
  staysFlat();
  countsSaturated();
  goesOnInABatch();
  survivesShortMemory();
  returnsMuch();
  tellsAboutItself();
  CHECK_EQ(missingPages, 0);
  CHECK_EQ(liveBlocks, 0);
  return checkResult();
}
