//===- PlatformLinux.cpp - memory and CPU features on Linux -----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C library's allocator, declared here because the runtime is compiled
// without the platform's headers; CPU features by cpuid. Compiled for any CPU
// of the architecture: it must run where features are missing.
//
//===----------------------------------------------------------------------===//

#include "runtime/Platform.h"

extern "C" {
void *aligned_alloc(size_t alignment, size_t size) noexcept;
void *calloc(size_t count, size_t size) noexcept;
void free(void *memory) noexcept;
}

namespace kvc::runtime {

void *allocatePage(size_t bytes) {
  constexpr size_t alignment = 64;
  if (bytes > PTRDIFF_MAX - alignment)
    return nullptr;
  size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void *memory = aligned_alloc(alignment, rounded);
  if (memory)
    __builtin_memset(memory, 0, rounded);
  return memory;
}

void *allocateTable(size_t count, size_t bytes) { return calloc(count, bytes); }

void release(void *memory) { free(memory); }

#if defined(__x86_64__)

namespace {

struct CpuId {
  uint32_t eax, ebx, ecx, edx;
};

CpuId cpuId(uint32_t leaf) {
  CpuId id;
  __asm__("cpuid"
          : "=a"(id.eax), "=b"(id.ebx), "=c"(id.ecx), "=d"(id.edx)
          : "0"(leaf), "2"(0));
  return id;
}

/// The registers that the operating system saves (XCR0). Only where cpuid
/// reports OSXSAVE.
uint32_t savedRegisters() {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

bool hasAll(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

} // namespace

int64_t cpuFeatures() {
  // Bits as in Intel's manual, volume 2, CPUID.
  CpuId basic = cpuId(1);
  CpuId none = {0, 0, 0, 0};
  CpuId extended = cpuId(0).eax >= 7 ? cpuId(7) : none;
  CpuId amd = cpuId(0x80000000).eax >= 0x80000001 ? cpuId(0x80000001) : none;

  constexpr uint32_t sse3 = 1u << 0, ssse3 = 1u << 9, fma = 1u << 12,
                     cx16 = 1u << 13, sse41 = 1u << 19, sse42 = 1u << 20,
                     movbe = 1u << 22, popcnt = 1u << 23, osxsave = 1u << 27,
                     avx = 1u << 28, f16c = 1u << 29;
  constexpr uint32_t bmi1 = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8;
  constexpr uint32_t lahf = 1u << 0, lzcnt = 1u << 5;
  constexpr uint32_t xmmAndYmm = 6;

  int64_t features = 0;
  if (hasAll(basic.ecx, sse3 | ssse3 | cx16 | sse41 | sse42 | popcnt) &&
      hasAll(amd.ecx, lahf))
    features |= CpuX86_64V2;
  if (hasAll(basic.ecx, movbe))
    features |= CpuMovbe;
  if (hasAll(amd.ecx, lzcnt))
    features |= CpuLzcnt;
  if (hasAll(extended.ebx, bmi1 | bmi2))
    features |= CpuBmi2;
  if (!hasAll(basic.ecx, osxsave | avx) || !hasAll(savedRegisters(), xmmAndYmm))
    return features;
  if (hasAll(extended.ebx, avx2))
    features |= CpuAvx2;
  if (hasAll(basic.ecx, fma))
    features |= CpuFma;
  if (hasAll(basic.ecx, f16c))
    features |= CpuF16c;
  return features;
}

#else
#error "say here how this architecture's features are found"
#endif

const char *cpuFeatureName(int64_t bit) {
  switch (bit) {
  case CpuAvx2:
    return "AVX2";
  case CpuFma:
    return "FMA";
  case CpuF16c:
    return "F16C";
  case CpuBmi2:
    return "BMI2";
  case CpuLzcnt:
    return "LZCNT";
  case CpuMovbe:
    return "MOVBE";
  case CpuX86_64V2:
    return "SSE4.2 and the rest of x86-64-v2";
  }
  return nullptr;
}

} // namespace kvc::runtime
