//===- RuntimeTestMirror.h - what the model must answer ---------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Drives the function table as an embedder does, and computes anew from all
// tokens, without pages, what a layer of RuntimeTestModel.h must store, answer
// and hold.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_RUNTIMETESTMIRROR_H
#define KVC_TEST_UNIT_RUNTIMETESTMIRROR_H

#include "Check.h"
#include "RuntimeTestModel.h"
#include "runtime/Library.h"

#include <array>
#include <string>

namespace kvc::test {

inline const kvc_library_table &library() { return *kvc_runtime_table(); }

/// A cache that gives everything back at the end.
class Cache {
public:
  explicit Cache(int64_t firstPosition = 0) : first(firstPosition) {
    kvc_options options = {};
    options.size = sizeof(options);
    options.first_position = firstPosition;
    CHECK_EQ(library().create(&options, &cache), KVC_OK);
  }
  /// Of `options`; where it cannot be made, `status` says why.
  Cache(const kvc_options &options, kvc_status &status)
      : first(options.first_position) {
    status = library().create(&options, &cache);
  }
  ~Cache() { library().destroy(cache); }
  Cache(const Cache &) = delete;
  Cache &operator=(const Cache &) = delete;

  operator kvc_cache *() const { return cache; }
  std::string error() const { return library().last_error(cache); }
  kvc_stats stats(int32_t layer) const {
    kvc_stats stats;
    CHECK_EQ(library().stats(cache, layer, &stats), KVC_OK);
    return stats;
  }

  const int64_t first;

private:
  kvc_cache *cache = nullptr;
};

/// One step's arrays, filled from the token's number.
struct Token {
  explicit Token(int64_t number) {
    auto value = [&](int64_t i) {
      return static_cast<float>((number * 7 + i * 5) % 23 - 11) / 8;
    };
    for (size_t i = 0; i < q.size(); ++i)
      q[i] = value(static_cast<int64_t>(i));
    k = {value(50), value(51)};
    v = {value(60), value(61), value(62)};
  }
  kvc_step step(const Cache &cache, int32_t layer, int64_t position) {
    bool reader = layer == AllReader || layer == StreamReader;
    return {cache,
            layer,
            position,
            q.data(),
            reader ? nullptr : k.data(),
            reader ? nullptr : v.data(),
            out.data(),
            lse.data(),
            KVC_OK};
  }

  std::array<float, 3 * headDim> q;
  std::array<float, headDim> k;
  std::array<float, valueDim> v;
  std::array<float, 3 * valueDim> out = {};
  std::array<float, 3> lse = {};
};

/// One step alone; its status is also the call's.
kvc_status decode(kvc_step step);
/// The step of Token(token).
kvc_status decode(const Cache &cache, int32_t layer, int64_t token);

/// x as rotary setting `rope` (-1: none) rotates it at `index`.
std::array<float, 2> rotated(const float *x, int64_t rope, int64_t index);

/// The output of a layer that was asked as the newest of `seen` tokens.
void checkOutput(const Token &newest, int32_t layer, int64_t seen,
                 int64_t first);
/// Everything that read can give, in pieces of `piece` tokens.
void checkRead(const Cache &cache, int32_t layer, int64_t seen, int64_t piece);
/// An owner's stats, held bytes and plan at this length.
void checkStats(const Cache &cache, int32_t layer, int64_t seen);

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIMETESTMIRROR_H
