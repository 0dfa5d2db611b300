//===- FencedMemory.h - a caller's memory, as bad as may be -----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_FENCEDMEMORY_H
#define KVC_TEST_UNIT_FENCEDMEMORY_H

#include "Check.h"
#include "kvc/kvc.h"

#include <cstdlib>
#include <cstring>
#include <map>

namespace kvc::test {

/// Memory that is counted; each block stands between fences.
class Memory {
public:
  static constexpr size_t fence = 64;

  /// Blocks before one is refused, once; -1: none is.
  int64_t refuseAfter = -1;
  int64_t refused = 0;
  int64_t given = 0;

  ~Memory() { CHECK(blocks.empty()); }

  /// Caches made with the options live in this memory.
  void serve(kvc_options &options) {
    options.allocate = [](void *user, size_t bytes, size_t alignment) {
      return static_cast<Memory *>(user)->allocate(bytes, alignment);
    };
    options.release = [](void *user, void *memory) {
      static_cast<Memory *>(user)->release(memory);
    };
    options.allocator_user = this;
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

} // namespace kvc::test

#endif // KVC_TEST_UNIT_FENCEDMEMORY_H
