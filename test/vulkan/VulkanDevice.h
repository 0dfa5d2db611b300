//===- VulkanDevice.h - run a compute kernel, for tests ---------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_VULKAN_VULKANDEVICE_H
#define KVC_TEST_VULKAN_VULKANDEVICE_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

namespace kvc::test {

using Bytes = std::vector<uint8_t>;

/// The first device that Vulkan names which computes. Whatever Vulkan refuses
/// ends the program, with the reason.
class VulkanDevice {
public:
  VulkanDevice();
  ~VulkanDevice();
  VulkanDevice(const VulkanDevice &) = delete;

  const std::string &name() const { return deviceName; }
  uint32_t subgroup() const { return subgroupSize; }

  /// Takes the kernel `entry` of a SPIR-V module, with `buffers` buffers and
  /// `constants` push constants.
  void load(const std::vector<uint32_t> &words, const std::string &entry,
            uint32_t buffers, uint32_t constants);
  /// Runs it in `groups` workgroups: buffer i is binding i of set 0.
  void run(const std::vector<Bytes *> &buffers,
           const std::vector<int32_t> &constants, uint32_t groups);

private:
  struct Memory;
  struct Kernel;

  void choose();
  void open();
  uint32_t hostMemory(uint32_t types) const;

  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0, subgroupSize = 0;
  bool halves = false; ///< buffers of 16-bit numbers
  std::string deviceName;
  std::unique_ptr<Kernel> kernel;
};

} // namespace kvc::test

#endif // KVC_TEST_VULKAN_VULKANDEVICE_H
