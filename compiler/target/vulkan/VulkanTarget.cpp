//===- VulkanTarget.cpp - from the tile level to SPIR-V -------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/target/vulkan/VulkanTarget.h"
#include "compiler/lowering/Lowering.h"
#include "compiler/target/vulkan/VulkanPasses.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SPIRV/Transforms/Passes.h"
#include "mlir/Target/SPIRV/Serialization.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kvc {

/// Of the registers that an invocation has, those that vectors are counted
/// in: half of them for sums, as on a CPU.
static constexpr int64_t Registers = 32;

kv::TargetAttr VulkanTarget::attribute(MLIRContext *context) const {
  return kv::TargetAttr::get(context, name(), lanes, Registers, "invocation",
                             /*dot=*/"");
}

void VulkanTarget::buildLoops(OpPassManager &passes) const {
  passes.addPass(createOutlineKernels());
  passes.addPass(createLowerTiles());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  OpPassManager &kernels =
      passes.nest<gpu::GPUModuleOp>().nest<gpu::GPUFuncOp>();
  kernels.addPass(createLoopInvariantCodeMotionPass());
  kernels.addPass(createShareTiles({.limit = WorkgroupBytes}));
  kernels.addPass(createPlaceBarriers());
}

void VulkanTarget::buildKernels(OpPassManager &passes) const {
  OpPassManager &module = passes.nest<gpu::GPUModuleOp>();
  // Pages are parts of the view's buffer: their addresses are made plain.
  module.addPass(memref::createFoldMemRefAliasOpsPass());
  module.addPass(createLowerAffinePass());
  module.addPass(createCanonicalizerPass());
  module.addPass(createCSEPass());
  module.addNestedPass<gpu::GPUFuncOp>(createKeepLoopResults());
  module.addPass(createDescribeDevice());
  passes.addPass(createMapMemRefStorageClassPass());
  passes.nest<gpu::GPUModuleOp>().addPass(createConvertMathToSPIRVPass());
  passes.addPass(createConvertGPUToSPIRVPass());
  OpPassManager &kernels = passes.nest<spirv::ModuleOp>();
  kernels.addPass(spirv::createSPIRVLowerABIAttributesPass());
  kernels.addPass(createDescribeBuffers());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createKeepRoundings());
  kernels.addPass(spirv::createSPIRVUpdateVCEPass());
}

bool VulkanTarget::serialize(ModuleOp module, raw_ostream &os,
                             std::string &error) const {
  SmallVector<spirv::ModuleOp> kernels(module.getOps<spirv::ModuleOp>());
  if (kernels.size() != 1) {
    error = "there are " + std::to_string(kernels.size()) +
            " kernels in it: more than one in a file of SPIR-V are not "
            "generated yet; layers that are alike share one";
    return false;
  }
  SmallVector<uint32_t> words;
  if (failed(spirv::serialize(kernels.front(), words))) {
    error = "internal: the kernel does not serialize";
    return false;
  }
  // SPIR-V has no byte order of its own; Vulkan takes the host's.
  os.write(reinterpret_cast<const char *>(words.data()),
           words.size() * sizeof(uint32_t));
  return true;
}

} // namespace kvc
