//===- CpuArmLinux.cpp - what an aarch64 CPU has, on Linux ------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By what Linux says to each process at its start. Compiled for any CPU of the
// architecture: it must run where features are missing.
//
//===----------------------------------------------------------------------===//

#include "runtime/Platform.h"

extern "C" unsigned long getauxval(unsigned long type) noexcept;

namespace kvc::runtime {

int64_t cpuFeatures() {
  // Bits as in Linux's arch/arm64/include/uapi/asm/hwcap.h.
  constexpr unsigned long hardwareCapabilities = 16;
  constexpr uint64_t crc32 = 1u << 7, atomics = 1u << 8, fphp = 1u << 9,
                     asimdhp = 1u << 10, asimdrdm = 1u << 12,
                     asimddp = 1u << 20;
  const uint64_t has = getauxval(hardwareCapabilities);

  int64_t features = 0;
  auto add = [&](uint64_t bits, CpuFeatureArm feature) {
    if ((has & bits) == bits)
      features |= feature;
  };
  add(crc32, ArmCrc32);
  add(atomics, ArmAtomics);
  add(asimdrdm, ArmRounding);
  add(fphp | asimdhp, ArmHalf);
  add(asimddp, ArmDotProduct);
  return features;
}

} // namespace kvc::runtime
