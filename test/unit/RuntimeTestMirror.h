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
#include <vector>

namespace kvc::test {

inline const kvc_library_table &library() { return *kvc_runtime_table(); }

/// An end that lies behind all tokens.
constexpr int64_t noEnd = INT64_MAX;

/// The learned sinks that caches are made with: of the layers, of one head.
extern const float *const learnedSinks[LayerCount];
float sinkOf(int32_t layer, int64_t head);

/// Options that the model is content with.
kvc_options goodOptions(int64_t firstPosition = 0);

/// A cache that gives everything back at the end.
class Cache {
public:
  explicit Cache(int64_t firstPosition = 0)
      : Cache(goodOptions(firstPosition)) {}
  explicit Cache(const kvc_options &options) : first(options.first_position) {
    CHECK_EQ(library().create(&options, &cache), KVC_OK);
  }
  /// Where it cannot be made, `status` says why.
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
    kvc_stats stats = {};
    stats.size = sizeof stats;
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
    auto fill = [&](auto &array, int64_t from) {
      for (size_t i = 0; i < array.size(); ++i)
        array[i] = value(from + static_cast<int64_t>(i));
    };
    fill(q, 0);
    fill(k, 50);
    fill(v, 60);
  }
  kvc_step step(const Cache &cache, int32_t layer, int64_t position) {
    return {cache,
            layer,
            position,
            q.data(),
            reads(layer) ? nullptr : k.data(),
            reads(layer) ? nullptr : v.data(),
            out.data(),
            lse.data(),
            KVC_OK};
  }

  std::array<float, mostHeads * headDim> q;
  std::array<float, kvHeads * headDim> k;
  std::array<float, kvHeads * valueDim> v;
  std::array<float, mostHeads * valueDim> out = {};
  std::array<float, mostHeads> lse = {};
};

/// Tokens [token, token + count) for a layer, and places for the answers. What
/// is not meant to be written is what it was: `untouched`.
struct Tokens {
  static constexpr float untouched = -12345;

  Tokens(int32_t layer, int64_t token, int64_t count);

  kvc_chunk chunk(const Cache &cache);  ///< for prefill
  kvc_chunk append(const Cache &cache); ///< without queries
  kvc_query query(const Cache &cache, int64_t from, int64_t to,
                  bool withSinks = false);
  /// The answers are those of a prefill whose last token is the newest, or of
  /// decode steps.
  void checkOutputs(int64_t first) const;
  void checkUntouched() const;

  int32_t layer;
  int64_t token, count;
  std::vector<float> q, k, v, out, lse;
};

/// One item alone; its status is also the call's.
kvc_status decode(kvc_step step);
kvc_status prefill(kvc_chunk chunk);
kvc_status append(kvc_chunk chunk);
kvc_status attend(kvc_query query);
/// The step of Token(token).
kvc_status decode(const Cache &cache, int32_t layer, int64_t token);
/// Appends tokens [from, to), one at a time, and to `readers` asks too.
void fill(const Cache &cache, int32_t layer, int64_t from, int64_t to);

/// x as rotary setting `rope` (-1: none) rotates it at `index`.
std::array<float, 2> rotated(const float *x, int64_t rope, int64_t index);

/// A query over a part of what is stored.
struct Asked {
  int64_t seen;   ///< it asks as the newest of so many
  int64_t newest; ///< the owner's length
  int64_t from = 0, to = noEnd;
  bool withSinks = true;
};

/// Whether all that it attends to is there in the form that it had.
bool isHeld(int32_t layer, const Asked &asked);

/// out and lse of the query of token asked.seen - 1.
void checkRow(const float *out, const float *lse, int32_t layer,
              const Asked &asked, int64_t first);
/// The output of a layer that was asked as the newest of `seen` tokens.
void checkOutput(const Token &newest, int32_t layer, int64_t seen,
                 int64_t first);
/// Everything that read can give, in pieces of `piece` tokens.
void checkRead(const Cache &cache, int32_t layer, int64_t seen, int64_t piece);

/// Bytes of pages at the high-water mark, followed from the first token on.
class HeldBytes {
public:
  explicit HeldBytes(int32_t layer) : policy(policies[layer]) {}
  /// The next tokens came with one call.
  void append(int64_t count);
  int64_t bytes() const;

private:
  void appendPiece(int64_t count);

  const Policy &policy;
  int64_t seen = 0;
  int64_t most[streamCount] = {};
};

/// An owner's stats and plan at this length; `held` were found out apart.
void checkStats(const Cache &cache, int32_t layer, int64_t seen,
                const HeldBytes &held);
/// The same where tokens came one at a time.
void checkStats(const Cache &cache, int32_t layer, int64_t seen);

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIMETESTMIRROR_H
