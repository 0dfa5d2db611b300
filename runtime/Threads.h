//===- Threads.h - the threads that attention runs on -----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is done for one index never depends on which thread does it, nor on
// how many there are.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_THREADS_H
#define KVC_RUNTIME_THREADS_H

#include "kvc/kvc.h"
#include "runtime/Allocator.h"

namespace kvc::runtime {

class Pool;

/// Runs bodies for a range of indices: on the caller's thread, on a pool of
/// our own, or by the caller's parallel-for.
struct Executor {
  Pool *pool;
  kvc_parallel_for parallelFor;
  void *user;

  bool hasThreads() const { return pool || parallelFor; }
  void run(int64_t count, kvc_body body, void *context) const;
};

/// A pool in which `threads` - 1 wait beside the caller's; null where there
/// is no memory or no thread to be had.
Pool *openPool(int64_t threads, const Allocator &memory);
/// Null is allowed.
void closePool(Pool *pool, const Allocator &memory);

} // namespace kvc::runtime

#endif // KVC_RUNTIME_THREADS_H
