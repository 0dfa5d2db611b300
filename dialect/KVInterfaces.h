//===- KVInterfaces.h - what a point of an axis answers ---------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVINTERFACES_H
#define KVC_DIALECT_KVINTERFACES_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace kvc::kv {

/// Tokens x channels that share one (scale, zero).
struct ScaleBlock {
  /// As `tokens`: all that are stored beyond the sinks.
  static constexpr int64_t AllTokens = INT64_MAX;

  int64_t tokens;
  int64_t channels;

  bool spansAllTokens() const { return tokens == AllTokens; }
};

/// A (scale, zero) as it is stored, widened to f32.
struct Pair {
  float scale = 1;
  float zero = 0;
};

/// A block of codes, in the order of the values they were made from.
struct CodedBlock {
  llvm::SmallVector<uint32_t, 64> codes;
  Pair pair;
  int64_t saturated = 0; ///< scales, zeros or floats beyond their type's limit
};

/// A pair in the making: its words in a page, and how much of it saturated.
struct BuiltPair {
  llvm::SmallVector<mlir::Value, 2> words;
  mlir::Value saturated;
};

/// A pair taken apart.
struct ScaleZero {
  mlir::Value scale;
  mlir::Value zero;
};

/// Where a dot product was taken.
struct ScoreAt {
  int64_t head = 0;     ///< query head
  int64_t distance = 0; ///< how far the key lies before the query
};

/// By query head, what a score point has for it.
using HeadNumbers = llvm::SmallVector<llvm::SmallVector<double, 2>>;

/// A precision with pairs has to define the method; says so and ends the
/// process.
[[noreturn]] void missingBuilder(llvm::StringRef method,
                                 mlir::Attribute precision);

/// A constant of the element type and shape of `like`.
mlir::Value splatFloat(mlir::OpBuilder &builder, mlir::Location loc,
                       double value, mlir::Type like);
mlir::Value splatInt(mlir::OpBuilder &builder, mlir::Location loc,
                     int64_t value, mlir::Type like);

/// `element`, or a vector of it where `like` is a vector.
mlir::Type shapedLike(mlir::Type element, mlir::Type like);

} // namespace kvc::kv

#include "dialect/KVAttrInterfaces.h.inc"

#endif // KVC_DIALECT_KVINTERFACES_H
