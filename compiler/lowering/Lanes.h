//===- Lanes.h - arithmetic and loops on vectors of lanes -------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_LOWERING_LANES_H
#define KVC_COMPILER_LOWERING_LANES_H

#include "compiler/lowering/LaneForm.h"
#include "dialect/KVInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace kvc {

using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

/// A number that meets all lanes: a scalar, or one element of a vector, which
/// an instruction takes from there.
struct Factor {
  Value from;
  int64_t element = 0;
};

/// Builds index arithmetic, loops, and operations on one vector of lanes. The
/// lowerings speak of lanes through this alone; what a lane is, the form says.
struct Lanes {
  Lanes(OpBuilder &builder, Location loc, const LaneForm &form)
      : builder(builder), loc(loc), form(form), lanes(form.lanes) {}

  OpBuilder &builder;
  Location loc;
  const LaneForm &form;
  int64_t lanes;

  // Indices. Divisions are of what is not negative.
  Value index(int64_t value);
  Value add(Value a, Value b);
  Value add(Value a, int64_t b) { return add(a, index(b)); }
  Value subtract(Value a, Value b);
  Value multiply(Value a, int64_t b);
  Value multiply(Value a, Value b);
  Value divide(Value a, int64_t b);
  Value divideUp(Value a, int64_t b) { return divide(add(a, b - 1), b); }
  Value remainder(Value a, int64_t b);
  Value least(Value a, Value b);
  Value greatest(Value a, Value b);
  Value less(Value a, Value b);
  /// An index as i32.
  Value word(Value index);

  // Loops. `body` gets the counter and the values carried, and gives their
  // next ones.
  using Body = llvm::function_ref<SmallVector<Value>(Value, ValueRange)>;
  SmallVector<Value> loop(Value from, Value to, ValueRange carried, Body body);
  /// In steps of `step`.
  SmallVector<Value> loop(Value from, Value to, int64_t step,
                          ValueRange carried, Body body);

  /// Terms of a sum that are added up one by one. Terms that are alike are
  /// rounded alike, and an error grows with the length of such a chain: sums of
  /// more terms are made of sums of so many (docs/semantics.md, Tolerances).
  static constexpr int64_t ChainTerms = 32;

  /// Sums over [from, to), made of sums over stretches of `length`. `part` gets
  /// a stretch and where it starts from, and gives what it ends with. The first
  /// `sums` values start from zero and are added to those in `carried`; others
  /// go from stretch to stretch.
  using Stretch =
      llvm::function_ref<SmallVector<Value>(Value, Value, ValueRange)>;
  SmallVector<Value> inStretches(Value from, Value to, int64_t length,
                                 ValueRange carried, size_t sums, Stretch part);

  /// Runs `body` on rows [first, first + count), `step` of them at a time and
  /// the rest at once: built once for each of the two.
  void lockstep(int64_t rows, int64_t step,
                llvm::function_ref<void(Value first, int64_t count)> body);

  // Vectors: a value a lane.
  Type f32();
  Type i32();
  Value number(double value);    ///< all lanes
  Value broadcast(Value scalar); ///< all lanes
  Value broadcast(Factor factor);
  Value numbers();           ///< the lanes' own, i32
  Value first(Value vector); ///< a scalar: lane 0's
  Value fma(Value a, Value b, Value c);

  // Memory. A place is the indices of lane 0's element; other lanes' follow.
  Value load(Value memref, ValueRange place);
  void store(Value vector, Value memref, ValueRange place);
  Value loadMasked(Value memref, ValueRange place, Value mask); ///< or zero
  void storeMasked(Value vector, Value memref, ValueRange place, Value mask);
  Value loadScalar(Value memref, ValueRange place);
  void storeScalar(Value scalar, Value memref, ValueRange place);
  /// 16 bits a lane of lanes / 2 words, in the low half of i32.
  Value loadHalves(Value words, Value address);
  /// Those of `address` and those that follow.
  SmallVector<Value> loadTwoHalves(Value words, Value address);
  void storeHalves(Value vector, Value words, Value address, Value mask);
  /// Asks for words that are read later.
  void prefetch(Value words, Value address, int64_t count);

  // Of tiles.
  Value load(Value tile, Value row, Value column);
  void store(Value vector, Value tile, Value row, Value column);
  Value loadScalar(Value tile, Value row, Value column);
  void storeScalar(Value scalar, Value tile, Value row, Value column);
  Value addF(Value a, Value b);
  Value subtractF(Value a, Value b);
  Value multiplyF(Value a, Value b);
  Value greatestF(Value a, Value b);
  Value leastF(Value a, Value b);
  Value select(Value condition, Value a, Value b);
  /// Lanes `from` <= lane < `to` (indices), as i1.
  Value between(Value from, Value to);
  Value sum(Value vector);
  Value greatestOf(Value vector);
  Value leastOf(Value vector);

  /// exp(x) of x <= 0, to a relative error below 2^-22; 0 below -87.
  Value exp(Value x);
  /// ln(x) of x >= 1, to an error below 2^-22 |ln x| + 2^-23.
  Value log(Value x);

  /// Room for a tile, for the length of the function.
  Value allocate(Type memref);

private:
  Value reduce(Value vector, llvm::function_ref<Value(Value, Value)> combine);
  Value constantLike(double value, Value like);
};

} // namespace kvc

#endif // KVC_COMPILER_LOWERING_LANES_H
