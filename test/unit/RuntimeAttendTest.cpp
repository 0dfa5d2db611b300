//===- RuntimeAttendTest.cpp - queries over a part of the tokens ---*- C++
//-*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attend at every position over every part, refused exactly where something
// that is needed is gone; and merge, which makes a whole of parts.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTestMirror.h"
#include "RuntimeTestPlatform.h"

#include <cmath>

using namespace kvc;
using namespace kvc::test;

namespace {

constexpr int32_t layers[] = {AllFloats, StreamCoded, AllReader, StreamReader,
                              Narrow,    Sunk,        Remade,    RemadeReader};

/// Asks as of token `token`, over tokens [from, to), counted from 0.
void asksOnce(const Cache &cache, int32_t layer, int64_t token, int64_t newest,
              int64_t from, int64_t to) {
  Asked asked{token + 1, newest, from, to, (from + to) % 2 == 0};
  Tokens query(layer, token, 1);
  kvc_status status =
      attend(query.query(cache, cache.first + from, cache.first + to,
                         asked.withSinks && layer == Sunk));
  if (!isHeld(layer, asked)) {
    CHECK_EQ(status, KVC_GONE);
    query.checkUntouched();
    return;
  }
  if (CHECK_EQ(status, KVC_OK))
    checkRow(query.out.data(), query.lse.data(), layer, asked, cache.first);
}

void asksEverywhere() {
  for (int64_t first : {0, 1000})
    for (int32_t layer : layers)
      for (int64_t newest : {0, 1, 2, 3, 7, 13, 14, 19}) {
        Cache cache(first);
        fill(cache, static_cast<int32_t>(ownerOf(layer)), 0, newest);
        kvc_stats before = cache.stats(layer);
        for (int64_t token = 0; token < newest + 5; ++token)
          for (int64_t from = -1; from <= newest + 1; ++from)
            for (int64_t to = from; to <= newest + 2; to += 1 + newest / 8)
              asksOnce(cache, layer, token, newest, from, to);
        // It leaves no trace.
        kvc_stats after = cache.stats(layer);
        CHECK_EQ(after.seen, before.seen);
        CHECK_EQ(after.held, before.held);
        if (reads(layer))
          CHECK_EQ(after.seen, 0);
      }
}

/// Several queries give what each gives alone, or nothing where one of them
/// asks for what is gone.
void asksInRows() {
  for (int32_t layer : layers)
    for (int64_t newest : {1, 6, 17, 30}) {
      Cache cache(50);
      fill(cache, static_cast<int32_t>(ownerOf(layer)), 0, newest);
      for (int64_t token = 0; token < newest + 3; ++token)
        for (int64_t count = 2; count < 12; ++count)
          for (int64_t from = 0; from <= newest; ++from)
            for (int64_t to : {from + 1, newest / 2 + 2, noEnd - 50}) {
              if (from > to)
                continue;
              Tokens queries(layer, token, count);
              bool held = true;
              for (int64_t i = 0; i < count; ++i)
                held = held &&
                       isHeld(layer, {token + i + 1, newest, from, to, false});
              CHECK_EQ(attend(queries.query(cache, 50 + from, 50 + to)),
                       held ? KVC_OK : KVC_GONE);
              if (!held) {
                queries.checkUntouched();
                continue;
              }
              const int64_t heads = policies[layer].heads;
              for (int64_t i = 0; i < count; ++i)
                checkRow(&queries.out[i * heads * valueDim],
                         &queries.lse[i * heads], layer,
                         {token + i + 1, newest, from, to, false}, 50);
            }
    }
}

/// As far as rollback goes nothing is ever gone.
void keepsWhatRollbackHolds() {
  for (int32_t layer : {StreamCoded, StreamReader})
    for (int64_t newest = 1; newest < 60; ++newest) {
      Cache cache;
      fill(cache, StreamCoded, 0, newest);
      int64_t oldest = newest - policies[layer].rollback;
      for (int64_t seen = oldest < 1 ? 1 : oldest; seen <= newest; ++seen) {
        Tokens query(layer, seen - 1, 1);
        CHECK_EQ(attend(query.query(cache, 0, noEnd)), KVC_OK);
        query.checkOutputs(0);
      }
    }
}

/// Beyond the newest, as far as one may ask: what is left of what is stored.
void asksFarAhead() {
  constexpr int64_t far = int64_t{1} << 40;
  for (int64_t first : {int64_t{0}, int64_t{1} << 40})
    for (int32_t layer : layers) {
      Cache cache(first);
      fill(cache, static_cast<int32_t>(ownerOf(layer)), 0, 20);
      for (int64_t token : {int64_t{25}, int64_t{1000}, far - 1, far}) {
        Tokens query(layer, token, 1);
        CHECK_EQ(attend(query.query(cache, 0, noEnd)), KVC_OK);
        checkRow(query.out.data(), query.lse.data(), layer,
                 {token + 1, 20, 0, noEnd, false}, first);
      }
      Tokens rows(layer, far, 3);
      CHECK_EQ(attend(rows.query(cache, INT64_MIN, noEnd)), KVC_OK);
      const int64_t heads = policies[layer].heads;
      for (int64_t i = 0; i < 3; ++i)
        checkRow(&rows.out[i * heads * valueDim], &rows.lse[i * heads], layer,
                 {far + i + 1, 20, 0, noEnd, false}, first);
      // An empty part may lie anywhere.
      for (int64_t at :
           {INT64_MIN, int64_t{-1}, int64_t{0}, first, far, INT64_MAX}) {
        Tokens query(layer, 19, 1);
        CHECK_EQ(attend(query.query(cache, at, at)), KVC_OK);
        checkRow(query.out.data(), query.lse.data(), layer,
                 {20, 20, 0, 0, false}, first);
      }
    }
}

/// Where nothing was appended: nothing, and the learned sink alone.
void asksNothing() {
  Cache cache;
  Tokens query(Sunk, 0, 5);
  CHECK_EQ(attend(query.query(cache, 0, noEnd, true)), KVC_OK);
  for (int64_t i = 0; i < 5; ++i)
    checkRow(&query.out[i * 4 * valueDim], &query.lse[i * 4], Sunk, {i + 1, 0},
             0);
}

/// `count` queries from `token` on over parts of the `newest` tokens, which end
/// at the bits of `cut`, merged, against the whole. One part has the learned
/// sinks.
void mergesCut(const Cache &cache, int32_t layer, int64_t token, int64_t count,
               int64_t newest, uint32_t cut) {
  std::vector<int64_t> borders = {0};
  for (int64_t i = 1; i < newest; ++i)
    if (cut >> (i - 1) & 1)
      borders.push_back(cache.first + i);
  borders.push_back(noEnd);
  const bool sunk = layer == Sunk;
  const size_t sinks = cut % (borders.size() - 1);
  std::vector<Tokens> parts;
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    parts.emplace_back(layer, token, count);
    CHECK_EQ(attend(parts.back().query(cache, borders[i], borders[i + 1],
                                       sunk && i == sinks)),
             KVC_OK);
    // Nothing, which changes nothing.
    parts.emplace_back(layer, token, count);
    CHECK_EQ(attend(parts.back().query(cache, borders[i], borders[i])), KVC_OK);
  }
  std::vector<kvc_part> list;
  for (const Tokens &part : parts)
    list.push_back({part.out.data(), part.lse.data()});
  Tokens whole(layer, token, count), merged(layer, token, count);
  CHECK_EQ(attend(whole.query(cache, 0, noEnd, sunk)), KVC_OK);
  CHECK_EQ(library().merge(layer, list.data(), list.size(), count,
                           merged.out.data(), merged.lse.data()),
           KVC_OK);
  CHECK(merged.lse == whole.lse);
  for (size_t i = 0; i < whole.out.size(); ++i)
    if (policies[layer].rope < 0)
      CHECK_EQ(merged.out[i], whole.out[i]); // sums of these are exact
    else
      CHECK(std::abs(merged.out[i] - whole.out[i]) < 1e-3);
}

