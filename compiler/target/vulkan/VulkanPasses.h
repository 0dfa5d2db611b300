//===- VulkanPasses.h - passes of the Vulkan target -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_TARGET_VULKAN_VULKANPASSES_H
#define KVC_COMPILER_TARGET_VULKAN_VULKANPASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Pass/Pass.h"

namespace kvc {

#define GEN_PASS_DECL
#include "compiler/target/vulkan/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/target/vulkan/Passes.h.inc"

} // namespace kvc

#endif // KVC_COMPILER_TARGET_VULKAN_VULKANPASSES_H
