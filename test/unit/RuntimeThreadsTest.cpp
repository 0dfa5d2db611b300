//===- RuntimeThreadsTest.cpp - attention on threads ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever runs the work, each index of it is run once and results are the same
// to the bit. Meant for thread sanitizers too.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTestMirror.h"
#include "RuntimeTestPlatform.h"
#include "compiler/harness/remote/FloatSetting.h"
#include "runtime/Threads.h"

#include <chrono>
#include <memory>
#include <pthread.h>
#include <thread>

using namespace kvc;
using namespace kvc::test;

namespace {

/// Threads that may still be started before one is refused; -1: no end.
std::atomic<int64_t> threadsLeft = -1;

} // namespace

// What the platform's file calls here in the place of pthread_create.
extern "C" int kvc_test_pthread_create(void *thread, const void *attributes,
                                       void *(*function)(void *),
                                       void *argument) {
  constexpr int noResources = 11;
  if (threadsLeft == 0)
    return noResources;
  if (threadsLeft > 0)
    --threadsLeft;
  return pthread_create(static_cast<pthread_t *>(thread),
                        static_cast<const pthread_attr_t *>(attributes),
                        function, argument);
}

namespace {

//===----------------------------------------------------------------------===//
// The pool alone
//===----------------------------------------------------------------------===//

/// A job that counts how often each of its indices is run.
struct Counted {
  static constexpr int64_t most = 16;

  static void body(void *context, int64_t index) {
    ++static_cast<Counted *>(context)->runs[index];
  }
  /// Runs `count` indices; whether each was run once, and no other.
  bool run(const runtime::Executor &executor, int64_t count) {
    for (int64_t &times : runs)
      times = 0;
    executor.run(count, body, this);
    for (int64_t i = 0; i < most; ++i)
      if (runs[i] != (i < count))
        return false;
    return true;
  }

