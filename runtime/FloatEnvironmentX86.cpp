//===- FloatEnvironmentX86.cpp - the same in MXCSR --------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The control word of the x87 is left alone: nothing here computes with that.
//
//===----------------------------------------------------------------------===//

#include "runtime/FloatEnvironment.h"

namespace kvc::runtime {

namespace {

/// Exceptions that happened, which is no setting.
constexpr uint32_t happened = 0x3f;
/// All six exceptions masked; to nearest; neither FTZ nor DAZ.
constexpr uint32_t ours = 0x1f80;

uint32_t readRegister() {
  uint32_t value;
  __asm__ volatile("stmxcsr %0" : "=m"(value) : : "memory");
  return value;
}

void writeRegister(uint32_t value) {
  __asm__ volatile("ldmxcsr %0" : : "m"(value) : "memory");
}

} // namespace

FloatEnvironment::FloatEnvironment() {
  uint32_t theirs = readRegister();
  flags = theirs & happened;
  control = theirs - flags;
  if (control != ours)
    writeRegister(ours | static_cast<uint32_t>(flags));
}

FloatEnvironment::~FloatEnvironment() {
  uint32_t theirs = static_cast<uint32_t>(control | flags);
  if (readRegister() != theirs)
    writeRegister(theirs);
}

} // namespace kvc::runtime
