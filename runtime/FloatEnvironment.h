//===- FloatEnvironment.h - what floats are computed under ------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread's rounding, its treatment of subnormal numbers and its traps are the
// host's to set, and the host may have set any. The library computes under
// IEEE 754's own: rounded to nearest even, subnormals kept, no traps. Whoever
// enters it lives under that, and leaves what was there: Library.cpp for the
// threads that call, Threads.cpp for all others.
//
// By one file an architecture (FloatEnvironmentX86.cpp,
// FloatEnvironmentArm.cpp), compiled for any CPU of it.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_FLOATENVIRONMENT_H
#define KVC_RUNTIME_FLOATENVIRONMENT_H

#include <stdint.h>

namespace kvc::runtime {

/// While one lives, its thread computes under the library's environment; then
/// under what it had before, its exception flags included. Registers are
/// written only where they differ: reading them is far cheaper.
///
/// A compiler may move arithmetic past either end, but no load and no store:
/// what is computed in between is of values in memory, to memory.
class FloatEnvironment {
public:
  FloatEnvironment();
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment &) = delete;
  FloatEnvironment &operator=(const FloatEnvironment &) = delete;

private:
  uint64_t control, flags; ///< as they were
};

} // namespace kvc::runtime

#endif // KVC_RUNTIME_FLOATENVIRONMENT_H
