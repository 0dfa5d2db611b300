//===- RuntimeTestPlatform.h - a platform that can run short ----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linked in place of the runtime's own platform, whose functions it wraps:
// memory is counted and can be refused, CPU features can be hidden.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_RUNTIMETESTPLATFORM_H
#define KVC_TEST_UNIT_RUNTIMETESTPLATFORM_H

#include <atomic>
#include <cstdint>

namespace kvc::test {

/// Blocks given out and not given back.
extern std::atomic<int64_t> liveBlocks;
/// Blocks given out since the start.
extern std::atomic<int64_t> allocations;
/// How many more blocks there are before one is refused; -1: no end.
extern std::atomic<int64_t> blocksLeft;
/// Features that cpuFeatures() keeps to itself.
extern std::atomic<int64_t> hiddenFeatures;
/// How often memory was returned to the system.
extern std::atomic<int64_t> returns;

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIMETESTPLATFORM_H
