//===- KVPoints.h - asking the axes for a point -----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A request says in the spec's words what is wanted on one axis. The axis's
// folder answers with the point that means it. So no code outside the folder
// names a point.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVPOINTS_H
#define KVC_DIALECT_KVPOINTS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Types.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kvc::kv {

struct PrecisionRequest {
  mlir::Type type;       ///< a float type: unquantised; null: codes, as below
  int64_t bits = 8;      ///< of a code
  std::string per;       ///< what a scale belongs to: "channel" or "token"
  bool groupAll = false; ///< all stored tokens share a scale
  int64_t group = 0;     ///< else tokens or channels that do
  int64_t flush = 1;     ///< tokens coded at a time
  int64_t residual = 0;  ///< newest tokens kept as originals
  mlir::Type scales;     ///< type of scales and zeros
};

struct TimeRequest {
  int64_t sinks = 0;
  std::optional<int64_t> window; ///< none: every token stays
  int64_t context = 0;           ///< most tokens, where every token stays
};

struct PositionRequest {
  bool rotated = false;
  std::string positions = "absolute"; ///< or "cache"
  double theta = 10000;
  int64_t dims = 0;
  std::string pairing = "half";
  /// Of the frequencies: numbers by the names that the spec gives them.
  struct Scaling {
    std::string type; ///< empty: none
    std::map<std::string, double> numbers;
    bool truncate = true; ///< of yarn
  } scaling;
};

struct DepthRequest {
  std::optional<int64_t> share; ///< the owner's layer, for a reader
};

struct ScoreRequest {
  double scale = 1;
  std::optional<double> softcap;
  std::vector<double> alibiSlopes; ///< one a query head; empty: none
  bool learnedSinks = false;
};

/// Each gives null where the axis has no such point.
mlir::Attribute makePrecision(mlir::MLIRContext *, const PrecisionRequest &);
mlir::Attribute makeTime(mlir::MLIRContext *, const TimeRequest &);
mlir::Attribute makePosition(mlir::MLIRContext *, const PositionRequest &);
mlir::Attribute makeDepth(mlir::MLIRContext *, const DepthRequest &);
/// The list of points that a logit passes through, in order.
mlir::ArrayAttr makeScore(mlir::MLIRContext *, const ScoreRequest &);

} // namespace kvc::kv

#endif // KVC_DIALECT_KVPOINTS_H
