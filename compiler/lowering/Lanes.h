//===- Lanes.h - h --------------------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef KVC_COMPILER_LOWERING_LANES_H
#define KVC_COMPILER_LOWERING_LANES_H

#include "dialect/KVLayout.h"
#include "dialect/KVTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace kvc {

using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

/// Builds index arithmetic, loops, and operations on one vector of lanes. The
/// lowerings speak of lanes through this alone.
struct Lanes {
  Lanes(OpBuilder &builder, Location loc, int64_t lanes)
      : builder(builder), loc(loc), lanes(lanes) {}

  OpBuilder &builder;
  Location loc;
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

  // Vectors.
  Type f32();
  Type i32();
  Value number(double value);          ///< all lanes
  Value broadcast(Value scalar);       ///< all lanes
  Value load(Value tile, Value row, Value column);
  void store(Value vector, Value tile, Value row, Value column);
  Value loadScalar(Value tile, Value row, Value column);
  void storeScalar(Value scalar, Value tile, Value row, Value column);
  Value fma(Value a, Value b, Value c);
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

  /// A tile of this function's frame: rows x columns, columns padded to whole
  /// cache lines.
  Value allocate(Type memref);

private:
  Value reduce(Value vector,
               llvm::function_ref<Value(Value, Value)> combine);
  Value constantLike(double value, Value like);
};

/// A pair (scale, zero) with its center c and rest r = zero + c * scale, so that
/// code * scale + zero = (code - c) * scale + r; see kv.fold.
struct CenteredPair {
  Value scale, center, rest;
};

/// Where one code lies.
struct CodePlace {
  Value address; ///< of its word
  Value shift;   ///< i32, its lowest bit in the word; null: the whole word
};

/// One head's record in a page: the addresses that #kv.layout describes.
struct Record {
  /// `page` is the memref of words of a page of `type`.
  Record(Lanes &lanes, Value page, kv::PageType type, Value head);

  Lanes &at;
  Value page;
  kv::PageLayout layout;
  Value base; ///< first word of the record

  /// Where in its page a token lies.
  Value offsetOf(Value token);
  /// Address of word `word` of lane 0 of vector `vector`.
  Value codeAddress(Value vector, Value word);
  /// Words between one word of a vector and its next one.
  int64_t wordStride() const { return layout.vectors() * layout.lanes(); }
  /// Address of the first word of `block` (of `vectors` vectors).
  Value blockAddress(Value block);
  /// Address of the pair of the block of scales of (token offset, channel).
  Value pairAddress(Value offset, Value pairChannel);

  /// Where the code of (token offset, channel) lies.
  CodePlace placeOf(Value offset, Value channel);
  /// The bits of a code, as shift for the slot of a packed index; null where
  /// a word holds one code.
  Value slotShift(Value packed);
  /// Put a code into its word and leave the others; with `mask`, words of all
  /// lanes, and only where it holds.
  void putCode(Value code, CodePlace place, Value mask);

  Value loadWords(Value address);
  void storeWords(Value words, Value address);
  Value loadWord(Value address);
  void storeWord(Value word, Value address);

  /// The pairs at `address`: of as many lanes (`vector`), or one.
  kv::ScaleZero loadPair(Value address, bool vector);
  CenteredPair loadCentered(Value address, bool vector);
  void storePair(const kv::BuiltPair &pair, Value address, Value mask);
};

} // namespace kvc

#endif // KVC_COMPILER_LOWERING_LANES_H
