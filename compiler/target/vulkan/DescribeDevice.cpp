//===- DescribeDevice.cpp - what a Vulkan device can do -------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/target/vulkan/VulkanPasses.h"
#include "compiler/target/vulkan/VulkanTarget.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_DESCRIBEDEVICE
#include "compiler/target/vulkan/Passes.h.inc"

/// Vulkan 1.1 with what kernels use. The conversion refuses an operation that
/// needs more; what a kernel does not use is not asked of a device.
static spirv::TargetEnvAttr deviceOf(MLIRContext *context, int64_t lanes) {
  Builder builder(context);
  using spirv::Capability, spirv::Extension;
  const Capability capabilities[] = {
      Capability::Shader,          Capability::Int16,
      Capability::Float16,         Capability::StorageBuffer16BitAccess,
      Capability::GroupNonUniform, Capability::GroupNonUniformShuffle};
  const Extension extensions[] = {
      Extension::SPV_KHR_storage_buffer_storage_class,
      Extension::SPV_KHR_16bit_storage};
  auto available = spirv::VerCapExtAttr::get(spirv::Version::V_1_3,
                                             capabilities, extensions, context);
  auto limits = spirv::ResourceLimitsAttr::get(
      context, VulkanTarget::WorkgroupBytes,
      /*max_compute_workgroup_invocations=*/128,
      builder.getI32ArrayAttr({128, 128, 64}), static_cast<int>(lanes),
      /*min_subgroup_size=*/std::nullopt, /*max_subgroup_size=*/std::nullopt,
      /*cooperative_matrix_properties_khr=*/ArrayAttr(),
      /*cooperative_matrix_properties_nv=*/ArrayAttr());
  return spirv::TargetEnvAttr::get(
      available, limits, spirv::ClientAPI::Vulkan, spirv::Vendor::Unknown,
      spirv::DeviceType::Unknown, spirv::TargetEnvAttr::kUnknownDeviceID);
}

/// Whether it has numbers of bf16, which the conversion takes for f32.
static bool hasBFloats(Operation *op) {
  auto isBF16 = [](Type type) { return getElementTypeOrSelf(type).isBF16(); };
  if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op))
    return llvm::any_of(kernel.getArgumentTypes(), isBF16);
  return llvm::any_of(op->getResultTypes(), isBF16) ||
         llvm::any_of(op->getOperandTypes(), isBF16);
}

namespace {
struct DescribeDevice : impl::DescribeDeviceBase<DescribeDevice> {
  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    int64_t lanes = 0;
    for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
      auto size = kernel.getKnownBlockSize();
      if (!size || size->size() != 3) {
        kernel.emitError("needs known_block_size: its lanes");
        return signalPassFailure();
      }
      lanes = size->front();
      kernel->setAttr(spirv::getEntryPointABIAttrName(),
                      spirv::getEntryPointABIAttr(&getContext(), *size));
    }
    auto result = module.walk([](Operation *op) {
      if (!hasBFloats(op))
        return WalkResult::advance();
      op->emitError("numbers of bf16 are not generated for vulkan yet: what is "
                    "stored may be bf16, io may not");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    module->setAttr(spirv::getTargetEnvAttrName(),
                    deviceOf(&getContext(), lanes));
  }
};
} // namespace
} // namespace kvc
