//===- RuntimeCallErrorsTest.cpp - chunks and queries refused ---*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What prefill, append, attend, merge and reset refuse, each with its status
// and text, and the cache as it was.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTestMirror.h"
#include "RuntimeTestPlatform.h"

#include <cmath>

using namespace kvc;
using namespace kvc::test;

namespace {

constexpr int64_t manyTokens = int64_t{1} << 40;

kvc_status run(const kvc_chunk &chunk) { return prefill(chunk); }
kvc_status run(const kvc_query &query) { return attend(query); }

/// Expects the item to be refused with this status and text.
template <typename Item>
void refused(
    const Cache &cache, const Item &item, kvc_status status,
    const std::string &text,
    kvc_status (*call)(Item) = [](Item item) { return run(item); }) {
  bool layer = item.layer >= 0 && item.layer < LayerCount;
  kvc_stats before = layer ? cache.stats(item.layer) : kvc_stats{};
  CHECK_EQ(call(item), status);
  CHECK_EQ(cache.error(), text);
  if (!layer)
    return;
  kvc_stats after = cache.stats(item.layer);
  CHECK_EQ(after.seen, before.seen);
  CHECK_EQ(after.held, before.held);
}

/// The item with one member changed.
template <typename Item, typename Member, typename Value>
Item with(Item item, Member Item::*member, Value value) {
  item.*member = value;
  return item;
}

void refusesPointers() {
  Cache cache;
  Tokens tokens(AllFloats, 0, 3), queries(AllReader, 0, 3);
  const kvc_chunk chunk = tokens.chunk(cache), bare = tokens.append(cache),
                  reader = queries.chunk(cache);
  auto bad = [&](const kvc_chunk &chunk, const std::string &text) {
    refused(cache, chunk, KVC_INVALID_ARGUMENT, text);
  };
  auto badAppend = [&](const kvc_chunk &chunk, const std::string &text) {
    refused(cache, chunk, KVC_INVALID_ARGUMENT, text, append);
  };
  bad(with(chunk, &kvc_chunk::q, nullptr), "layer 0: q is null");
  bad(with(chunk, &kvc_chunk::k, nullptr), "layer 0: k is null");
  bad(with(chunk, &kvc_chunk::v, nullptr), "layer 0: v is null");
  bad(with(chunk, &kvc_chunk::out, nullptr), "layer 0: out is null");
  badAppend(with(bare, &kvc_chunk::k, nullptr), "layer 0: k is null");
  badAppend(with(bare, &kvc_chunk::v, nullptr), "layer 0: v is null");
  const std::string noQueries =
      "layer 0: append has no queries: q, out and lse must be null";
  badAppend(with(bare, &kvc_chunk::q, tokens.q.data()), noQueries);
  badAppend(with(bare, &kvc_chunk::out, tokens.out.data()), noQueries);
  badAppend(with(bare, &kvc_chunk::lse, tokens.lse.data()), noQueries);
  const std::string stores =
      "layer 2: it reads layer 0's cache, so k and v must be null";
  bad(with(reader, &kvc_chunk::k, tokens.k.data()), stores);
  bad(with(reader, &kvc_chunk::v, tokens.v.data()), stores);
  bad(with(reader, &kvc_chunk::q, nullptr), "layer 2: q is null");
  badAppend(queries.append(cache),
            "layer 2: it reads layer 0's cache: append to that one");
  for (int32_t layer : {-1, int32_t{LayerCount}, INT32_MIN, INT32_MAX}) {
    const std::string text = "there is no layer " + std::to_string(layer) +
                             ": the model has 9 layers, from 0";
    bad(with(chunk, &kvc_chunk::layer, layer), text);
    badAppend(with(bare, &kvc_chunk::layer, layer), text);
    refused(cache,
            with(tokens.query(cache, 0, noEnd), &kvc_query::layer, layer),
            KVC_INVALID_ARGUMENT, text);
  }
  refused(cache, with(tokens.query(cache, 0, noEnd), &kvc_query::q, nullptr),
          KVC_INVALID_ARGUMENT, "layer 0: q is null");
  refused(cache, with(tokens.query(cache, 0, noEnd), &kvc_query::out, nullptr),
          KVC_INVALID_ARGUMENT, "layer 0: out is null");
  CHECK_EQ(prefill(with(chunk, &kvc_chunk::cache, nullptr)),
           KVC_INVALID_ARGUMENT);
  CHECK_EQ(append(with(bare, &kvc_chunk::cache, nullptr)),
           KVC_INVALID_ARGUMENT);
  CHECK_EQ(
      attend(with(tokens.query(cache, 0, noEnd), &kvc_query::cache, nullptr)),
      KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().prefill(nullptr, 1), KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().append(nullptr, 1), KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().attend(nullptr, 1), KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().append(nullptr, 0), KVC_OK);
  CHECK_EQ(library().attend(nullptr, 0), KVC_OK);
  tokens.checkUntouched();
  queries.checkUntouched();
  // lse is nobody's duty.
  CHECK_EQ(prefill(with(chunk, &kvc_chunk::lse, nullptr)), KVC_OK);
  Tokens again(AllReader, 0, 3);
  CHECK_EQ(prefill(with(again.chunk(cache), &kvc_chunk::lse, nullptr)), KVC_OK);
  CHECK_EQ(attend(with(again.query(cache, 0, noEnd), &kvc_query::lse, nullptr)),
           KVC_OK);
}

void refusesCounts() {
  Cache cache;
  Tokens tokens(AllFloats, 0, 3), coded(StreamCoded, 0, 4);
  for (int64_t count : {int64_t{-1}, manyTokens + 1, INT64_MAX, INT64_MIN}) {
    const std::string text =
        "layer 0: tokens is " + std::to_string(count) + ": 0 to 2^40 is taken";
    refused(cache, with(tokens.chunk(cache), &kvc_chunk::tokens, count),
            KVC_INVALID_ARGUMENT, text);
    refused(cache, with(tokens.append(cache), &kvc_chunk::tokens, count),
            KVC_INVALID_ARGUMENT, text, append);
    refused(cache,
            with(tokens.query(cache, 0, noEnd), &kvc_query::tokens, count),
            KVC_INVALID_ARGUMENT, text);
    CHECK_EQ(library().merge(AllFloats, nullptr, 0, count, tokens.out.data(),
                             nullptr),
             KVC_INVALID_ARGUMENT);
  }
  // As many as may be, but not there.
  kvc_chunk elsewhere =
      with(tokens.chunk(cache), &kvc_chunk::tokens, manyTokens);
  elsewhere.position = 1;
  refused(cache, elsewhere, KVC_ORDER,
          "layer 0: position 1 is out of order: 0 comes next");
  // A layer that others read, and that forgets.
  for (int64_t count : {int64_t{5}, manyTokens}) {
    const std::string text =
        "layer 1: a chunk of " + std::to_string(count) +
        " tokens is more than the 4 that the layers which read it can go back "
        "by: they are rollback + 1";
    refused(cache, with(coded.chunk(cache), &kvc_chunk::tokens, count),
            KVC_INVALID_ARGUMENT, text);
    refused(cache, with(coded.append(cache), &kvc_chunk::tokens, count),
            KVC_INVALID_ARGUMENT, text, append);
  }
  CHECK_EQ(prefill(coded.chunk(cache)), KVC_OK);
}

void refusesBeyondTheLimit() {
  Cache cache;
  Tokens six(Limited, 0, 6), three(Limited, 0, 3), more(Limited, 3, 3),
      two(Limited, 3, 2), one(Limited, 5, 1), none(Limited, 5, 0);
  refused(cache, six.chunk(cache), KVC_FULL,
          "layer 3: 6 tokens do not fit: its context is 5 tokens, and it has "
          "0");
  CHECK_EQ(prefill(three.chunk(cache)), KVC_OK);
  const std::string text =
      "layer 3: 3 tokens do not fit: its context is 5 tokens, and it has 3";
  refused(cache, more.chunk(cache), KVC_FULL, text);
  refused(cache, more.append(cache), KVC_FULL, text, append);
  CHECK_EQ(prefill(two.chunk(cache)), KVC_OK);
  two.checkOutputs(0);
  refused(cache, one.chunk(cache), KVC_FULL,
          "layer 3: it is full: its context is 5 tokens");
  // What is not finite is said first.
  one.v[0] = NAN;
  const std::string nan =
      "layer 3: v[0, 0] is NaN: magnitudes up to 2^56 are allowed";
  refused(cache, one.chunk(cache), KVC_NOT_FINITE, nan);
  refused(cache, one.append(cache), KVC_NOT_FINITE, nan, append);
  CHECK_EQ(prefill(none.chunk(cache)), KVC_OK);
  checkRead(cache, Limited, 5, 5);

  // The model's tables have an end, which the compiler's do not let one meet.
  Tokens many(AllFloats, 0, (int64_t{1} << 14) * pageTokens[KeyFloats] + 1);
  refused(cache, many.append(cache), KVC_FULL,
          "layer 0: the page table of stream 1 has 16384 entries, and 16385 "
          "pages are needed",
          append);
}

/// Positions of owners and of readers, up to where numbers end.
void refusesPositions() {
  for (int64_t first : {int64_t{0}, int64_t{100}, int64_t{1} << 40}) {
    Cache cache(first);
    Tokens tokens(AllFloats, 0, 3), queries(AllReader, 0, 3);
    CHECK_EQ(prefill(tokens.chunk(cache)), KVC_OK);
    const std::string newest = std::to_string(first + 2);
    for (int64_t position :
         {INT64_MIN, INT64_MIN + 1, INT64_MIN + first, INT64_MIN + first + 1,
          int64_t{-1}, first - 1, first, first + 4, INT64_MAX - 2,
          INT64_MAX - 1, INT64_MAX}) {
      const std::string where = "position " + std::to_string(position);
      kvc_chunk chunk =
          with(tokens.chunk(cache), &kvc_chunk::position, position);
      refused(cache, chunk, KVC_ORDER,
              "layer 0: " + where + " is out of order: " +
                  std::to_string(first + 3) + " comes next");
      if (position == first)
        continue;
      for (int64_t count : {int64_t{3}, manyTokens}) {
        chunk = with(queries.chunk(cache), &kvc_chunk::position, position);
        chunk.tokens = count;
        std::string text = "layer 2: " + where;
        if (position <= INT64_MAX - count + 1)
          text += " to " + std::to_string(position + (count - 1));
        text += " is out of order: ";
        text += position < first
                    ? "positions begin at " + std::to_string(first)
                    : "layer 0, whose cache it reads, is at " + newest;
        refused(cache, chunk, KVC_ORDER, text);
      }
    }
    const std::string ends = std::to_string(first) + " to " +
                             std::to_string(first + manyTokens) + " are";
    for (int64_t position : {INT64_MIN, first - 1, first + manyTokens + 1,
                             INT64_MAX - 1, INT64_MAX}) {
      kvc_query query =
          with(queries.query(cache, 0, noEnd), &kvc_query::position, position);
      refused(cache, query, KVC_INVALID_ARGUMENT,
              "layer 2: position " + std::to_string(position) +
                  " is none of this cache: " + ends);
    }
    queries.checkUntouched();
    // No tokens: where the next one comes.
    Tokens none(AllFloats, 0, 0), noQueries(AllReader, 0, 0);
    for (int64_t position :
         {INT64_MIN, first - 1, first, first + 1, first + 2, first + 3,
          first + 4, first + manyTokens, INT64_MAX}) {
      CHECK_EQ(prefill(with(none.chunk(cache), &kvc_chunk::position, position)),
               position == first + 3 ? KVC_OK : KVC_ORDER);
      // A reader has not asked yet.
      CHECK_EQ(
          prefill(with(noQueries.chunk(cache), &kvc_chunk::position, position)),
          position >= first && position <= first + 3 ? KVC_OK : KVC_ORDER);
    }
    CHECK_EQ(cache.stats(AllReader).seen, 0);
    // One token beyond its owner, and where it has been.
    Tokens beyond(AllReader, 2, 2), all(AllReader, 0, 3), back(AllReader, 1, 2);
    refused(cache, beyond.chunk(cache), KVC_ORDER,
            "layer 2: position " + newest + " to " + std::to_string(first + 3) +
                " is out of order: layer 0, whose cache it reads, is at " +
                newest);
    CHECK_EQ(prefill(all.chunk(cache)), KVC_OK);
    all.checkOutputs(first);
    refused(cache, back.chunk(cache), KVC_ORDER,
            "layer 2: position " + std::to_string(first + 1) + " to " + newest +
                " is out of order: it has been at " + newest);
    refused(cache,
            with(noQueries.chunk(cache), &kvc_chunk::position, first + 1),
            KVC_ORDER,
            "layer 2: position " + std::to_string(first + 1) +
                " is out of order: it has been at " + newest);
  }
}

void refusesWhatIsGone() {
  Cache cache(10);
  fill(cache, StreamCoded, 0, 30);
  const std::string gone = " attends to what was evicted or coded since: layer "
                           "1 is at 39, and its rollback is 3";
  Tokens early(StreamReader, 25, 1), late(StreamReader, 26, 4),
      both(StreamReader, 25, 5);
  refused(cache, early.chunk(cache), KVC_GONE, "layer 4: position 35" + gone);
  refused(cache, both.chunk(cache), KVC_GONE, "layer 4: position 35" + gone);
  early.checkUntouched();
  both.checkUntouched();
  Tokens owners(StreamCoded, 20, 3);
  refused(cache, owners.query(cache, 0, noEnd), KVC_GONE,
          "layer 1: position 30" + gone);
  owners.checkUntouched();
  CHECK_EQ(prefill(late.chunk(cache)), KVC_OK);
  late.checkOutputs(10);
}

void refusesQueries() {
  Cache cache(10);
  fill(cache, AllFloats, 0, 5);
  Tokens query(AllFloats, 4, 2);
  const std::string ends = "layer 0: [from, to) ends before it begins";
  for (auto [from, to] : {std::pair<int64_t, int64_t>{13, 12},
                          {INT64_MAX, INT64_MIN},
                          {0, -1},
                          {INT64_MAX, INT64_MAX - 1},
                          {INT64_MIN + 1, INT64_MIN}})
    refused(cache, query.query(cache, from, to), KVC_INVALID_ARGUMENT, ends);
  refused(cache, query.query(cache, 0, noEnd, true), KVC_INVALID_ARGUMENT,
          "layer 0: it takes no learned sinks, so with_sinks must be 0");
  query.q[7] = INFINITY;
  refused(cache, query.query(cache, 0, noEnd), KVC_NOT_FINITE,
          "layer 0: q[1, 1, 1] is infinity: magnitudes up to 2^56 are allowed");
  query.checkUntouched();

  // The others of the call proceed.
  Tokens good(AllFloats, 4, 1), after(AllFloats, 4, 3);
  kvc_query queries[] = {good.query(cache, 0, noEnd),
                         query.query(cache, 0, noEnd),
                         after.query(cache, 0, noEnd)};
  CHECK_EQ(library().attend(queries, 3), KVC_NOT_FINITE);
  CHECK_EQ(queries[0].status, KVC_OK);
  CHECK_EQ(queries[1].status, KVC_NOT_FINITE);
  CHECK_EQ(queries[2].status, KVC_OK);
  good.checkOutputs(10);
}

void refusesMerges() {
  float out[mostHeads * valueDim] = {}, lse[mostHeads] = {};
  kvc_part parts[2] = {{out, lse}, {out, lse}};
  auto merge = [&](int32_t layer, const kvc_part *parts, size_t count,
                   int64_t tokens, void *result) {
    float results[mostHeads];
    return library().merge(layer, parts, count, tokens, result, results);
  };
  float result[mostHeads * valueDim];
  CHECK_EQ(merge(AllFloats, parts, 2, 1, result), KVC_OK);
  CHECK_EQ(merge(-1, parts, 2, 1, result), KVC_INVALID_ARGUMENT);
  CHECK_EQ(merge(LayerCount, parts, 2, 1, result), KVC_INVALID_ARGUMENT);
  CHECK_EQ(merge(AllFloats, nullptr, 1, 1, result), KVC_INVALID_ARGUMENT);
  CHECK_EQ(merge(AllFloats, parts, 2, 1, nullptr), KVC_INVALID_ARGUMENT);
  CHECK_EQ(merge(AllFloats, parts, SIZE_MAX, 1, result), KVC_INVALID_ARGUMENT);
  parts[1].out = nullptr;
  CHECK_EQ(merge(AllFloats, parts, 2, 1, result), KVC_INVALID_ARGUMENT);
  CHECK_EQ(merge(AllFloats, parts, 2, 0, nullptr), KVC_OK);
  CHECK_EQ(merge(AllFloats, parts, 1, 1, result), KVC_OK);
  parts[1] = {out, nullptr};
  CHECK_EQ(merge(AllFloats, parts, 2, 1, result), KVC_INVALID_ARGUMENT);
}

} // namespace

int main() {
  refusesPointers();
  refusesCounts();
  refusesBeyondTheLimit();
  refusesPositions();
  refusesWhatIsGone();
  refusesQueries();
  refusesMerges();
  CHECK_EQ(missingPages, 0);
  CHECK_EQ(liveBlocks, 0);
  return checkResult();
}
