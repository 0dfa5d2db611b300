//===- RuntimeTestPlatform.cpp - a platform that can run short --*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The real functions come from the runtime's own files, under other names.
//
//===----------------------------------------------------------------------===//

#define allocatePage platformAllocatePage
#define allocateTable platformAllocateTable
#define release platformRelease
#define cpuFeatures platformCpuFeatures
#include "runtime/PlatformLinux.cpp"
#ifdef __aarch64__
#include "runtime/CpuArm.cpp"
#else
#include "runtime/CpuX86.cpp"
#endif
#undef allocatePage
#undef allocateTable
#undef release
#undef cpuFeatures

#include "RuntimeTestPlatform.h"

namespace kvc::test {

std::atomic<int64_t> liveBlocks = 0;
std::atomic<int64_t> allocations = 0;
std::atomic<int64_t> blocksLeft = -1;
std::atomic<int64_t> hiddenFeatures = 0;

/// Whether one more block may be given out. A refusal is not the last word:
/// what is asked for next is refused too.
static bool mayAllocate() {
  if (blocksLeft == 0)
    return false;
  if (blocksLeft > 0)
    --blocksLeft;
  ++allocations;
  ++liveBlocks;
  return true;
}

} // namespace kvc::test

namespace kvc::runtime {

void *allocatePage(size_t bytes) {
  return test::mayAllocate() ? platformAllocatePage(bytes) : nullptr;
}

void *allocateTable(size_t count, size_t bytes) {
  return test::mayAllocate() ? platformAllocateTable(count, bytes) : nullptr;
}

void release(void *memory) {
  if (memory)
    --test::liveBlocks;
  platformRelease(memory);
}

int64_t cpuFeatures() { return platformCpuFeatures() & ~test::hiddenFeatures; }

} // namespace kvc::runtime
