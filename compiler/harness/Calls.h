//===- Calls.h - calls of a library, in floats ------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_CALLS_H
#define KVC_COMPILER_HARNESS_CALLS_H

#include "compiler/harness/LoadedLibrary.h"

#include <optional>

namespace kvc::harness {

/// Tokens of one layer: q, k and v one token after another; k and v are empty
/// for a reader, q where nothing attends.
struct Tokens {
  int64_t position = 0; ///< of the first, first position included
  int64_t count = 0;
  std::vector<float> q, k, v;
};

/// What tokens of one layer give: out [count, heads, value_dim] widened, lse
/// [count, heads].
struct Output {
  std::vector<float> out, lse;
};

/// Tokens in the library's types, and room for what they give, as long as a
/// call needs them. A plane that is empty is passed as null.
class CallBuffers {
public:
  CallBuffers(const LoadedLibrary &library, int64_t layer,
              const Tokens &tokens);

  kvc_step step(kvc_cache *cache);
  kvc_chunk chunk(kvc_cache *cache, bool attends);
  /// The tokens' queries over those at positions from <= t < to.
  kvc_query query(kvc_cache *cache, int64_t from, int64_t to, bool withSinks);
  /// What a step or a chunk gave; what a query gave.
  Output output() const;
  Output partOutput() const { return {part, lse}; }

private:
  int64_t layer, position, count;
  Element io;
  std::vector<uint8_t> q, k, v, out;
  std::vector<float> part, lse;
};

// Calls for one cache. The status is the library's; on an error `output` is
// left alone.

/// One token.
kvc_status decode(const LoadedLibrary &library, const LibraryCache &cache,
                  int64_t layer, const Tokens &token, Output &output);
kvc_status prefill(const LoadedLibrary &library, const LibraryCache &cache,
                   int64_t layer, const Tokens &tokens, Output &output);
kvc_status append(const LoadedLibrary &library, const LibraryCache &cache,
                  int64_t layer, const Tokens &tokens);
/// Over the tokens at positions from <= t < to, with the layer's learned sinks
/// or without; out is f32.
kvc_status attend(const LoadedLibrary &library, const LibraryCache &cache,
                  int64_t layer, const Tokens &tokens, int64_t from, int64_t to,
                  bool withSinks, Output &output);
kvc_status merge(const LoadedLibrary &library, int64_t layer, int64_t tokens,
                 llvm::ArrayRef<Output> parts, Output &output);

kvc_status truncate(const LoadedLibrary &library, const LibraryCache &cache,
                    int64_t tokens);
kvc_status reset(const LoadedLibrary &library, const LibraryCache &cache);
/// On an error `fork` is left alone.
kvc_status fork(const LoadedLibrary &library, const LibraryCache &cache,
                std::optional<LibraryCache> &fork);
/// Through a stream, in blocks as the library makes them.
kvc_status save(const LoadedLibrary &library, const LibraryCache &cache,
                std::vector<uint8_t> &bytes);
kvc_status load(const LoadedLibrary &library, const LibraryCache &cache,
                llvm::ArrayRef<uint8_t> bytes);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_CALLS_H
