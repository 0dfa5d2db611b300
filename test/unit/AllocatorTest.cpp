//===- AllocatorTest.cpp - caches in the caller's memory --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that a cache holds comes from the caller, whose memory is as bad as it
// may be: never zero, aligned no better than asked for, and short at any time.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTestMirror.h"
#include "RuntimeTestPlatform.h"

#include <cstdlib>
#include <cstring>
#include <map>

using namespace kvc;
using namespace kvc::test;

namespace {

/// Memory that is counted; each block stands between fences.
class Memory {
public:
  static constexpr size_t fence = 64;

  /// Blocks before one is refused, once; -1: none is.
  int64_t refuseAfter = -1;
  int64_t refused = 0;
  int64_t given = 0;

  ~Memory() { CHECK(blocks.empty()); }

  kvc_options options() {
    kvc_options options = goodOptions();
    options.allocate = [](void *user, size_t bytes, size_t alignment) {
      return static_cast<Memory *>(user)->allocate(bytes, alignment);
    };
    options.release = [](void *user, void *memory) {
      static_cast<Memory *>(user)->release(memory);
    };
    options.allocator_user = this;
    return options;
  }

  size_t live() const { return blocks.size(); }

private:
  struct Block {
    char *start;
    size_t bytes;
  };

  void *allocate(size_t bytes, size_t alignment) {
    CHECK(bytes > 0 && alignment > 0 && alignment <= 64);
    CHECK_EQ(alignment & (alignment - 1), size_t{0});
    if (refuseAfter == 0) {
      refuseAfter = -1;
      ++refused;
      return nullptr;
    }
    if (refuseAfter > 0)
      --refuseAfter;
    ++given;
    // An odd multiple of the alignment, in memory full of NaN.
    const size_t all = (bytes + alignment + 3 * fence + 127) / 128 * 128;
    char *start = static_cast<char *>(std::aligned_alloc(128, all));
    std::memset(start, 0xff, all);
    char *memory = start + fence + (alignment < 64 ? alignment : 0);
    blocks[memory] = {start, bytes};
    return memory;
  }

  void release(void *memory) {
    auto block = blocks.find(static_cast<char *>(memory));
    if (!CHECK(block != blocks.end()))
      return;
    auto [start, bytes] = block->second;
    for (size_t i = 0; i < fence; ++i) {
      CHECK_EQ(block->first[bytes + i], '\xff');
      CHECK_EQ(block->first[-1 - static_cast<int64_t>(i)], '\xff');
    }
    std::free(start);
    blocks.erase(block);
  }

  std::map<char *, Block> blocks;
};

constexpr int32_t owners[] = {AllFloats, StreamCoded, Narrow};

/// A whole sequence in the caller's memory is right, and all of it is there.
void holdsAllInTheCallersMemory() {
  Memory memory;
  const int64_t before = allocations;
  {
    kvc_status status;
    Cache cache(memory.options(), status);
    CHECK_EQ(status, KVC_OK);
    for (int64_t t = 0; t < 60; ++t)
      for (int32_t layer : owners) {
        Token token(t);
        CHECK_EQ(decode(token.step(cache, layer, t)), KVC_OK);
        checkOutput(token, layer, t + 1, 0);
        checkRead(cache, layer, t + 1, 7);
        checkStats(cache, layer, t + 1);
      }
    CHECK(memory.given > 20);
    CHECK_EQ(memory.live(), static_cast<size_t>(memory.given));
  }
  CHECK_EQ(memory.live(), size_t{0});
  CHECK_EQ(allocations, before);
}

/// A create that meets a refusal gives everything back.
void createsWhole() {
  int64_t n = 0;
  for (;; ++n) {
    Memory memory;
    memory.refuseAfter = n;
    kvc_status status;
    Cache cache(memory.options(), status);
    if (status == KVC_OK)
      break;
    CHECK_EQ(status, KVC_OUT_OF_MEMORY);
    CHECK_EQ(memory.live(), size_t{0});
  }
  CHECK(n > 5);
}

/// The n-th block of a sequence is refused, for each n: the step that meets it
/// changes nothing, and repeated it goes as if nothing had been.
void staysAsItWas() {
  for (int64_t n = 0;; ++n) {
    Memory memory;
    kvc_status status;
    Cache cache(memory.options(), status);
    CHECK_EQ(status, KVC_OK);
    memory.refuseAfter = n;
    for (int64_t t = 0; t < 40; ++t)
      for (int32_t layer : owners) {
        Token token(t);
        status = decode(token.step(cache, layer, t));
        if (status != KVC_OK) {
          CHECK_EQ(status, KVC_OUT_OF_MEMORY);
          CHECK(cache.error().find("no memory for a page") !=
                std::string::npos);
          CHECK_EQ(cache.stats(layer).seen, t);
          checkRead(cache, layer, t, 7);
          CHECK_EQ(decode(token.step(cache, layer, t)), KVC_OK);
        }
        checkOutput(token, layer, t + 1, 0);
      }
    for (int32_t layer : owners) {
      checkStats(cache, layer, 40);
      checkRead(cache, layer, 40, 40);
    }
    if (!memory.refused) {
      CHECK(n > 10);
      return;
    }
  }
}

void takesBothOrNeither() {
  Memory memory;
  kvc_status status;
  kvc_options options = memory.options();
  options.release = nullptr;
  Cache first(options, status);
  CHECK_EQ(status, KVC_INVALID_ARGUMENT);
  options = memory.options();
  options.allocate = nullptr;
  Cache second(options, status);
  CHECK_EQ(status, KVC_INVALID_ARGUMENT);
  // Options that end before the allocator have none.
  options = memory.options();
  options.size = offsetof(kvc_options, allocate);
  Cache third(options, status);
  CHECK_EQ(status, KVC_OK);
  CHECK_EQ(memory.given, 0);
}

} // namespace

int main() {
  holdsAllInTheCallersMemory();
  createsWhole();
  staysAsItWas();
  takesBothOrNeither();
  CHECK_EQ(liveBlocks, 0);
  return checkResult();
}
