//===- VulkanAttend.cpp - a kernel on a device against the reference ------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// vulkan-attend SPEC KERNEL.spv LANES LENGTH...
//
// See Trial.h. The kernel is what `kvc compile --gpu vulkan` wrote.
//
//===----------------------------------------------------------------------===//

#include "compiler/target/GpuTarget.h"
#include "test/vulkan/Trial.h"
#include "test/vulkan/VulkanDevice.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace kvc::harness;
using namespace kvc::test;
using namespace llvm;

namespace {
class OnVulkan : public Runner {
public:
  explicit OnVulkan(VulkanDevice &device) : device(device) {}
  bool run(const std::vector<Bytes *> &buffers,
           const std::vector<int32_t> &constants, uint32_t groups,
           std::string &) override {
    device.run(buffers, constants, groups);
    return true;
  }

private:
  VulkanDevice &device;
};
} // namespace

int main(int argc, char **argv) {
  ExitOnError exitOnError("vulkan-attend: ");
  if (argc < 5) {
    errs() << "usage: vulkan-attend SPEC KERNEL.spv LANES LENGTH...\n";
    return 2;
  }
  auto model = exitOnError(Model::load(argv[1], /*threads=*/true,
                                       {kvc::GpuTarget::DefaultArithmetic}));
  auto file = exitOnError(errorOrToExpected(MemoryBuffer::getFile(argv[2])));
  std::vector<uint32_t> words(file->getBufferSize() / sizeof(uint32_t));
  std::memcpy(words.data(), file->getBufferStart(),
              words.size() * sizeof(uint32_t));
  const int64_t lanes = std::stol(argv[3]);
  std::set<int64_t> lengths;
  for (int i = 4; i < argc; ++i)
    lengths.insert(std::stol(argv[i]));

  VulkanDevice device;
  if (device.subgroup() != lanes) {
    errs() << "vulkan-attend: " << device.name() << " has subgroups of "
           << device.subgroup() << ", the kernel is for " << lanes << "\n";
    return 2;
  }
  Trial trial(*model, lanes);
  device.load(words, trial.kernel(), trial.buffers(), trial.constants());
  outs() << device.name() << ", subgroups of " << lanes << "\n";
  OnVulkan runner(device);
  return trial.run(runner, lengths) ? 0 : 1;
}
