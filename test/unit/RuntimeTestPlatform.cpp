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
#define returnMemory platformReturnMemory
#define cpuFeatures platformCpuFeatures
#include "runtime/PlatformMemory.cpp"
#ifdef __APPLE__
#include "runtime/PlatformDarwin.cpp"
#else
#include "runtime/PlatformLinux.cpp"
#endif
#ifndef __aarch64__
#include "runtime/CpuX86.cpp"
#else
#include "runtime/CpuArm.cpp"
#ifndef __APPLE__
#include "runtime/CpuArmLinux.cpp"
#endif
#endif
#undef allocatePage
#undef allocateTable
#undef release
#undef returnMemory
#undef cpuFeatures

#include "RuntimeTestPlatform.h"

namespace kvc::test {

std::atomic<int64_t> liveBlocks = 0;
std::atomic<int64_t> allocations = 0;
std::atomic<int64_t> blocksLeft = -1;
std::atomic<int64_t> hiddenFeatures = 0;
std::atomic<int64_t> returns = 0;

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

void returnMemory() {
  ++test::returns;
  platformReturnMemory();
}

int64_t cpuFeatures() { return platformCpuFeatures() & ~test::hiddenFeatures; }

} // namespace kvc::runtime
