//===- RuntimeTestModel.h - a model made by hand ----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands where generated code stands. Its policies are real ones, its codes
// and its attention are toys: a code is a float with all bits turned over, and
//
//   out[h] = sum of v_t + sum of q_h . k_t,   lse[h] = number of tokens
//
// over the tokens t that are attended to, k and v of the head of keys that h
// meets, q rotated by the index of t's segment. Codes that are made anew have
// the length added to the float, so that those of another length are wrong. A
// learned sink is added to lse. Parts are merged by adding both.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_RUNTIMETESTMODEL_H
#define KVC_TEST_UNIT_RUNTIMETESTMODEL_H

#include "runtime/Generated.h"

#include <atomic>
#include <cstdint>

namespace kvc::test {

/// One policy, and the heads of a layer that has it.
struct Policy {
  int64_t heads;
  int64_t sink;
  int64_t window; ///< 0: all
  int64_t flush;  ///< keys are coded by so many tokens; 0: never
  int64_t limit;  ///< -1: none
  int64_t rope;   ///< -1: no rotation
  int64_t rollback;
  int64_t rows; ///< of a piece
  bool learnedSinks;
  bool remade; ///< all keys are codes, made anew at each length

  // Lengths in tokens, counted from 0.
  constexpr int64_t sinks(int64_t seen) const {
    return seen < sink ? seen : sink;
  }
  /// First stored token that is no sink.
  constexpr int64_t first(int64_t seen) const {
    int64_t oldest = window && seen > window ? seen - window : 0;
    return oldest > sinks(seen) ? oldest : sinks(seen);
  }
  /// First token that is no sink and not coded.
  constexpr int64_t coded(int64_t seen) const {
    int64_t codes = seen > sink && flush ? (seen - sink) / flush * flush : 0;
    if (remade)
      codes = seen - sinks(seen);
    return sinks(seen) + codes;
  }
  constexpr int64_t stored(int64_t seen) const {
    return sinks(seen) + seen - first(seen);
  }
};

constexpr int64_t kvHeads = 2, headDim = 2, valueDim = 3, mostHeads = 6;

enum Layer : int32_t {
  AllFloats,    ///< all tokens, keys and values as floats; rope 0
  StreamCoded,  ///< 2 sinks, window 10, keys coded by 4, rollback 3; rope 1
  AllReader,    ///< reads AllFloats
  Limited,      ///< at most 5 tokens, no rotation, one at a time
  StreamReader, ///< reads StreamCoded
  Narrow,       ///< a sink, a window of 2 keys that are coded by 4; rope 1
  Sunk,         ///< all tokens, 2 sinks, learned sinks, no rotation
  Remade,       ///< a sink, window 6, keys coded anew, rollback 3, no rotation
  RemadeReader, ///< reads Remade
  LayerCount
};

constexpr Policy policies[LayerCount] = {
    {2, 0, 0, 0, -1, 0, 0, 4, false, false},
    {4, 2, 10, 4, -1, 1, 3, 4, false, false},
    {6, 0, 0, 0, -1, 0, 0, 3, false, false},
    {2, 0, 0, 0, 5, -1, 0, 1, false, false},
    {2, 2, 10, 4, -1, 1, 3, 4, false, false},
    {2, 1, 2, 4, -1, 1, 0, 4, false, false},
    {4, 2, 0, 0, -1, -1, 0, 4, true, false},
    {2, 1, 6, 0, -1, -1, 3, 1, false, true},
    {4, 1, 6, 0, -1, -1, 3, 1, false, true},
};

constexpr int64_t ownerOf(int64_t layer) {
  if (layer == AllReader)
    return AllFloats;
  if (layer == StreamReader)
    return StreamCoded;
  return layer == RemadeReader ? int64_t{Remade} : layer;
}
constexpr bool reads(int64_t layer) { return ownerOf(layer) != layer; }

/// Streams of every owner, in this order, and their pages.
enum StreamNumber { KeySinks, KeyFloats, KeyCodes, ValueSinks, ValueFloats };
constexpr int64_t streamCount = 5;
constexpr int64_t pageTokens[streamCount] = {2, 3, 5, 2, 4};
constexpr int64_t keyBytes = kvHeads * 4 * headDim,
                  valueBytes = kvHeads * 4 * valueDim;
constexpr int64_t tokenBytes[streamCount] = {keyBytes, keyBytes, keyBytes,
                                             valueBytes, valueBytes};
constexpr int64_t pageBytes[streamCount] = {
    2 * keyBytes, 3 * keyBytes, 5 * keyBytes, 2 * valueBytes, 4 * valueBytes};

/// What a page takes, with what lies before it.
constexpr int64_t bytesOfPage(int64_t stream) {
  return pageBytes[stream] + KVC_PAGE_HEADER;
}

constexpr double ropeFrequency[2] = {1.0, 0.01};
constexpr double ropeFactor[2] = {1.0, 1.25};

/// How often a kernel's loop met a token whose page was not there.
extern std::atomic<int64_t> missingPages;
/// How often a token was restored with another group's pairs.
extern std::atomic<int64_t> wrongPairs;
/// How often codes were made anew, and how many saturate each time.
extern std::atomic<int64_t> recodes;
constexpr int64_t remadeSaturated = 7;

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIMETESTMODEL_H
