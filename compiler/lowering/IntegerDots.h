//===- IntegerDots.h - dot products of small integers -----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_LOWERING_INTEGERDOTS_H
#define KVC_COMPILER_LOWERING_INTEGERDOTS_H

#include "compiler/lowering/Lanes.h"
#include "dialect/KVLayout.h"

namespace kvc {

/// Builds sums of codes times an operand's whole numbers, a few products a lane
/// at a time, in the instructions that #kv.target names or in arithmetic that
/// any target has.
///
/// Products are added up in *partial* sums. Where these are narrow they have
/// room for few words, and are then widened into the sum; else they are it.
class IntegerDots {
public:
  IntegerDots(Lanes &at, kv::Integers integers, llvm::StringRef instructions);

  /// What the `step`-th word of an operand meets of vectors of words of codes,
  /// in the order that `add` takes.
  SmallVector<Value> codes(ArrayRef<Value> words, int64_t step);
  /// A partial sum of nothing.
  Value nothing();
  /// Adds the products of each lane to the partial sums of some vectors; the
  /// operand is a word (i32).
  void add(llvm::MutableArrayRef<Value> partials, ArrayRef<Value> codes,
           Factor operand);
  /// `sum` (i32 lanes) and `partial`.
  Value widen(Value sum, Value partial);
  /// Words of codes that a partial sum has room for; 0: no limit.
  int64_t partialWords() const;

  const kv::Integers integers;

private:
  bool isNarrow() const { return !pairsOfBytes.empty(); }
  Value call(llvm::StringRef intrinsic, Value result, mlir::ValueRange values);
  Value cast(Value words, unsigned bits);
  int64_t bits() const { return 32 / integers.codes; }
  Value codesOf(Value words, int64_t step);
  Value within(Value parts, int64_t step);
  Value addProducts(Value partial, Value codes, Value numbers);
  Value addAnywhere(Value partial, Value codes, Value numbers);
  SmallVector<Value> laneCodes(ArrayRef<Value> words, int64_t step);
  void addByLane(llvm::MutableArrayRef<Value> partials, ArrayRef<Value> codes,
                 Factor operand);

  Lanes &at;
  /// Intrinsics of the target's; empty where it has none for its lanes.
  llvm::StringRef pairs;        ///< i16 x i16, two products to i32
  llvm::StringRef pairsOfBytes; ///< u8 x i8, two products to i16
  llvm::StringRef quads;        ///< i8 x i8, four products and an i32 to i32
  llvm::StringRef longs;        ///< i16 x i16, a product to i32
};

/// Makes whole numbers of rows of f32: see kv.fold.
class Rounding {
public:
  /// Of rows of the tile `from` to rows of the tile of words `to`.
  Rounding(Lanes &at, kv::Integers integers, Value from, Value to, Value terms)
      : at(at), integers(integers), from(from), to(to), terms(terms) {}

  struct Row {
    Value from, to; ///< rows of the tiles; of two rows the first
    Value term;     ///< row of `terms`
    Value column;   ///< where in it its terms begin
  };
  /// Columns [begin, end) of some rows, whole groups of `group()`. Rests go
  /// into the zeros where `inSum`. Gives what each row's largest magnitude is.
  SmallVector<Value> round(ArrayRef<Row> rows, Value begin, Value end,
                           bool inSum);
  /// Whether weights must not be too small beside the largest: see
  /// kv::Integers::LeastWeight.
  bool asksWeights() const { return integers.rows == 2; }
  /// Columns that are rounded together.
  int64_t group() const { return std::max(at.lanes, integers.codes); }

private:
  struct Steps {
    Value step, inverse; ///< in all lanes
  };
  SmallVector<Value> largest(ArrayRef<Row> rows, Value begin, Value end);
  /// x as bits that end in a whole number, and as that; x becomes what is left.
  std::pair<Value, Value> number(Value &x, Value step, Value inverse);
  void pack(ArrayRef<Value> bits, Value row, Value column);
  void store(Value scalar, const Row &row, int64_t term);

  Lanes &at;
  kv::Integers integers;
  Value from, to, terms;
};

/// Where a block's terms begin.
inline Value termsOf(Lanes &at, Value block) {
  return at.multiply(block, kv::Terms::Columns);
}

} // namespace kvc

#endif // KVC_COMPILER_LOWERING_INTEGERDOTS_H
