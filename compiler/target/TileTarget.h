//===- TileTarget.h - what the tile level is lowered for --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_TARGET_TILETARGET_H
#define KVC_COMPILER_TARGET_TILETARGET_H

#include "dialect/KVAttributes.h"
#include "mlir/Pass/PassManager.h"

namespace kvc {

/// What a CPU and a GPU have in common: up to the tile level and through its
/// lowerings, all go through the same passes.
class TileTarget {
public:
  virtual ~TileTarget() = default;

  /// As --target, or --gpu, takes it.
  virtual llvm::StringRef name() const = 0;
  /// What the tile level and its lowerings need to know of it: what a lane is,
  /// and how many there are.
  virtual kv::TargetAttr attribute(mlir::MLIRContext *context) const = 0;
  /// Tile level to loops on values of lanes.
  virtual void buildLoops(mlir::OpPassManager &passes) const = 0;
};

} // namespace kvc

#endif // KVC_COMPILER_TARGET_TILETARGET_H
