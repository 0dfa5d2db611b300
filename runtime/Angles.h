//===- Angles.h - cosines and sines of rotary angles ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rotary tables, made in double precision without a math library, so that all
// targets and hosts use the same numbers.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_ANGLES_H
#define KVC_RUNTIME_ANGLES_H

#include "runtime/Allocator.h"
#include "runtime/Generated.h"

namespace kvc::runtime {

/// Cosine and sine of `angle` (radians, |angle| <= 2^50), each within 0.501
/// units in the last place of a double.
void cosineAndSine(double angle, double &cosine, double &sine);

/// The table of one index (0 <= index <= 2^53): `out` is [2][rope.pairs], the
/// cosines, then the sines of index * frequency, times the factor, rounded to
/// double after each of the two products and then once to float.
void fillAngles(const kvc_gen_rope &rope, int64_t index, float *out);

/// The tables used last, so that layers which rotate alike share the work of a
/// token. All memory is taken when it is opened.
class AngleTables {
public:
  /// False where memory is short. All zero before and after close(). `memory`
  /// outlives it.
  bool open(const kvc_gen_model &model, const Allocator &memory);
  void close();

  /// The table of `rope` at `index`, made where it is not there. Valid until
  /// KVC_MAX_QUERIES + 1 other tables were asked for: a step's keys and all
  /// its queries may be held at once.
  const float *get(int64_t rope, int64_t index);

private:
  struct Entry {
    int64_t rope, index;
    int64_t lastUse; ///< 0: never
    float *table;
  };

  const kvc_gen_rope *ropes;
  Entry *entries;
  int64_t count;
  int64_t uses;
  const Allocator *memory;
  void *tables;
};

} // namespace kvc::runtime

#endif // KVC_RUNTIME_ANGLES_H
