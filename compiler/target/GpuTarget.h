//===- GpuTarget.h - how the tile level becomes a GPU's kernels -*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_TARGET_GPUTARGET_H
#define KVC_COMPILER_TARGET_GPUTARGET_H

#include "compiler/target/TileTarget.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace kvc {

/// A GPU, with subgroups of one width: how the tile level becomes its kernels.
class GpuTarget : public TileTarget {
public:
  /// Widths of a subgroup that kernels are generated for.
  static constexpr int64_t LeastLanes = 4, MostLanes = 64;
  /// Where nobody says: what most devices have.
  static constexpr int64_t DefaultLanes = 32;
  /// What codes are multiplied in where a spec does not say: kernels that
  /// multiply integers are not generated yet.
  static constexpr const char *DefaultArithmetic = "f32";

  /// Loops to kernels in a dialect of the target.
  virtual void buildKernels(mlir::OpPassManager &passes) const = 0;
  /// Writes a module's kernels as the device's driver takes them. False with
  /// `error` where that fails.
  virtual bool serialize(mlir::ModuleOp module, llvm::raw_ostream &os,
                         std::string &error) const = 0;

  /// As --gpu takes it, with subgroups of `lanes` invocations. Null where there
  /// is none.
  static std::unique_ptr<GpuTarget> create(llvm::StringRef name, int64_t lanes);
  static std::vector<std::string> names();
};

} // namespace kvc

#endif // KVC_COMPILER_TARGET_GPUTARGET_H
