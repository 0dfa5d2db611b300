//===- RuntimeCallsTest.cpp - chunks of tokens ------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// prefill and append: what they leave does not depend on how tokens were cut
// into calls, nor on what else is in a call, and a chunk that is refused leaves
// nothing.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTestMirror.h"
#include "RuntimeTestPlatform.h"

#include <cmath>
#include <memory>

using namespace kvc;
using namespace kvc::test;

namespace {

constexpr int32_t owners[] = {AllFloats, StreamCoded, Narrow, Sunk, Remade};
/// Whether it takes no more than 4 tokens at once, since another reads it.
constexpr bool isShort(int32_t layer) {
  return layer == StreamCoded || layer == Remade;
}

/// The lengths into which bits of `cut` divide `count` tokens: a set bit i ends
/// a chunk behind token i.
std::vector<int64_t> chunksOf(int64_t count, uint32_t cut) {
  std::vector<int64_t> chunks;
  int64_t length = 0;
  for (int64_t i = 0; i < count; ++i) {
    ++length;
    if (i + 1 == count || (cut >> i & 1)) {
      chunks.push_back(length);
      length = 0;
    }
  }
  return chunks;
}

/// out and lse of tokens, one row behind the other.
struct Answers {
  std::vector<float> out, lse;

  void add(const Tokens &tokens) {
    out.insert(out.end(), tokens.out.begin(), tokens.out.end());
    lse.insert(lse.end(), tokens.lse.begin(), tokens.lse.end());
  }
  bool operator==(const Answers &) const = default;
};

/// Decode steps from `from` on; the answers to them.
Answers stepAnswers(const Cache &cache, int32_t layer, int64_t from,
                    int64_t count) {
  Answers answers;
  for (int64_t t = from; t < from + count; ++t) {
    Tokens one(layer, t, 1);
    kvc_chunk chunk = one.chunk(cache);
    CHECK_EQ(decode({chunk.cache, layer, chunk.position, chunk.q, chunk.k,
                     chunk.v, chunk.out, chunk.lse, KVC_OK}),
             KVC_OK);
    answers.add(one);
  }
  return answers;
}

/// One cut of `count` tokens behind `before` others, which came as one chunk
/// or as steps.
void prefillsCut(int32_t layer, int64_t before, int64_t count, uint32_t cut,
                 const Answers &expected) {
  Cache cache(before * 100);
  HeldBytes held(layer);
  for (int64_t t = 0; t < before; ++t)
    held.append(1);
  fill(cache, layer, 0, before);
  Answers answers;
  int64_t token = before;
  for (int64_t length : chunksOf(count, cut)) {
    Tokens tokens(layer, token, length);
    CHECK_EQ(prefill(tokens.chunk(cache)), KVC_OK);
    tokens.checkOutputs(cache.first);
    answers.add(tokens);
    held.append(length);
    token += length;
  }
  CHECK(answers == expected);
  checkStats(cache, layer, before + count, held);
  checkRead(cache, layer, before + count, 5);
}

void prefillsInAnyCut() {
  for (int32_t layer : owners)
    for (int64_t before : {0, 1, 6, 13})
      for (int64_t count = 1; count <= 7; ++count) {
        Cache cache(before * 100);
        fill(cache, layer, 0, before);
        Answers expected = stepAnswers(cache, layer, before, count);
        for (uint32_t cut = 0; cut < 1u << (count - 1); ++cut) {
          std::vector<int64_t> chunks = chunksOf(count, cut);
          bool allowed = true;
          for (int64_t length : chunks)
            allowed = allowed && (!isShort(layer) || length <= 4);
          if (allowed)
            prefillsCut(layer, before, count, cut, expected);
        }
      }
}

/// Many pieces, whose last is short, and a window far narrower.
void prefillsLongChunks() {
  for (int32_t layer : {AllFloats, Narrow, Sunk}) {
    Cache steps, chunks;
    HeldBytes held(layer);
    Answers expected = stepAnswers(steps, layer, 0, 131);
    Tokens tokens(layer, 0, 131);
    CHECK_EQ(prefill(tokens.chunk(chunks)), KVC_OK);
    tokens.checkOutputs(0);
    Answers answers;
    answers.add(tokens);
    CHECK(answers == expected);
    held.append(131);
    checkStats(chunks, layer, 131, held);
    checkRead(chunks, layer, 131, 131);
  }
}

/// Heads, parts of a long cache and their merge: 9000 tokens are cut in eight.
void prefillsWhatIsCutInParts() {
  Cache steps, chunks;
  Answers expected = stepAnswers(steps, Sunk, 0, 9000);
  Answers answers;
  for (int64_t token = 0; token < 9000; token += 3000) {
    Tokens tokens(Sunk, token, 3000);
    CHECK_EQ(prefill(tokens.chunk(chunks)), KVC_OK);
    answers.add(tokens);
  }
  CHECK(answers == expected); // sums of these numbers are exact
  for (int64_t seen : {1, 1024, 2047, 2048, 2049, 3071, 4096, 8191, 9000})
    checkRow(&answers.out[(seen - 1) * 4 * valueDim],
             &answers.lse[(seen - 1) * 4], Sunk, {seen, seen}, 0);
}

/// Owners whose readers follow a chunk behind, in cuts of their own.
void readersFollow() {
  for (int32_t reader : {AllReader, StreamReader}) {
    int32_t owner = static_cast<int32_t>(ownerOf(reader));
    for (uint32_t cut = 0; cut < 64; ++cut) {
      Cache cache(7);
      int64_t token = 0;
      for (int64_t length : {4, 1, 3, 4, 4, 2, 4, 4}) {
        CHECK_EQ(prefill(Tokens(owner, token, length).chunk(cache)), KVC_OK);
        int64_t asked = token;
        for (int64_t part : chunksOf(length, cut >> (length - 1) * (cut & 1))) {
          Tokens queries(reader, asked, part);
          CHECK_EQ(prefill(queries.chunk(cache)), KVC_OK);
          queries.checkOutputs(7);
          asked += part;
        }
        token += length;
        CHECK_EQ(cache.stats(reader).seen, token);
      }
    }
  }
}

void appendsInAnyCut() {
  for (int32_t layer : owners)
    for (uint32_t cut = 0; cut < 128; ++cut) {
      Cache cache(3);
      HeldBytes held(layer);
      int64_t token = 0;
      for (int64_t round = 0; round < 3; ++round)
        for (int64_t length : chunksOf(8, isShort(layer) ? cut | 0x48 : cut)) {
          CHECK_EQ(append(Tokens(layer, token, length).append(cache)), KVC_OK);
          held.append(length);
          token += length;
        }
      checkStats(cache, layer, 24, held);
      checkRead(cache, layer, 24, 7);
      Token next(24);
      CHECK_EQ(decode(next.step(cache, layer, 27)), KVC_OK);
      checkOutput(next, layer, 25, 3);
    }
}

/// More caches than go together, each with its own number of tokens; one in the
/// middle has a bad number, one is none.
void goesOnInABatch() {
  constexpr int64_t count = 75, bad = 20, none = 50;
  std::vector<std::unique_ptr<Cache>> caches;
  std::vector<Tokens> tokens;
  for (int64_t i = 0; i < count; ++i) {
    caches.push_back(std::make_unique<Cache>(i));
    tokens.emplace_back(i % 2 ? Narrow : AllFloats, 0, i * 5 % 19);
  }
  tokens[bad].v[0] = -INFINITY;
  std::vector<kvc_chunk> chunks;
  for (int64_t i = 0; i < count; ++i) {
    chunks.push_back(tokens[i].chunk(*caches[i]));
    chunks.back().status = KVC_FULL; // written, whatever it was
  }
  chunks[none].cache = nullptr;
  CHECK_EQ(library().prefill(chunks.data(), chunks.size()), KVC_NOT_FINITE);
  for (int64_t i = 0; i < count; ++i) {
    bool fails = i == bad || i == none;
    CHECK_EQ(chunks[i].status, i == bad    ? KVC_NOT_FINITE
                               : i == none ? KVC_INVALID_ARGUMENT
                                           : KVC_OK);
    int64_t seen = fails ? 0 : tokens[i].count;
    CHECK_EQ(caches[i]->error(),
             i == bad ? "layer 0: v[0, 0, 0] is -infinity: magnitudes up to "
                        "2^56 are allowed"
                      : "");
    if (fails)
      tokens[i].checkUntouched();
    else
      tokens[i].checkOutputs(i);
    CHECK_EQ(caches[i]->stats(tokens[i].layer).seen, seen);
    checkRead(*caches[i], tokens[i].layer, seen, 4);
  }
}

/// Items of one cache are one after another, whatever lies between them.
void takesACacheTwice() {
  Cache cache, other;
  Tokens first(AllFloats, 0, 9), second(AllFloats, 9, 6),
      queries(AllReader, 0, 15), between(Narrow, 0, 7), again(Narrow, 0, 5);
  kvc_chunk chunks[] = {first.chunk(cache), between.chunk(other),
                        second.chunk(cache), queries.chunk(cache),
                        again.chunk(cache)};
  CHECK_EQ(library().prefill(chunks, 5), KVC_OK);
  for (const Tokens *tokens : {&first, &second, &queries, &between, &again})
    tokens->checkOutputs(0);
  checkRead(cache, AllFloats, 15, 15);

  // What builds on one that fails fails too, and the first text stays.
  Tokens third(AllFloats, 15, 2), fourth(AllFloats, 17, 2), fine(Narrow, 5, 2);
  third.k[0] = NAN;
  kvc_chunk more[] = {third.chunk(cache), fourth.chunk(cache),
                      fine.chunk(cache)};
  CHECK_EQ(library().prefill(more, 3), KVC_NOT_FINITE);
  CHECK_EQ(more[0].status, KVC_NOT_FINITE);
  CHECK_EQ(more[1].status, KVC_ORDER);
  CHECK_EQ(more[2].status, KVC_OK);
  CHECK_EQ(cache.error(),
           "layer 0: k[0, 0, 0] is NaN: magnitudes up to 2^56 are allowed");
  fine.checkOutputs(0);
  CHECK_EQ(cache.stats(AllFloats).seen, 15);

  // Decode steps likewise: an owner, then its reader.
  Token token(15);
  Token asked(15);
  kvc_step steps[] = {token.step(cache, AllFloats, 15),
                      asked.step(cache, AllReader, 15)};
  CHECK_EQ(library().decode(steps, 2), KVC_OK);
  checkOutput(token, AllFloats, 16, 0);
  checkOutput(asked, AllReader, 16, 0);
}

/// No tokens: no arrays are needed, no memory, and nothing changes.
void takesEmptyChunks() {
  Cache cache(5);
  fill(cache, AllFloats, 0, 3);
  CHECK_EQ(decode(cache, AllReader, 2), KVC_OK);
  blocksLeft = 0;
  for (int32_t layer : {AllFloats, AllReader, Limited, Sunk}) {
    int64_t next = layer == AllFloats || layer == AllReader ? 8 : 5;
    kvc_chunk chunk = {cache,   layer,   next,    0,       nullptr,
                       nullptr, nullptr, nullptr, nullptr, KVC_FULL};
    CHECK_EQ(prefill(chunk), KVC_OK);
    if (!reads(layer))
      CHECK_EQ(append(chunk), KVC_OK);
    kvc_query query = {cache, layer,   next,    0,       0,       noEnd,
                       0,     nullptr, nullptr, nullptr, KVC_FULL};
    CHECK_EQ(attend(query), KVC_OK);
    CHECK_EQ(cache.stats(layer).seen,
             layer == AllFloats || layer == AllReader ? 3 : 0);
  }
  CHECK_EQ(library().prefill(nullptr, 0), KVC_OK);
  blocksLeft = -1;
  kvc_chunk chunk = Tokens(AllFloats, 4, 0).chunk(cache);
  CHECK_EQ(prefill(chunk), KVC_ORDER);
  chunk = Tokens(AllReader, 4, 0).chunk(cache);
  CHECK_EQ(prefill(chunk), KVC_ORDER);
  checkRead(cache, AllFloats, 3, 3);
}

/// A prefill of many pieces whose n-th block is refused, for each n.
void takesAllOrNothing() {
  for (int32_t layer : {AllFloats, Narrow, Sunk})
    for (bool attends : {true, false}) {
      Cache cache;
      fill(cache, layer, 0, 6);
      HeldBytes held(layer);
      for (int64_t t = 0; t < 6; ++t)
        held.append(1);
      Tokens tokens(layer, 6, 45);
      kvc_chunk chunk = attends ? tokens.chunk(cache) : tokens.append(cache);
      for (int64_t blocks = 0;; ++blocks) {
        int64_t before = liveBlocks;
        blocksLeft = blocks;
        kvc_status status = attends ? prefill(chunk) : append(chunk);
        blocksLeft = -1;
        if (status == KVC_OK) {
          CHECK(blocks >= (layer == Narrow ? 3 : 22)); // pages of both planes
          break;
        }
        CHECK_EQ(status, KVC_OUT_OF_MEMORY);
        // What attends needs a workspace, once.
        std::string what = attends && blocks == 0 ? "workspace" : "page";
        CHECK(cache.error().find("no memory for a " + what + " of ") !=
              std::string::npos);
        CHECK_EQ(liveBlocks, before);
        tokens.checkUntouched();
        checkStats(cache, layer, 6, held);
        checkRead(cache, layer, 6, 6);
      }
      if (attends)
        tokens.checkOutputs(0);
      held.append(45);
      checkStats(cache, layer, 51, held);
      checkRead(cache, layer, 51, 51);
    }
}

/// A bad number in the last token of a chunk, far behind its first piece.
void refusesTheWholeChunk() {
  for (int32_t layer : {AllFloats, Narrow}) {
    Cache cache;
    fill(cache, layer, 0, 2);
    int64_t held = cache.stats(layer).held, before = allocations;
    for (int plane = 0; plane < 3; ++plane) {
      Tokens tokens(layer, 2, 50);
      std::vector<float> &array = plane == 0   ? tokens.q
                                  : plane == 1 ? tokens.k
                                               : tokens.v;
      array.back() = NAN;
      CHECK_EQ(prefill(tokens.chunk(cache)), KVC_NOT_FINITE);
      CHECK_EQ(cache.error(), "layer " + std::to_string(layer) +
                                  (plane == 0   ? ": q[49, 1, 1]"
                                   : plane == 1 ? ": k[49, 1, 1]"
                                                : ": v[49, 1, 2]") +
                                  " is NaN: magnitudes up to 2^56 are allowed");
      tokens.checkUntouched();
      CHECK_EQ(cache.stats(layer).seen, 2);
      CHECK_EQ(cache.stats(layer).held, held);
    }
    CHECK_EQ(allocations, before);
    checkRead(cache, layer, 2, 2);
    Tokens tokens(layer, 2, 50);
    CHECK_EQ(prefill(tokens.chunk(cache)), KVC_OK);
    tokens.checkOutputs(0);
  }
}

/// What the second sequence needs is there from the first one.
void resets() {
  Cache cache(9);
  int64_t held[LayerCount] = {}, needed = 0;
  for (int64_t round = 0; round < 3; ++round) {
    int64_t before = allocations;
    for (int64_t t = 0; t < 40; t += 4)
      for (int32_t layer :
           {AllFloats, AllReader, StreamCoded, StreamReader, Narrow, Sunk}) {
        Tokens tokens(layer, t, 4);
        tokens.v[0] = 1000; // saturates
        CHECK_EQ(prefill(tokens.chunk(cache)), KVC_OK);
        if (layer == AllReader && t == 0)
          CHECK_EQ(cache.stats(layer).seen, 4);
      }
    CHECK_EQ(allocations - before, round ? 0 : needed = allocations - before);
    CHECK(needed > 20);
    CHECK(cache.stats(AllFloats).saturated > 0);
    for (int32_t layer = 0; layer < LayerCount; ++layer) {
      kvc_stats stats = cache.stats(layer);
      CHECK_EQ(stats.held, round ? held[layer] : held[layer] = stats.held);
    }
    CHECK_EQ(library().reset(cache), KVC_OK);
    for (int32_t layer = 0; layer < LayerCount; ++layer) {
      kvc_stats stats = cache.stats(layer);
      CHECK_EQ(stats.seen + stats.stored + stats.evicted + stats.saturated, 0);
      CHECK_EQ(stats.held, held[layer]);
      CHECK_EQ(stats.used.padding, held[layer]);
      CHECK_EQ(stats.used.residual + stats.used.codes + stats.used.sinks, 0);
      if (!reads(layer))
        checkRead(cache, layer, 0, 1);
    }
  }
  // A reader is at the beginning again, and finds its owner there.
  CHECK_EQ(decode(cache, AllReader, 0), KVC_ORDER);
  Token token(0), asked(0);
  CHECK_EQ(decode(token.step(cache, AllFloats, 9)), KVC_OK);
  CHECK_EQ(decode(asked.step(cache, AllReader, 9)), KVC_OK);
  checkOutput(token, AllFloats, 1, 9);
  checkOutput(asked, AllReader, 1, 9);
  checkRead(cache, AllFloats, 1, 1);
  CHECK_EQ(library().reset(nullptr), KVC_INVALID_ARGUMENT);
  // An error's text is forgotten, and one that nothing came to is reset too.
  CHECK_EQ(decode(cache, AllFloats, 7), KVC_ORDER);
  CHECK_EQ(library().reset(cache), KVC_OK);
  CHECK_EQ(cache.error(), "");
  CHECK_EQ(library().reset(cache), KVC_OK);
}

} // namespace

int main() {
  prefillsInAnyCut();
  prefillsLongChunks();
  prefillsWhatIsCutInParts();
  readersFollow();
  appendsInAnyCut();
  goesOnInABatch();
  takesACacheTwice();
  takesEmptyChunks();
  takesAllOrNothing();
  refusesTheWholeChunk();
  resets();
  CHECK_EQ(missingPages, 0);
  CHECK_EQ(liveBlocks, 0);
  return checkResult();
}
