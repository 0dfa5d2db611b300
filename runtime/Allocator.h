//===- Allocator.h - where a cache's memory comes from ----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The platform's memory, or that of kvc_options. Every cache has one, and all
// that it holds comes from there.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_ALLOCATOR_H
#define KVC_RUNTIME_ALLOCATOR_H

#include <stddef.h>
#include <stdint.h>

namespace kvc::runtime {

struct Allocator {
  /// Null: the platform's (Platform.h), as are all zero bytes.
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *memory);
  void *user;

  /// `bytes` (at least 1) of zeros, 64-byte aligned; null where there are none.
  void *page(size_t bytes) const;
  /// `count * bytes` bytes of zeros (both at least 1), aligned for any type.
  void *table(size_t count, size_t bytes) const;
  /// What either gave; null is allowed.
  void give(void *memory) const;
  /// `bytes` were given back, and none of them is asked for again soon: where
  /// they are many, and the platform's, the system gets them.
  void settle(int64_t bytes) const;
  /// What a process may keep of what was given back.
  static constexpr int64_t Kept = int64_t{4} << 20;
};

} // namespace kvc::runtime

#endif // KVC_RUNTIME_ALLOCATOR_H
