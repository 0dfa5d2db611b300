//===- Allocator.cpp - where a cache's memory comes from --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Allocator.h"

#include "runtime/Platform.h"

namespace kvc::runtime {

/// Zeros from the caller, of whom that is not asked.
static void *zeros(const Allocator &from, size_t bytes, size_t alignment) {
  void *memory = from.allocate(from.user, bytes, alignment);
  if (memory)
    __builtin_memset(memory, 0, bytes);
  return memory;
}

void *Allocator::page(size_t bytes) const {
  return allocate ? zeros(*this, bytes, 64) : allocatePage(bytes);
}

void *Allocator::table(size_t count, size_t bytes) const {
  if (!allocate)
    return allocateTable(count, bytes);
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all))
    return nullptr;
  return zeros(*this, all, alignof(max_align_t));
}

void Allocator::give(void *memory) const {
  if (!allocate)
    runtime::release(memory);
  else if (memory)
    release(user, memory);
}

void Allocator::settle(int64_t bytes) const {
  if (!allocate && bytes >= Kept)
    returnMemory();
}

} // namespace kvc::runtime
