//===- GpuTarget.cpp - the GPUs that there are ----------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/target/GpuTarget.h"
#include "compiler/target/vulkan/VulkanTarget.h"

namespace kvc {

std::unique_ptr<GpuTarget> GpuTarget::create(llvm::StringRef name,
                                             int64_t lanes) {
  if (name == "vulkan")
    return std::make_unique<VulkanTarget>(lanes);
  return nullptr;
}

std::vector<std::string> GpuTarget::names() { return {"vulkan"}; }

} // namespace kvc
