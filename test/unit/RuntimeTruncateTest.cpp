//===- RuntimeTruncateTest.cpp - back to an earlier length ------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every layer of the model by hand goes back from every length to every other.
// What it forgets were other tokens than those that come in their place.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTestMirror.h"
#include "RuntimeTestPlatform.h"

#include <string>

using namespace kvc;
using namespace kvc::test;

namespace {

constexpr int32_t owners[] = {AllFloats, StreamCoded, Narrow, Sunk, Remade};

/// Tokens that never come in their mirror's place.
constexpr int64_t others = 500;

kvc_status decodeAs(const Cache &cache, int32_t layer, int64_t token,
                    int64_t as) {
  Token one(token);
  return decode(one.step(cache, layer, cache.first + as));
}

kvc_status truncate(const Cache &cache, int64_t tokens) {
  return library().truncate(cache, tokens);
}

void decodesOn(const Cache &cache, int32_t layer, int64_t from, int64_t to) {
  for (int64_t t = from; t < to; ++t) {
    Token token(t);
    CHECK_EQ(decode(token.step(cache, layer, cache.first + t)), KVC_OK);
    checkOutput(token, layer, t + 1, cache.first);
    checkRead(cache, layer, t + 1, 3);
  }
}

/// From `length` to `back`, where all behind that were other tokens.
void goesBack(int32_t layer, int64_t length, int64_t back, int64_t first) {
  Cache cache(first);
  for (int64_t t = 0; t < length; ++t)
    CHECK_EQ(decodeAs(cache, layer, t < back ? t : t + others, t), KVC_OK);
  kvc_stats before = cache.stats(layer);
  const bool held = isHeld(layer, {back, length});
  CHECK_EQ(truncate(cache, back), held ? KVC_OK : KVC_GONE);
  CHECK_EQ(cache.error().find(" cannot go back from ") != std::string::npos,
           !held);
  kvc_stats after = cache.stats(layer);
  CHECK_EQ(after.held, before.held);
  if (!held) {
    CHECK_EQ(after.seen, length);
    CHECK_EQ(after.used.residual, before.used.residual);
    return;
  }
  CHECK_EQ(after.seen, back);
  if (back > 0)
    checkRead(cache, layer, back, 2);
  decodesOn(cache, layer, back, length + 9);
  // And again, as far as the longest length so far lets it.
  CHECK_EQ(truncate(cache, length + 9 - policies[layer].rollback), KVC_OK);
  decodesOn(cache, layer, length + 9 - policies[layer].rollback, length + 12);
}

void goesBackFromEachLength() {
  for (int32_t layer : owners)
    for (int64_t length = 0; length < 34; ++length)
      for (int64_t back = 0; back <= length; ++back)
        goesBack(layer, length, back, length % 2 ? 100 : 0);
  CHECK_EQ(missingPages, 0);
}

/// The longest length counts, not that of now.
void goesBackInSteps() {
  Cache cache;
  fill(cache, StreamCoded, 0, 30);
  CHECK_EQ(truncate(cache, 29), KVC_OK);
  CHECK_EQ(truncate(cache, 27), KVC_OK);
  CHECK_EQ(truncate(cache, 26), KVC_GONE);
  CHECK_EQ(cache.error(),
           "layer 1 cannot go back from 27 to 26 tokens: position 16 was "
           "evicted since; its rollback is 3");
  fill(cache, StreamCoded, 27, 30);
  CHECK_EQ(truncate(cache, 26), KVC_GONE);
  CHECK_EQ(cache.stats(StreamCoded).seen, 30);
  // Coded from 2 tokens on, in fours.
  Cache coded;
  fill(coded, StreamCoded, 0, 10);
  CHECK_EQ(truncate(coded, 5), KVC_GONE);
  CHECK_EQ(coded.error(),
           "layer 1 cannot go back from 10 to 5 tokens: position 2 to 4 was "
           "coded since; its rollback is 3");
}

void goesBackAsAWhole() {
  Cache cache(40);
  fill(cache, AllFloats, 0, 15);
  fill(cache, AllReader, 0, 15);
  fill(cache, StreamCoded, 0, 14);
  fill(cache, Sunk, 0, 3);
  CHECK_EQ(truncate(cache, 16), KVC_INVALID_ARGUMENT);
  CHECK_EQ(cache.error(), "tokens is 16: the cache goes back to 0 to 15");
  CHECK_EQ(truncate(cache, -1), KVC_INVALID_ARGUMENT);
  CHECK_EQ(truncate(cache, 15), KVC_OK);
  CHECK_EQ(truncate(cache, 13), KVC_OK);
  CHECK_EQ(cache.stats(AllFloats).seen, 13);
  CHECK_EQ(cache.stats(AllReader).seen, 13);
  CHECK_EQ(cache.stats(StreamCoded).seen, 13);
  CHECK_EQ(cache.stats(Sunk).seen, 3);
  // One layer cannot: none does.
  CHECK_EQ(truncate(cache, 5), KVC_GONE);
  CHECK_EQ(cache.stats(AllFloats).seen, 13);
  CHECK_EQ(cache.stats(AllReader).seen, 13);
  Token token(13);
  CHECK_EQ(decode(token.step(cache, AllFloats, 53)), KVC_OK);
  CHECK_EQ(decode(token.step(cache, AllReader, 53)), KVC_OK);
  checkOutput(token, AllReader, 14, 40);
  CHECK_EQ(library().truncate(nullptr, 0), KVC_INVALID_ARGUMENT);
}

} // namespace

int main() {
  int64_t before = liveBlocks;
  goesBackFromEachLength();
  goesBackInSteps();
  goesBackAsAWhole();
  CHECK_EQ(liveBlocks, before);
  return kvc::test::checkResult();
}
