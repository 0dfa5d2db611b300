//===- Random.h - random numbers that are the same everywhere ---*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_RANDOM_H
#define KVC_COMPILER_HARNESS_RANDOM_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <initializer_list>

namespace kvc::harness {

/// splitmix64 (Steele, Lea, Flood 2014): one seed gives one sequence, on every
/// machine and with every standard library.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  /// The seed of an independent sequence.
  static uint64_t mix(uint64_t seed, uint64_t number) {
    return Random(seed ^ Random(number).next()).next();
  }

  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 ... bound - 1; the bias of the remainder matters to no test.
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(bound));
  }
  /// Both ends included.
  int64_t between(int64_t least, int64_t most) {
    return least + below(most - least + 1);
  }
  bool oneIn(int64_t count) { return below(count) == 0; }
  int64_t pick(std::initializer_list<int64_t> list) {
    return list.begin()[below(static_cast<int64_t>(list.size()))];
  }
  /// [0, 1)
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Nearly normal, of variance 1: a sum of four uniform numbers, made from
  /// one draw, needs no math library.
  double gaussian() {
    const uint64_t bits = next();
    const uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) +
                         (bits >> 32 & 0xffff) + (bits >> 48);
    return (static_cast<double>(sum) * 0x1p-16 - 2) * 1.7320508075688772;
  }

private:
  uint64_t state;
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_RANDOM_H
