//===- CpuX86.cpp - what an x86-64 CPU has ----------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By cpuid. Compiled for any CPU of the architecture: it must run where
// features are missing.
//
//===----------------------------------------------------------------------===//

#include "runtime/Platform.h"

namespace kvc::runtime {

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
  constexpr uint32_t bmi1 = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8,
                     avx512f = 1u << 16, avx512dq = 1u << 17,
                     avx512cd = 1u << 28, avx512bw = 1u << 30,
                     avx512vl = 1u << 31;
  constexpr uint32_t lahf = 1u << 0, lzcnt = 1u << 5;
  constexpr uint32_t xmmAndYmm = 0x6, masksAndZmm = 0xe0;

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
  if (hasAll(extended.ebx,
             avx512f | avx512dq | avx512cd | avx512bw | avx512vl) &&
      hasAll(savedRegisters(), masksAndZmm))
    features |= CpuAvx512;
  return features;
}

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
  case CpuAvx512:
    return "AVX-512 (F, BW, CD, DQ and VL)";
  }
  return nullptr;
}

} // namespace kvc::runtime
