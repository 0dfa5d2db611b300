//===- PlatformThreads.cpp - threads by pthread -----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declared here as POSIX has it, since the runtime is compiled without a
// platform's headers. The types are opaque: glibc's pthread_mutex_t and
// pthread_cond_t have at most 48 bytes on 64-bit machines, Darwin's 64 and 48;
// pthread_attr_t has 56 or 64, Darwin's 64; pthread_t is a pointer or as large
// as one; pthread_key_t has 32 bits, Darwin's 64, and an argument is a
// register.
//
// Compiled for any CPU of the architecture: what a CPU lacks is told by texts
// of threads.
//
//===----------------------------------------------------------------------===//

#include "runtime/Platform.h"

extern "C" {
int pthread_mutex_init(void *mutex, const void *attributes) noexcept;
int pthread_mutex_destroy(void *mutex) noexcept;
int pthread_mutex_lock(void *mutex) noexcept;
int pthread_mutex_unlock(void *mutex) noexcept;
int pthread_cond_init(void *condition, const void *attributes) noexcept;
int pthread_cond_destroy(void *condition) noexcept;
int pthread_cond_wait(void *condition, void *mutex);
int pthread_cond_broadcast(void *condition) noexcept;
int pthread_attr_init(void *attributes) noexcept;
int pthread_attr_setstacksize(void *attributes, size_t bytes) noexcept;
int pthread_attr_destroy(void *attributes) noexcept;
int pthread_create(void **thread, const void *attributes,
                   void *(*function)(void *), void *argument) noexcept;
int pthread_join(void *thread, void **result);
int pthread_key_create(uint64_t *key, void (*end)(void *)) noexcept;
void *pthread_getspecific(uint64_t key) noexcept;
int pthread_setspecific(uint64_t key, const void *value) noexcept;
int sched_yield() noexcept;
void *calloc(size_t count, size_t bytes) noexcept;
void free(void *memory) noexcept;
}

namespace kvc::runtime {

bool Mutex::open() { return pthread_mutex_init(storage, nullptr) == 0; }
void Mutex::close() { pthread_mutex_destroy(storage); }
void Mutex::lock() { pthread_mutex_lock(storage); }
void Mutex::unlock() { pthread_mutex_unlock(storage); }

bool Condition::open() { return pthread_cond_init(storage, nullptr) == 0; }
void Condition::close() { pthread_cond_destroy(storage); }
void Condition::wait(Mutex &mutex) {
  pthread_cond_wait(storage, mutex.storage);
}
void Condition::wakeAll() { pthread_cond_broadcast(storage); }

bool Thread::start(void *(*function)(void *), void *argument) {
  // As much as a process's first thread has. Other threads have less on some
  // platforms (512 KiB on Darwin), and kernels of large shapes want more.
  constexpr size_t stack = size_t{8} << 20;
  alignas(16) char attributes[64];
  if (pthread_attr_init(attributes) != 0)
    return false;
  const bool started =
      pthread_attr_setstacksize(attributes, stack) == 0 &&
      pthread_create(&handle, attributes, function, argument) == 0;
  pthread_attr_destroy(attributes);
  return started;
}
void Thread::join() { pthread_join(handle, nullptr); }

void yieldThread() { sched_yield(); }

namespace {

/// The key of threadBytes, made by whoever asks first. No thread-local
/// variable: platforms have too many ways to reach one from a library that is
/// opened.
enum KeyState { Unmade, BeingMade, Made };
int keyState = Unmade;
uint64_t key;

bool isKeyMade() {
  return __atomic_load_n(&keyState, __ATOMIC_ACQUIRE) == Made;
}

/// False where there are too many keys: who asks next tries again.
bool makeKey() {
  while (!isKeyMade()) {
    int state = Unmade;
    if (!__atomic_compare_exchange_n(&keyState, &state, BeingMade, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
      yieldThread();
      continue;
    }
    // Threads may end when this library is closed: the C library's own frees.
    const bool made = pthread_key_create(&key, free) == 0;
    __atomic_store_n(&keyState, made ? Made : Unmade, __ATOMIC_RELEASE);
    if (!made)
      return false;
  }
  return true;
}

} // namespace

void *threadBytes(size_t bytes, bool make) {
  if (make ? !makeKey() : !isKeyMade())
    return nullptr;
  void *mine = pthread_getspecific(key);
  if (mine || !make)
    return mine;
  mine = calloc(1, bytes);
  if (mine && pthread_setspecific(key, mine) == 0)
    return mine;
  free(mine);
  return nullptr;
}

} // namespace kvc::runtime
