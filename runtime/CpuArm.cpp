//===- CpuArm.cpp - what features of aarch64 are called ---------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Platform.h"

namespace kvc::runtime {

const char *cpuFeatureName(int64_t bit) {
  switch (bit) {
  case ArmCrc32:
    return "CRC32";
  case ArmAtomics:
    return "LSE atomics";
  case ArmRounding:
    return "RDM (rounding multiply-accumulate)";
  case ArmHalf:
    return "FP16 arithmetic";
  case ArmDotProduct:
    return "dot products of bytes (DotProd)";
  case ArmAppleM1:
    return "what Apple's M1 has";
  case ArmBf16:
    return "BF16";
  case ArmI8mm:
    return "I8MM (products of matrices of bytes)";
  case ArmSme:
    return "SME";
  case ArmCssc:
    return "CSSC";
  }
  return nullptr;
}

} // namespace kvc::runtime
