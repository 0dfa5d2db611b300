//===- KeepRoundings.cpp - drivers may not rearrange sums -----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/target/vulkan/VulkanPasses.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_KEEPROUNDINGS
#include "compiler/target/vulkan/Passes.h.inc"

namespace {
struct KeepRoundings : impl::KeepRoundingsBase<KeepRoundings> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (isa<spirv::FAddOp, spirv::FSubOp, spirv::FMulOp, spirv::FDivOp,
              spirv::FNegateOp, spirv::GLFmaOp>(op))
        op->setAttr("no_contraction", UnitAttr::get(&getContext()));
    });
  }
};
} // namespace
} // namespace kvc