  int64_t runs[most]; // not atomic: whoever runs an index has it to himself
};

void runsEachIndexOnce() {
  runtime::Allocator memory = {};
  runtime::Executor executor = {runtime::openPool(3, memory), nullptr, nullptr};
  CHECK(executor.hasThreads());
  Counted counted;
  int64_t good = 0;
  for (int64_t job = 0; job < 100'000; ++job)
    good += counted.run(executor, job % Counted::most);
  CHECK_EQ(good, 100'000);
  // With pauses in which all go to sleep, and jobs that come meanwhile.
  for (int64_t job = 0; job < 300; ++job) {
    std::this_thread::sleep_for(std::chrono::microseconds(job * 7 % 400));
    CHECK(counted.run(executor, 2 + job % 3));
  }
  runtime::closePool(executor.pool, memory);
  runtime::closePool(nullptr, memory);
}

/// Pools that end before, while and after their threads fall asleep.
void opensAndCloses() {
  runtime::Allocator memory = {};
  const int64_t before = liveBlocks;
  for (int64_t i = 0; i < 300; ++i) {
    runtime::Executor executor = {runtime::openPool(2 + i % 5, memory), nullptr,
                                  nullptr};
    Counted counted;
    for (int64_t job = 0; job < i % 3; ++job)
      CHECK(counted.run(executor, 4));
    if (i % 7 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(i * 5));
    runtime::closePool(executor.pool, memory);
  }
  CHECK_EQ(liveBlocks, before);
}

/// Threads start with the float settings of whoever starts them.
void setsTheFloatsOfItsThreads() {
  struct Job {
    pthread_t caller = pthread_self();
    std::atomic<int64_t> elsewhere = 0, wrong = 0;

    static void body(void *context, int64_t) {
      Job &job = *static_cast<Job *>(context);
      if (pthread_equal(pthread_self(), job.caller)) {
        while (job.elsewhere == 0)
          std::this_thread::yield();
        return;
      }
      job.wrong += kvc_floats_read().control !=
                   kvc_floats_control(KVC_FLOATS_AS_THEY_ARE);
      ++job.elsewhere;
    }
  } job;
  runtime::Allocator memory = {};
  const kvc_float_registers mine = kvc_floats_read();
  kvc_floats_set(KVC_FLOATS_UP);
  runtime::Executor executor = {runtime::openPool(3, memory), nullptr, nullptr};
  kvc_floats_write(mine);
  executor.run(8, Job::body, &job);
  CHECK(job.elsewhere > 0);
  CHECK_EQ(job.wrong, 0);
  runtime::closePool(executor.pool, memory);
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

/// Some of everything: a long cache that is cut in parts, codes, readers,
/// several caches at once. All that came out, in order.
std::vector<float> work(const kvc_options &options, int64_t scale) {
  Cache cache(options), other(options);
  std::vector<float> all;
  auto keep = [&](const Tokens &tokens) {
    all.insert(all.end(), tokens.out.begin(), tokens.out.end());
    all.insert(all.end(), tokens.lse.begin(), tokens.lse.end());
  };
  Tokens most(AllFloats, 0, 25 * scale), rest(AllFloats, 25 * scale, 3);
  CHECK_EQ(append(most.append(cache)), KVC_OK);
  CHECK_EQ(prefill(rest.chunk(cache)), KVC_OK);
  keep(rest);
  Tokens asked(AllReader, 25 * scale - 4, 7), parts(AllFloats, 20 * scale, 9);
  CHECK_EQ(prefill(asked.chunk(cache)), KVC_OK);
  CHECK_EQ(attend(parts.query(cache, scale, 24 * scale)), KVC_OK);
  keep(asked);
  keep(parts);
  for (int64_t t = 0; t < scale; t += 4) {
    Tokens coded(StreamCoded, t, 4), narrow(Narrow, t, 4), sunk(Sunk, t, 4);
    kvc_chunk chunks[] = {coded.chunk(cache), narrow.chunk(other),
                          sunk.chunk(cache)};
    CHECK_EQ(library().prefill(chunks, 3), KVC_OK);
    Tokens reader(StreamReader, t, 4);
    CHECK_EQ(prefill(reader.chunk(cache)), KVC_OK);
    for (const Tokens *tokens : {&coded, &narrow, &sunk, &reader})
      keep(*tokens);
  }
  return all;
}

/// A parallel-for of the caller, which sees what it is asked for.
struct Loop {
  std::atomic<int64_t> calls = 0, indices = 0, smallest = INT64_MAX;

  kvc_options options(kvc_parallel_for function) {
    kvc_options options = goodOptions();
    options.parallel_for = function;
    options.parallel_for_user = this;
    return options;
  }
  void count(int64_t indicesOfCall) {
    ++calls;
    indices += indicesOfCall;
    smallest = std::min<int64_t>(smallest, indicesOfCall);
  }

  static void backwards(void *user, int64_t count, kvc_body body,
                        void *context) {
    static_cast<Loop *>(user)->count(count);
    while (count-- > 0)
      body(context, count);
  }
  /// A thread takes every third index, the caller's none.
  static void onThreads(void *user, int64_t count, kvc_body body,
                        void *context) {
    static_cast<Loop *>(user)->count(count);
    std::vector<std::thread> threads;
    for (int64_t first = 0; first < 3; ++first)
      threads.emplace_back([=] {
        for (int64_t i = first; i < count; i += 3)
          body(context, i);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
};

void givesTheSameBits() {
  const std::vector<float> expected = work(goodOptions(), 100);
  CHECK(expected.size() > 1000);
  for (int32_t threads : {0, 1, 2, 3, 7}) {
    kvc_options options = goodOptions();
    options.threads = threads;
    for (int64_t round = 0; round < 3; ++round)
      CHECK(work(options, 100) == expected);
  }
  Loop backwards, onThreads;
  CHECK(work(backwards.options(Loop::backwards), 100) == expected);
  CHECK(work(onThreads.options(Loop::onThreads), 100) == expected);
  CHECK_EQ(backwards.calls, onThreads.calls);
  CHECK_EQ(backwards.indices, onThreads.indices);
  CHECK(backwards.calls > 50);
  CHECK(backwards.smallest > 1); // a single one is the caller's own
}

/// Of several caches in one call the first that has threads lends them.
void lendsThreads() {
  Loop loop, second;
  Cache none, some(loop.options(Loop::backwards)),
      more(second.options(Loop::backwards));
  Tokens a(Sunk, 0, 2), b(Sunk, 0, 2), c(Sunk, 0, 2);
  kvc_chunk chunks[] = {a.chunk(none), b.chunk(some), c.chunk(more)};
  CHECK_EQ(library().prefill(chunks, 3), KVC_OK);
  for (const Tokens *tokens : {&a, &b, &c})
    tokens->checkOutputs(0);
  CHECK_EQ(loop.calls, 1);
  CHECK_EQ(loop.indices, 3 * kvHeads);
  CHECK_EQ(second.calls, 0);
}

void takesSoManyThreads() {
  char text[200];
  auto create = [&](int64_t threads, kvc_parallel_for function = nullptr) {
    kvc_options options = goodOptions();
    options.threads = static_cast<int32_t>(threads);
    options.parallel_for = function;
    options.error = text;
    options.error_size = sizeof(text);
    kvc_status status;
    Cache cache(options, status);
    if (status == KVC_OK) {
      Tokens tokens(Sunk, 0, 9);
      CHECK_EQ(prefill(tokens.chunk(cache)), KVC_OK);
      tokens.checkOutputs(0);
    }
    return status;
  };
  for (int64_t threads : {0, 1, 2, 7, 256}) {
    CHECK_EQ(create(threads), KVC_OK);
    CHECK_EQ(std::string(text), "");
  }
  for (int64_t threads :
       {int64_t{-1}, int64_t{257}, int64_t{INT32_MIN}, int64_t{INT32_MAX}}) {
    CHECK_EQ(create(threads), KVC_INVALID_ARGUMENT);
    CHECK_EQ(std::string(text),
             "threads is " + std::to_string(threads) + "; it is 0 to 256");
  }
  CHECK_EQ(create(2, Loop::backwards), KVC_INVALID_ARGUMENT);
  CHECK_EQ(std::string(text), "threads is 2, and there is a parallel_for: one "
                              "of them is wanted");
  // Threads that cannot be had: none of them stays.
  const int64_t before = liveBlocks;
  for (int64_t left = 0; left < 6; ++left) {
    threadsLeft = left;
    CHECK_EQ(create(7), KVC_OUT_OF_MEMORY);
    threadsLeft = -1;
    CHECK_EQ(std::string(text), "no memory for a cache, or no thread for one "
                                "of its 7");
    CHECK_EQ(liveBlocks, before);
  }
  threadsLeft = 6;
  CHECK_EQ(create(7), KVC_OK);
  threadsLeft = -1;
}

void createsAndDestroys() {
  const int64_t before = liveBlocks;
  for (int64_t i = 0; i < 300; ++i) {
    kvc_options options = goodOptions();
    options.threads = static_cast<int32_t>(2 + i % 4);
    Cache cache(options);
    if (i % 3 == 0)
      continue;
    Tokens tokens(Sunk, 0, 1 + i % 9);
    CHECK_EQ(prefill(tokens.chunk(cache)), KVC_OK);
    tokens.checkOutputs(0);
  }
  CHECK_EQ(liveBlocks, before);
}

/// Distinct caches from distinct threads at once, each with a pool of its own
/// or on its caller's thread.
void worksSideBySide() {
  const std::vector<float> expected = work(goodOptions(), 40);
  std::atomic<int64_t> good = 0;
  std::vector<std::thread> threads;
  for (int32_t number = 0; number < 5; ++number)
    threads.emplace_back([&, number] {
      kvc_options options = goodOptions();
      options.threads = number;
      for (int64_t round = 0; round < 4; ++round)
        good += work(options, 40) == expected;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK_EQ(good, 20);
}

} // namespace

int main() {
  runsEachIndexOnce();
  opensAndCloses();
  setsTheFloatsOfItsThreads();
  givesTheSameBits();
  lendsThreads();
  takesSoManyThreads();
  createsAndDestroys();
  worksSideBySide();
  CHECK_EQ(missingPages, 0);
  CHECK_EQ(liveBlocks, 0);
  return checkResult();
}
