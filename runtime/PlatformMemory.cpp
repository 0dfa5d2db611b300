//===- PlatformMemory.cpp - memory of POSIX platforms -----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C library's allocator, declared here because the runtime is compiled
// without a platform's headers. aligned_alloc is in macOS from 10.15 on.
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

} // namespace kvc::runtime
