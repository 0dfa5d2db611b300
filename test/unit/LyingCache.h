//===- LyingCache.h - what the library that lies keeps ----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_LYINGCACHE_H
#define KVC_TEST_UNIT_LYINGCACHE_H

#include "kvc/kvc.h"
#include "test/unit/LyingLibrary.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace kvc::test {

constexpr int64_t dim = 4, kvHeads = 2;

struct Shape {
  int32_t heads, owner;
  int64_t sinks, window, limit; ///< window 0: all; limit 0: none
  bool inCache;
};
// Layer 1 reads layer 0; layer 2 keeps all, up to 9 tokens, and rotates
// nothing.
constexpr Shape shapes[3] = {
    {4, 0, 2, 5, 0, true}, {2, 0, 2, 5, 0, true}, {2, 2, 0, 0, 9, false}};

struct Token {
  int64_t index;
  float k[kvHeads * dim], v[kvHeads * dim];
};

struct Layer {
  std::vector<Token> tokens;
  int64_t seen = 0;
  int64_t most = 0; ///< the longest that its pages were needed for
};

inline Lie lie() {
  const char *value = std::getenv("KVC_TEST_LIE");
  return value ? static_cast<Lie>(std::atoi(value)) : Lie::None;
}

} // namespace kvc::test

struct kvc_cache {
  int64_t first = 0;
  kvc_options options = {};
  kvc::test::Layer layers[3];
  const char *error = "";
};

namespace kvc::test {

inline kvc_status fail(kvc_cache &cache, kvc_status status, const char *why) {
  cache.error = why;
  return status;
}

/// The first token that is no sink and stored at a length.
inline int64_t firstLive(const Shape &shape, int64_t length) {
  return shape.window ? std::max(shape.sinks, length - shape.window)
                      : shape.sinks;
}

/// Whether tokens [from, to) of what was stored at a length are there.
inline bool isThere(const Layer &layer, const Shape &shape, int64_t length,
                    int64_t from, int64_t to) {
  const int64_t begin = std::max(from, firstLive(shape, length));
  return begin >= std::min(to, length) || begin >= firstLive(shape, layer.seen);
}

// LyingOperations.cpp

kvc_status reset(kvc_cache *cache);
kvc_status truncate(kvc_cache *cache, int64_t tokens);
kvc_status fork(kvc_cache *cache, const kvc_options *options, kvc_cache **out);
kvc_status save(kvc_cache *cache, const char *path);
kvc_status load(kvc_cache *cache, const char *path);
kvc_status saveTo(kvc_cache *cache, kvc_write write, void *user);
kvc_status loadFrom(kvc_cache *cache, kvc_read read, void *user);

} // namespace kvc::test

#endif // KVC_TEST_UNIT_LYINGCACHE_H