void mergesAnySplit() {
  for (int32_t layer : layers)
    for (int64_t newest : {1, 2, 9}) {
      Cache cache(30);
      fill(cache, static_cast<int32_t>(ownerOf(layer)), 0, newest);
      for (uint32_t cut = 0; cut < 1u << (newest - 1); ++cut)
        for (int64_t count : {1, 4})
          mergesCut(cache, layer, newest - 1, count, newest, cut);
    }
}

/// Codes that are made anew are those of the length that is asked for, and made
/// once for it.
void makesCodesOnce() {
  Cache cache;
  const int64_t before = recodes;
  // Tokens without queries make none.
  for (int64_t t = 0; t < 12; t += 4)
    CHECK_EQ(append(Tokens(Remade, t, 4).append(cache)), KVC_OK);
  CHECK_EQ(recodes - before, 0);
  checkRead(cache, Remade, 12, 5);
  CHECK_EQ(recodes - before, 1);
  CHECK_EQ(cache.stats(Remade).saturated, remadeSaturated);
  CHECK_EQ(recodes - before, 1);
  // Two heads of keys, and rows as of 10, 11 and 12; readers share them.
  for (int32_t layer : {Remade, RemadeReader})
    for (int64_t token : {9, 10, 11}) {
      const int64_t then = recodes;
      for (int again = 0; again < 2; ++again) {
        Tokens query(layer, token, 1);
        CHECK_EQ(attend(query.query(cache, 0, noEnd)), KVC_OK);
        checkRow(query.out.data(), query.lse.data(), layer, {token + 1, 12}, 0);
      }
      CHECK_EQ(recodes - then, 1);
    }
  // Beyond the newest the codes are the newest's.
  const int64_t then = recodes;
  Tokens ahead(RemadeReader, 14, 1);
  CHECK_EQ(attend(ahead.query(cache, 0, noEnd)), KVC_OK);
  checkRow(ahead.out.data(), ahead.lse.data(), RemadeReader, {15, 12}, 0);
  CHECK_EQ(recodes - then, 0);
  checkRead(cache, Remade, 12, 12);
  CHECK_EQ(recodes - then, 0);
  // A token makes them stale; what saturates is not added up.
  fill(cache, Remade, 12, 30);
  CHECK_EQ(recodes - then, 18);
  CHECK_EQ(cache.stats(Remade).saturated, remadeSaturated);
  CHECK_EQ(library().reset(cache), KVC_OK);
  CHECK_EQ(cache.stats(Remade).saturated, 0);
  fill(cache, Remade, 0, 30);
  checkRead(cache, Remade, 30, 3);
}

