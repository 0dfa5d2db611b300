//===- Yardstick.h - attention by hand, to measure kernels with -*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a person would write for one shape and one processor (AVX2), over a
// cache that is laid out for it. It only attends: nothing is appended, there
// are no sinks, windows, residuals or rotations. Nothing of it is in a library
// that kvc makes.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_BENCH_YARDSTICK_H
#define KVC_TEST_BENCH_YARDSTICK_H

#include <cstdint>
#include <memory>
#include <string>

namespace kvc::yardstick {

struct Shape {
  int64_t heads, kvHeads, dim;
};

/// How the cache is kept, and how it is multiplied.
enum class Kind {
  F16, ///< f32
  I8,  ///< 8-bit codes, 16-bit queries and weights
  I4,  ///< 4-bit codes, 8-bit queries and weights
  I2,  ///< 2-bit codes, the same
};

/// Layers of one sequence, of random numbers.
class Cache {
public:
  virtual ~Cache() = default;
  /// One query of every head over all tokens of a layer.
  virtual void attend(int64_t layer) = 0;
  /// Bytes of a layer.
  virtual int64_t bytes() const = 0;
  /// The largest error of the last attend of `layer` against fp64 attention
  /// over the cache's numbers, relative to the head's largest sum of w|v|.
  virtual double error(int64_t layer) const = 0;
  /// What that may be.
  virtual double bound() const = 0;
};

/// `tokens` is a multiple of 64. Null for a shape that it is not written for.
std::unique_ptr<Cache> make(Kind kind, Shape shape, int64_t layers,
                            int64_t tokens, int threads);

} // namespace kvc::yardstick

#endif // KVC_TEST_BENCH_YARDSTICK_H
