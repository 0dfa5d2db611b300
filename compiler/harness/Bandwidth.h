//===- Bandwidth.h - how fast this machine reads memory ---------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_BANDWIDTH_H
#define KVC_COMPILER_HARNESS_BANDWIDTH_H

#include <cstddef>
#include <cstdint>

namespace kvc::harness {

/// Bytes of the last-level cache, as the system says; 32 MiB where it does not.
int64_t lastLevelCacheBytes();

/// Bytes of memory that this machine has.
int64_t memoryBytes();

/// A buffer that no cache holds, and reads of it that do nothing else.
class Bandwidth {
public:
  /// `bytes` is rounded up to what threads and streams divide.
  explicit Bandwidth(int64_t bytes);
  Bandwidth(const Bandwidth &) = delete;
  Bandwidth &operator=(const Bandwidth &) = delete;
  ~Bandwidth();

  /// Bytes a second that `threads` threads read, each its own part of the
  /// buffer once, in `streams` places side by side: 1 or 4.
  double read(int64_t threads, int64_t streams) const;

private:
  void *memory = nullptr;
  size_t size;
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_BANDWIDTH_H