/// A long cache is cut in parts; over any range they make what the range has.
void asksOverLongRanges() {
  Cache cache;
  constexpr int64_t newest = 9000;
  for (int64_t t = 0; t < newest; t += 1000)
    CHECK_EQ(append(Tokens(Sunk, t, 1000).append(cache)), KVC_OK);
  const int64_t ranges[][2] = {{0, noEnd},    {0, 1},       {0, 2048},
                               {1, 2049},     {63, 4096},   {1000, 8999},
                               {6952, 9000},  {6953, 9000}, {8999, noEnd},
                               {9000, noEnd}, {100, 100},   {5, 7000}};
  for (auto [from, to] : ranges)
    for (int64_t token : {int64_t{0}, int64_t{4000}, newest - 2, newest + 7})
      for (int64_t count : {1, 2, 6}) {
        Tokens queries(Sunk, token, count);
        CHECK_EQ(attend(queries.query(cache, from, to, true)), KVC_OK);
        for (int64_t i = 0; i < count; ++i)
          checkRow(&queries.out[i * 4 * valueDim], &queries.lse[i * 4], Sunk,
                   {token + i + 1, newest, from, to}, 0);
      }
  // Without a place for lse the parts are merged all the same.
  Tokens asked(Sunk, newest - 1, 3), again(Sunk, newest - 1, 3);
  kvc_query query = again.query(cache, 0, noEnd);
  query.lse = nullptr;
  CHECK_EQ(attend(asked.query(cache, 0, noEnd)), KVC_OK);
  CHECK_EQ(attend(query), KVC_OK);
  CHECK(asked.out == again.out);
}

void mergesNothing() {
  Tokens merged(Sunk, 0, 2);
  CHECK_EQ(library().merge(Sunk, nullptr, 0, 2, merged.out.data(),
                           merged.lse.data()),
           KVC_OK);
  for (float value : merged.out)
    CHECK_EQ(value, 0);
  for (float value : merged.lse)
    CHECK_EQ(value, 0); // the toy's identity
  Cache cache;
  fill(cache, Sunk, 0, 3);
  Tokens part(Sunk, 2, 2), without(Sunk, 2, 2);
  CHECK_EQ(attend(part.query(cache, 0, noEnd)), KVC_OK);
  kvc_part one = {part.out.data(), part.lse.data()};
  CHECK_EQ(library().merge(Sunk, &one, 1, 2, without.out.data(), nullptr),
           KVC_OK);
  CHECK(without.out == part.out);
}

} // namespace

int main() {
  asksEverywhere();
  asksInRows();
  keepsWhatRollbackHolds();
  asksFarAhead();
  asksNothing();
  mergesAnySplit();
  makesCodesOnce();
  asksOverLongRanges();
  mergesNothing();
  CHECK_EQ(missingPages, 0);
  CHECK_EQ(liveBlocks, 0);
  return checkResult();
}
