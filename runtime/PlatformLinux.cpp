//===- PlatformLinux.cpp - what is Linux's own ------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C library's allocator and error number, declared here because the runtime
// is compiled without the platform's headers.
//
//===----------------------------------------------------------------------===//

#include "runtime/Platform.h"

extern "C" {
void *aligned_alloc(size_t alignment, size_t size) noexcept;
void *calloc(size_t count, size_t size) noexcept;
void free(void *memory) noexcept;
int *__errno_location() noexcept;
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

// free() has done so with all that was large or last.
void returnMemory() {}

int64_t fileError() { return *__errno_location(); }

} // namespace kvc::runtime
