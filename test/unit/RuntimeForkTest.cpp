//===- RuntimeForkTest.cpp - caches that share pages ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fork and its cache go on with different tokens: neither feels the other,
// whoever writes first, whatever memory lacks, on whatever threads. Meant for
// thread sanitizers too.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTestMirror.h"
#include "RuntimeTestPlatform.h"

#include <memory>
#include <string>
#include <thread>

using namespace kvc;
using namespace kvc::test;

namespace {

constexpr int32_t owners[] = {AllFloats, StreamCoded, Narrow, Sunk, Remade};
constexpr int32_t all[] = {AllFloats, AllReader, StreamCoded, StreamReader,
                           Narrow,    Sunk,      Remade,      RemadeReader};

/// Tokens that never come in their mirror's place.
constexpr int64_t others = 500;

/// Owned, whatever made it.
class Owned {
public:
  explicit Owned(kvc_cache *cache) : cache(cache) {}
  ~Owned() { library().destroy(cache); }
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;
  kvc_cache *const cache;
};

kvc_cache *forked(kvc_cache *cache) {
  kvc_cache *fork = nullptr;
  CHECK_EQ(library().fork(cache, nullptr, &fork), KVC_OK);
  return fork;
}

kvc_status decodeAs(kvc_cache *cache, Token &token, int32_t layer,
                    int64_t position) {
  return decode({cache, layer, position, token.q.data(),
                 reads(layer) ? nullptr : token.k.data(),
                 reads(layer) ? nullptr : token.v.data(), token.out.data(),
                 token.lse.data(), KVC_OK});
}

/// Tokens [from, to) of all layers, in the mirror's places or others.
void decodes(kvc_cache *cache, int64_t from, int64_t to, int64_t more) {
  for (int64_t t = from; t < to; ++t)
    for (int32_t layer : all) {
      Token token(t + more);
      CHECK_EQ(decodeAs(cache, token, layer, t), KVC_OK);
      if (!more)
        checkOutput(token, layer, t + 1, 0);
    }
}

kvc_stats statsOf(kvc_cache *cache, int32_t layer) {
  kvc_stats stats = {};
  stats.size = sizeof stats;
  CHECK_EQ(library().stats(cache, layer, &stats), KVC_OK);
  return stats;
}

//===----------------------------------------------------------------------===//
// One thread
//===----------------------------------------------------------------------===//

/// Forks at each length; one goes on as the mirror, the other does not.
void goesOnApart() {
  for (int64_t length = 0; length < 30; ++length)
    for (bool childFirst : {false, true})
      for (bool childIsRight : {false, true}) {
        Owned parent(forked(Cache()));
        decodes(parent.cache, 0, length, 0);
        Owned child(forked(parent.cache));
        kvc_cache *first = childFirst ? child.cache : parent.cache;
        kvc_cache *second = childFirst ? parent.cache : child.cache;
        const bool firstIsRight = childFirst == childIsRight;
        decodes(first, length, length + 7, firstIsRight ? 0 : others);
        decodes(second, length, length + 7, firstIsRight ? others : 0);
        decodes(first, length + 7, length + 16, firstIsRight ? 0 : others);
        decodes(second, length + 7, length + 16, firstIsRight ? others : 0);
      }
  CHECK_EQ(missingPages, 0);
}

/// Calls of many pieces: pages that a fork has too leave and do not come back.
void takesManyPieces() {
  for (int64_t length = 1; length < 24; ++length)
    for (int64_t count : {5, 9, 40}) {
      Cache parent;
      for (int64_t t = 0; t < length; ++t)
        CHECK_EQ(decode(parent, Narrow, t), KVC_OK);
      Owned child(forked(parent));
      for (kvc_cache *cache : {static_cast<kvc_cache *>(parent), child.cache}) {
        Tokens more(Narrow, length, count);
        kvc_chunk chunk = more.chunk(parent);
        chunk.cache = cache;
        CHECK_EQ(prefill(chunk), KVC_OK);
        more.checkOutputs(0);
        Token next(length + count);
        CHECK_EQ(decodeAs(cache, next, Narrow, length + count), KVC_OK);
        checkOutput(next, Narrow, length + count + 1, 0);
      }
    }
  CHECK_EQ(missingPages, 0);
}

/// What was forked is destroyed in any order, and goes on.
void outlivesTheOthers() {
  for (int order = 0; order < 6; ++order) {
    kvc_cache *caches[3];
    {
      Cache made;
      decodes(made, 0, 17, 0);
      caches[0] = forked(made);
      caches[1] = forked(caches[0]);
    }
    decodes(caches[0], 17, 21, others);
    caches[2] = forked(caches[1]);
    int first = order % 3, second = (first + 1 + order / 3) % 3;
    library().destroy(caches[first]);
    kvc_cache *rest = caches[3 - first - second];
    if (rest != caches[0])
      decodes(rest, 17, 25, 0);
    library().destroy(caches[second]);
    if (rest != caches[0])
      decodes(rest, 25, 40, 0);
    library().destroy(rest);
  }
}

/// Back to where they parted, and on with what is right.
void goesBackApart() {
  Owned parent(forked(Cache()));
  decodes(parent.cache, 0, 21, 0);
  Owned child(forked(parent.cache));
  decodes(child.cache, 21, 24, others);
  for (int32_t layer : {Narrow, StreamCoded, Remade})
    CHECK_EQ(statsOf(child.cache, layer).seen, 24);
  kvc_status status = library().truncate(child.cache, 21);
  CHECK_EQ(status, KVC_GONE); // of Narrow, which has no rollback
  decodes(parent.cache, 21, 30, 0);
  CHECK_EQ(library().reset(child.cache), KVC_OK);
  decodes(child.cache, 0, 24, 0);
  decodes(parent.cache, 30, 34, 0);
}

/// Codes that are made anew are each cache's own, whoever makes them first, by
/// a step or by a query that looks back.
void makesCodesOfItsOwn() {
  for (bool looksBack : {false, true}) {
    Cache parent;
    fill(parent, Remade, 0, 12);
    checkRead(parent, Remade, 12, 3);
    Owned child(forked(parent));
    Token token(looksBack ? 10 : 12);
    if (looksBack) {
      kvc_query query = {child.cache,
                         Remade,
                         10,
                         1,
                         0,
                         11,
                         0,
                         token.q.data(),
                         token.out.data(),
                         token.lse.data(),
                         KVC_OK};
      CHECK_EQ(library().attend(&query, 1), KVC_OK);
    } else {
      CHECK_EQ(decodeAs(child.cache, token, Remade, 12), KVC_OK);
    }
    checkRead(parent, Remade, 12, 3);
  }
}

/// The longest length so far is the fork's too.
void goesBackNoFarther() {
  Cache parent;
  fill(parent, StreamCoded, 0, 30);
  Owned child(forked(parent));
  CHECK_EQ(library().truncate(child.cache, 26), KVC_GONE);
  CHECK_EQ(library().truncate(child.cache, 27), KVC_OK);
  Token token(27);
  CHECK_EQ(decodeAs(child.cache, token, StreamCoded, 27), KVC_OK);
  checkOutput(token, StreamCoded, 28, 0);
}

void countsShared() {
  Owned parent(forked(Cache()));
  decodes(parent.cache, 0, 25, 0);
  for (int32_t layer : owners)
    CHECK_EQ(statsOf(parent.cache, layer).shared, 0);
  int64_t before = allocations;
  Owned child(forked(parent.cache));
  CHECK(allocations > before);
  for (int32_t layer : owners) {
    const kvc_stats mine = statsOf(child.cache, layer);
    CHECK(mine.shared > 0);
    CHECK(mine.shared <= mine.held);
    if (layer != Remade) // stats makes codes anew, of its own
      CHECK_EQ(mine.shared, mine.held);
    CHECK_EQ(mine.seen, 25);
  }
  // 25 tokens end in pages of 3 and of 4: a page of keys with one token, and
  // one of values.
  int64_t shared = statsOf(child.cache, AllFloats).shared;
  decodes(child.cache, 25, 26, 0);
  int64_t copied = bytesOfPage(KeyFloats) + bytesOfPage(ValueFloats);
  CHECK_EQ(statsOf(child.cache, AllFloats).shared, shared - copied);
  CHECK_EQ(statsOf(child.cache, AllFloats).held, shared);
  CHECK_EQ(statsOf(parent.cache, AllFloats).shared, shared - copied);
  // Whoever is left has all for itself.
  kvc_cache *second = forked(parent.cache);
  CHECK(statsOf(parent.cache, Sunk).shared > 0);
  library().destroy(second);
  CHECK_EQ(statsOf(parent.cache, AllFloats).shared, shared - copied);
}

/// Many tokens, so that there are whole leaves of shared pages; a step copies
/// the last page of each plane and no other.
void copiesTheLastPageAlone() {
  Owned parent(forked(Cache()));
  for (int64_t t = 0; t < 3000; ++t) {
    Token token(t);
    CHECK_EQ(decodeAs(parent.cache, token, AllFloats, t), KVC_OK);
  }
  Owned child(forked(parent.cache));
  int64_t before = allocations;
  Token token(3000);
  CHECK_EQ(decodeAs(child.cache, token, AllFloats, 3000), KVC_OK);
  checkOutput(token, AllFloats, 3001, 0);
  // Both begin a new page at 3000, which is a multiple of 3 and of 4.
  CHECK_EQ(allocations - before, 2);
  before = allocations;
  Token next(3000);
  CHECK_EQ(decodeAs(parent.cache, next, AllFloats, 3000), KVC_OK);
  CHECK_EQ(allocations - before, 2);
}

void failsAsAWhole() {
  int64_t live = liveBlocks;
  {
    Owned parent(forked(Cache()));
    decodes(parent.cache, 0, 26, 0);
    int64_t failed = 0;
    for (;; ++failed) {
      kvc_cache *fork = nullptr;
      int64_t before = liveBlocks;
      blocksLeft = failed;
      kvc_status status = library().fork(parent.cache, nullptr, &fork);
      blocksLeft = -1;
      if (status == KVC_OK) {
        library().destroy(fork);
        break;
      }
      CHECK_EQ(status, KVC_OUT_OF_MEMORY);
      CHECK(!fork);
      CHECK_EQ(std::string(library().last_error(parent.cache)),
               "no memory for a cache");
      // Counts of leaves stay with the parent.
      CHECK(liveBlocks <= before + 40);
    }
    CHECK(failed > 20);
    Owned child(forked(parent.cache));
    failed = 0;
    for (int64_t t = 26; t < 40; ++t)
      for (int32_t layer : all)
        for (int64_t blocks = 0;; ++blocks) {
          Token token(t);
          blocksLeft = blocks;
          kvc_status status = decodeAs(child.cache, token, layer, t);
          blocksLeft = -1;
          if (status == KVC_OK) {
            checkOutput(token, layer, t + 1, 0);
            break;
          }
          CHECK_EQ(status, KVC_OUT_OF_MEMORY);
          ++failed;
        }
    CHECK(failed > 10);
    decodes(parent.cache, 26, 40, 0);
  }
  CHECK_EQ(liveBlocks, live);
}

void refusesWhatItCannot() {
  Owned parent(forked(Cache()));
  kvc_cache *fork = nullptr;
  CHECK_EQ(library().fork(nullptr, nullptr, &fork), KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().fork(parent.cache, nullptr, nullptr),
           KVC_INVALID_ARGUMENT);
  kvc_options options = {};
  options.size = sizeof options;
  char error[200] = "";
  options.error = error;
  options.error_size = sizeof error;
  options.first_position = 5;
  CHECK_EQ(library().fork(parent.cache, &options, &fork), KVC_INVALID_ARGUMENT);
  CHECK_EQ(std::string(error),
           "first_position is set, and a fork has its cache's: leave it out");
  CHECK_EQ(std::string(library().last_error(parent.cache)), error);
  options.first_position = 0;
  options.threads = 300;
  CHECK_EQ(library().fork(parent.cache, &options, &fork), KVC_INVALID_ARGUMENT);
  options.threads = 3;
  CHECK_EQ(library().fork(parent.cache, &options, &fork), KVC_OK);
  CHECK_EQ(std::string(error), "");
  decodes(fork, 0, 9, 0);
  library().destroy(fork);
}

//===----------------------------------------------------------------------===//
// Several threads
//===----------------------------------------------------------------------===//

/// Decodes, forks again, goes on and is destroyed; `right` in the mirror's
/// places.
void worksAlone(kvc_cache *cache, int64_t length, bool right) {
  decodes(cache, length, length + 11, right ? 0 : others);
  kvc_cache *more = forked(cache);
  decodes(cache, length + 11, length + 19, right ? 0 : others);
  decodes(more, length + 11, length + 23, right ? 0 : others);
  library().destroy(cache);
  decodes(more, length + 23, length + 31, right ? 0 : others);
  library().destroy(more);
}

void worksSideBySide() {
  for (int64_t length : {0, 13, 29, 64})
    for (int round = 0; round < 4; ++round) {
      kvc_cache *one = forked(Cache());
      decodes(one, 0, length, 0);
      kvc_cache *two = forked(one), *three = forked(two);
      std::thread a([&] { worksAlone(one, length, true); });
      std::thread b([&] { worksAlone(two, length, false); });
      worksAlone(three, length, true);
      a.join();
      b.join();
    }
  CHECK_EQ(missingPages, 0);
}

} // namespace

int main() {
  int64_t before = liveBlocks;
  goesOnApart();
  takesManyPieces();
  outlivesTheOthers();
  goesBackApart();
  makesCodesOfItsOwn();
  goesBackNoFarther();
  countsShared();
  copiesTheLastPageAlone();
  failsAsAWhole();
  refusesWhatItCannot();
  worksSideBySide();
  CHECK_EQ(liveBlocks, before);
  return kvc::test::checkResult();
}
