//===- Contraction.h - sums of operand times code ---------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each head and each lane, the sum over words and their slots of operand
// times code. Keys have tokens on the lanes and sum over channels; values have
// channels on the lanes and sum over tokens. A few heads and vectors go in
// lockstep, so that a code is decoded once for all heads and sums stay in
// registers.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_LOWERING_CONTRACTION_H
#define KVC_COMPILER_LOWERING_CONTRACTION_H

#include "compiler/lowering/IntegerDots.h"
#include "compiler/lowering/Record.h"

namespace kvc {

/// Rows of the operand that go in lockstep.
template <typename Op> int64_t lockstepOf(Op op) {
  kv::ScheduleAttr schedule = op.getSchedule().value_or(kv::ScheduleAttr());
  return schedule ? schedule.getHeads() : 1;
}

/// Numbers of an operand, which meet all lanes: columns of some rows.
class Factors {
public:
  /// `count` columns from `place` on.
  Factors(Lanes &at, Value operand, ArrayRef<Value> rows, Value place,
          int64_t count)
      : at(at), operand(operand), rows(rows), place(place), count(count),
        loaded(rows.size()) {}
  /// The number `column` columns after the first. A row's are asked for in
  /// order.
  Factor of(size_t row, int64_t column);

  /// Words of codes that go together, each of which meets so many columns: as
  /// many as meet what is read at once.
  static int64_t wordsTogether(Lanes &at, int64_t columns) {
    return std::max<int64_t>(1, at.form.factorsAtOnce() / columns);
  }

private:
  Lanes &at;
  Value operand;
  ArrayRef<Value> rows;
  Value place;
  int64_t count;
  SmallVector<Value> loaded; ///< of each row, what was read last
};

/// Sums over words [from, to) of one block of vectors, for `heads` heads.
struct Contraction {
  Lanes &at;
  Record &record;
  Value operand; ///< tile
  Value block;   ///< which block of vectors
  /// The operand's row for each head in lockstep.
  SmallVector<Value> rows;
  /// The operand's column of slot 0 of word `from`.
  Value column;
  /// Centers of codes: a row of a tile, a column a slot ...
  Value centers = {}, centerRow = {};
  /// ... or, where they lie on lanes, one vector for each of the block's.
  SmallVector<Value> laneCenters = {};

  /// sums[head * vectors + vector].
  SmallVector<Value> build(Value from, Value to);

  /// The same as sums of short chains; there are `count` words from `from` on.
  SmallVector<Value> buildInStretches(Value from, int64_t count);

private:
  SmallVector<Value> zeros() const;

  /// Adds word `number` of those that `factors` are of.
  void addWord(int64_t number, Value address, Value place, Factors &factors,
               SmallVector<Value> &sums);
};

/// The same of whole numbers.
struct IntegerContraction {
  Lanes &at;
  Record &record;
  IntegerDots dots;
  Value operand; ///< tile of words
  Value block;   ///< which block of vectors
  SmallVector<Value> rows;
  /// The word of codes that the operand's first words meet.
  Value origin;

  /// Sums in i32, for no more words than these have room for.
  SmallVector<Value> build(Value from, Value to);

  /// Sums as f32; there are `most` words at the most.
  SmallVector<Value> numbers(Value from, Value to, int64_t most);

private:
  SmallVector<Value> partial(Value from, Value to, ArrayRef<Value> start);

  void addWord(int64_t number, Value address, Factors &factors,
               SmallVector<Value> &sums);
};

/// A number of the terms that stand beside an operand of whole numbers.
mlir::Value loadTerm(Lanes &at, mlir::Value terms, mlir::Value row,
                     mlir::Value block, int64_t term);

} // namespace kvc

#endif // KVC_COMPILER_LOWERING_CONTRACTION_H
