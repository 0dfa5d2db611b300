//===- Threads.cpp - the threads that attention runs on ---------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job is a body and a count; whoever is free takes the next index. The gate
// counts the workers that look at the job: it opens when the job is there, and
// the caller closes it when all indices are taken and all workers are out,
// which is when all is done; a worker which comes late finds it closed. The
// mutex serves to sleep and to wake.
//
//===----------------------------------------------------------------------===//

#include "runtime/Threads.h"

#include "runtime/FloatEnvironment.h"
#include "runtime/Platform.h"

namespace kvc::runtime {

namespace {

/// How often one looks for work before it goes to sleep; some ten
/// microseconds, about the time between two layers.
constexpr int spins = 2000;

constexpr int64_t gateClosed = -1;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

int64_t load(const int64_t &value) {
  return __atomic_load_n(&value, __ATOMIC_ACQUIRE);
}

} // namespace

class Pool {
public:
  bool open(int64_t threads, const Allocator &memory);
  void close(const Allocator &memory);
  void run(int64_t count, kvc_body body, void *context);

private:
  static void *work(void *pool);
  bool enter();
  void takeIndices();
  /// Waits until there is a job later than `known`, or the end.
  int64_t waitForJob(int64_t known);

  // The job.
  kvc_body body;
  void *context;
  int64_t count;
  int64_t next; ///< index that nobody has taken yet

  int64_t gate; ///< workers inside; gateClosed: none may enter
  int64_t jobs; ///< how many there were so far
  int64_t asleep;
  bool ends;

  Mutex mutex;
  Condition awake;
  int64_t workers;
  Thread *threads;
};

bool Pool::enter() {
  int64_t inside = load(gate);
  while (inside != gateClosed)
    if (__atomic_compare_exchange_n(&gate, &inside, inside + 1, false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
      return true;
  return false;
}

void Pool::takeIndices() {
  for (;;) {
    int64_t index = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
    if (index >= count)
      return;
    body(context, index);
  }
}

int64_t Pool::waitForJob(int64_t known) {
  for (int i = 0; i < spins; ++i, pause())
    if (load(jobs) != known)
      return load(jobs);
  mutex.lock();
  __atomic_fetch_add(&asleep, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&jobs, __ATOMIC_SEQ_CST) == known)
    awake.wait(mutex);
  __atomic_fetch_sub(&asleep, 1, __ATOMIC_SEQ_CST);
  mutex.unlock();
  return load(jobs);
}

void *Pool::work(void *argument) {
  FloatEnvironment ours;
  Pool &pool = *static_cast<Pool *>(argument);
  for (int64_t known = 0;;) {
    known = pool.waitForJob(known);
    if (__atomic_load_n(&pool.ends, __ATOMIC_ACQUIRE))
      return nullptr;
    if (!pool.enter())
      continue;
    pool.takeIndices();
    __atomic_fetch_sub(&pool.gate, 1, __ATOMIC_RELEASE);
  }
}

void Pool::run(int64_t itsCount, kvc_body itsBody, void *itsContext) {
  body = itsBody;
  context = itsContext;
  count = itsCount;
  __atomic_store_n(&next, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&gate, 0, __ATOMIC_RELEASE);
  __atomic_fetch_add(&jobs, 1, __ATOMIC_SEQ_CST);
  // Who is about to sleep has counted itself before it looks again for a job.
  if (__atomic_load_n(&asleep, __ATOMIC_SEQ_CST) > 0) {
    mutex.lock();
    awake.wakeAll();
    mutex.unlock();
  }
  takeIndices();
  for (int64_t i = 0;; ++i) {
    int64_t inside = 0;
    if (__atomic_compare_exchange_n(&gate, &inside, gateClosed, false,
                                    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return;
    i < spins ? pause() : yieldThread();
  }
}

bool Pool::open(int64_t itsThreads, const Allocator &memory) {
  gate = gateClosed;
  if (!mutex.open())
    return false;
  if (!awake.open()) {
    mutex.close();
    return false;
  }
  threads = static_cast<Thread *>(
      memory.table(static_cast<size_t>(itsThreads), sizeof(Thread)));
  if (threads)
    while (workers < itsThreads - 1 && threads[workers].start(work, this))
      ++workers;
  if (threads && workers == itsThreads - 1)
    return true;
  close(memory);
  return false;
}

void Pool::close(const Allocator &memory) {
  mutex.lock();
  __atomic_store_n(&ends, true, __ATOMIC_RELEASE);
  __atomic_fetch_add(&jobs, 1, __ATOMIC_SEQ_CST);
  awake.wakeAll();
  mutex.unlock();
  for (int64_t i = 0; i < workers; ++i)
    threads[i].join();
  awake.close();
  mutex.close();
  memory.give(threads);
}

Pool *openPool(int64_t threads, const Allocator &memory) {
  Pool *pool = static_cast<Pool *>(memory.table(1, sizeof(Pool)));
  if (pool && pool->open(threads, memory))
    return pool;
  memory.give(pool);
  return nullptr;
}

void closePool(Pool *pool, const Allocator &memory) {
  if (!pool)
    return;
  pool->close(memory);
  memory.give(pool);
}

namespace {

/// A job for threads of the caller's, whose float environments are theirs.
struct ForeignJob {
  kvc_body body;
  void *context;

  static void run(void *job, int64_t index) {
    FloatEnvironment ours;
    const ForeignJob &mine = *static_cast<const ForeignJob *>(job);
    mine.body(mine.context, index);
  }
};

} // namespace

void Executor::run(int64_t count, kvc_body body, void *context) const {
  if (count > 1 && parallelFor) {
    ForeignJob job = {body, context};
    return parallelFor(user, count, ForeignJob::run, &job);
  }
  if (count > 1 && pool)
    return pool->run(count, body, context);
  for (int64_t i = 0; i < count; ++i)
    body(context, i);
}

} // namespace kvc::runtime
