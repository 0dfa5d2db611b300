//===- Bandwidth.cpp - how fast this machine reads memory -----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Bandwidth.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace llvm;

namespace kvc::harness {

//===----------------------------------------------------------------------===//
// What the system says
//===----------------------------------------------------------------------===//

/// "32768K" of /sys; 0 where it is not there.
static int64_t cacheOfLevel(int level) {
  const std::string path = "/sys/devices/system/cpu/cpu0/cache/index" +
                           std::to_string(level) + "/size";
  auto file = MemoryBuffer::getFileAsStream(path);
  if (!file)
    return 0;
  StringRef text = (*file)->getBuffer().trim();
  const int64_t unit = text.consume_back("K")   ? 1 << 10
                       : text.consume_back("M") ? 1 << 20
                                                : 1;
  int64_t size = 0;
  return text.getAsInteger(10, size) ? 0 : size * unit;
}

int64_t lastLevelCacheBytes() {
  int64_t most = 0;
  for (int level = 0; level < 5; ++level)
    most = std::max(most, cacheOfLevel(level));
  return most > 0 ? most : int64_t{32} << 20;
}

int64_t memoryBytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// As wide as registers of any machine are; the compiler takes it apart.
using Line = uint64_t __attribute__((vector_size(64)));
/// The least that threads and streams divide, and a huge page.
static constexpr int64_t unit = int64_t{2} << 20;

Bandwidth::Bandwidth(int64_t bytes)
    : size(static_cast<size_t>(alignTo(bytes, unit))) {
  void *mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return;
#ifdef MADV_HUGEPAGE
  // What the memory gives, not what addresses cost. A wish: no error.
  madvise(mapped, size, MADV_HUGEPAGE);
#endif
  std::memset(mapped, 1, size);
  memory = mapped;
}

Bandwidth::~Bandwidth() {
  if (memory)
    munmap(memory, size);
}

/// Reads [0, lines) in so many places side by side.
template <int streams>
static uint64_t readLines(const Line *from, size_t lines) {
  const size_t each = lines / streams;
  Line sums[streams] = {};
  for (size_t i = 0; i < each; ++i)
    for (int stream = 0; stream < streams; ++stream)
      sums[stream] += from[stream * each + i];
  uint64_t sum = 0;
  for (const Line &some : sums)
    for (int i = 0; i < 8; ++i)
      sum += some[i];
  return sum;
}

double Bandwidth::read(int64_t threads, int64_t streams) const {
  if (!memory)
    return 0;
  const auto *lines = static_cast<const Line *>(memory);
  const size_t each = size / sizeof(Line) / static_cast<size_t>(threads);
  std::atomic<int64_t> ready = 0;
  std::atomic<bool> go = false;
  std::atomic<uint64_t> sum = 0;
  auto work = [&](int64_t number) {
    ready.fetch_add(1);
    while (!go.load())
      std::this_thread::yield();
    const Line *from = lines + static_cast<size_t>(number) * each;
    sum += streams == 4 ? readLines<4>(from, each) : readLines<1>(from, each);
  };
  std::vector<std::thread> others;
  for (int64_t number = 1; number < threads; ++number)
    others.emplace_back(work, number);
  while (ready.load() + 1 < threads)
    std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  go = true;
  work(0);
  for (std::thread &other : others)
    other.join();
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  // The sum is asked for, so that nobody leaves the reads out.
  volatile uint64_t seen = sum;
  (void)seen;
  return static_cast<double>(each * static_cast<size_t>(threads) *
                             sizeof(Line)) /
         took.count();
}

} // namespace kvc::harness
