//===- DescribeBuffers.cpp - what drivers want to know of buffers ---------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/target/vulkan/VulkanPasses.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_DESCRIBEBUFFERS
#include "compiler/target/vulkan/Passes.h.inc"

namespace {
struct DescribeBuffers : impl::DescribeBuffersBase<DescribeBuffers> {
  void runOnOperation() override {
    spirv::ModuleOp module = getOperation();
    for (auto variable : module.getOps<spirv::GlobalVariableOp>()) {
      const auto place =
          cast<spirv::PointerType>(variable.getType()).getStorageClass();
      if (place == spirv::StorageClass::PushConstant) {
        variable.removeBindingAttr();
        variable.removeDescriptorSetAttr();
      } else if (place == spirv::StorageClass::StorageBuffer &&
                 !isWritten(module, variable.getSymName())) {
        variable->setAttr("non_writable", UnitAttr::get(&getContext()));
      }
    }
  }

  /// Whether anything that an address of the variable goes to may store.
  static bool isWritten(spirv::ModuleOp module, StringRef name) {
    bool written = false;
    module.walk([&](spirv::AddressOfOp address) {
      if (address.getVariable() != name)
        return;
      SmallVector<Value> open{address.getPointer()};
      while (!open.empty()) {
        for (Operation *user : open.pop_back_val().getUsers()) {
          if (auto chain = dyn_cast<spirv::AccessChainOp>(user))
            open.push_back(chain.getResult());
          else if (!isa<spirv::LoadOp>(user))
            written = true;
        }
      }
    });
    return written;
  }
};
} // namespace
} // namespace kvc
