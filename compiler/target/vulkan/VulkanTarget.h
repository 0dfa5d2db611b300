//===- VulkanTarget.h - from the tile level to SPIR-V -----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_TARGET_VULKAN_VULKANTARGET_H
#define KVC_COMPILER_TARGET_VULKAN_VULKANTARGET_H

#include "compiler/target/GpuTarget.h"

namespace kvc {

/// Vulkan 1.1: a lane is an invocation of a subgroup, kernels are SPIR-V.
class VulkanTarget : public GpuTarget {
public:
  /// Of a workgroup's memory; devices have at least 16384 and mostly more.
  static constexpr int64_t WorkgroupBytes = 32768;

  explicit VulkanTarget(int64_t lanes) : lanes(lanes) {}

  llvm::StringRef name() const override { return "vulkan"; }
  kv::TargetAttr attribute(mlir::MLIRContext *context) const override;
  void buildLoops(mlir::OpPassManager &passes) const override;
  void buildKernels(mlir::OpPassManager &passes) const override;
  bool serialize(mlir::ModuleOp module, llvm::raw_ostream &os,
                 std::string &error) const override;

private:
  int64_t lanes;
};

} // namespace kvc

#endif // KVC_COMPILER_TARGET_VULKAN_VULKANTARGET_H
