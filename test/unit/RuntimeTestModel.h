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
//   out[h] = sum of v_t + sum of q_h . k_t,   lse[h] = number of stored tokens
//
// over the stored tokens t, with q rotated by the index of t's segment.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_RUNTIMETESTMODEL_H
#define KVC_TEST_UNIT_RUNTIMETESTMODEL_H

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
    return sinks(seen) + codes;
  }
  constexpr int64_t stored(int64_t seen) const {
    return sinks(seen) + seen - first(seen);
  }
};

constexpr int64_t kvHeads = 1, headDim = 2, valueDim = 3;

enum Layer : int32_t {
  AllFloats,    ///< all tokens, keys and values as floats; rope 0
  StreamCoded,  ///< 2 sinks, window 10, keys coded by 4; rope 1
  AllReader,    ///< reads AllFloats
  Limited,      ///< at most 5 tokens, no rotation
  StreamReader, ///< reads StreamCoded
  SmallTable,   ///< all tokens, but a page table of one page
  LayerCount
};

constexpr Policy policies[LayerCount] = {
    {2, 0, 0, 0, -1, 0}, {2, 2, 10, 4, -1, 1}, {3, 0, 0, 0, -1, 0},
    {2, 0, 0, 0, 5, -1}, {1, 2, 10, 4, -1, 1}, {2, 0, 0, 0, -1, 0},
};

/// Streams of every layer, in this order, and their pages.
enum StreamNumber { KeySinks, KeyFloats, KeyCodes, ValueSinks, ValueFloats };
constexpr int64_t streamCount = 5;
constexpr int64_t pageTokens[streamCount] = {2, 4, 8, 2, 4};
constexpr int64_t pageBytes[streamCount] = {2 * 4 * headDim, 4 * 4 * headDim,
                                            8 * 4 * headDim, 2 * 4 * valueDim,
                                            4 * 4 * valueDim};

constexpr double ropeFrequency[2] = {1.0, 0.01};
constexpr double ropeFactor[2] = {1.0, 1.25};

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIMETESTMODEL_H
