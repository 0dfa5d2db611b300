//===- FloatEnvironmentArm.cpp - the same in FPCR and FPSR ------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FPCR has rounding (RMode), flushing (FZ, FZ16, and FIZ where the CPU has it),
// traps, default NaNs (DN), the other half format (AHP) and, on later CPUs,
// other results altogether (AH, NEP, EBF). Zero is IEEE 754 in all of them.
//
//===----------------------------------------------------------------------===//

#include "runtime/FloatEnvironment.h"

namespace kvc::runtime {

namespace {

constexpr uint64_t ours = 0;

// Each of these once: LLVM prints an order of uses of inline assembly, where it
// has several, that it cannot read.

[[gnu::noinline]] uint64_t readControl() {
  uint64_t value;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value) : : "memory");
  return value;
}

[[gnu::noinline]] void writeControl(uint64_t value) {
  __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory");
}

[[gnu::noinline]] uint64_t readFlags() {
  uint64_t value;
  __asm__ volatile("mrs %0, fpsr" : "=r"(value) : : "memory");
  return value;
}

[[gnu::noinline]] void writeFlags(uint64_t value) {
  __asm__ volatile("msr fpsr, %0" : : "r"(value) : "memory");
}

} // namespace

FloatEnvironment::FloatEnvironment()
    : control(readControl()), flags(readFlags()) {
  if (control != ours)
    writeControl(ours);
}

FloatEnvironment::~FloatEnvironment() {
  // Flags first: a trap is for what happens from then on.
  if (readFlags() != flags)
    writeFlags(flags);
  if (readControl() != control)
    writeControl(control);
}

} // namespace kvc::runtime
