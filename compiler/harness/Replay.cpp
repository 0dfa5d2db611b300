//===- Replay.cpp - a trace goes through a library's cache ----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Replay.h"

#include "compiler/harness/Crash.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/Progress.h"

using namespace llvm;

namespace kvc::harness {

namespace {
/// A library, its cache and the trace that goes through them.
struct Replay {
  const LoadedLibrary &library;
  const LibraryCache &cache;
  const Trace &trace;
  int64_t first;
  RowsTaken took;

  int64_t largestChunk() const;
  Tokens gather(const LayerTrace &input, int64_t token, int64_t count) const;
  Error call(size_t layer, int64_t token, int64_t count, bool prefills) const;
};
} // namespace

/// As many tokens as every layer takes at once.
int64_t Replay::largestChunk() const {
  int64_t most = trace.tokens;
  for (size_t layer = 0; layer < trace.layers.size(); ++layer)
    if (int64_t chunk = library.chunk(static_cast<int64_t>(layer)); chunk >= 0)
      most = std::min(most, chunk);
  return std::max<int64_t>(most, 1);
}

/// Tokens [token, token + count), as far as the layer has queries for them.
Tokens Replay::gather(const LayerTrace &input, int64_t token,
                      int64_t count) const {
  Tokens tokens;
  auto add = [](std::vector<float> &to, ArrayRef<float> from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (int64_t t = token; t < token + count; ++t) {
    if (!input.has(t))
      continue;
    if (tokens.count++ == 0)
      tokens.position = first + t;
    add(tokens.q, input.queryAt(t));
    add(tokens.k, input.keyAt(t));
    add(tokens.v, input.valueAt(t));
  }
  return tokens;
}

Error Replay::call(size_t layer, int64_t token, int64_t count,
                   bool prefills) const {
  const Tokens tokens = gather(trace.layers[layer], token, count);
  if (tokens.count == 0)
    return Error::success();
  Output output;
  const auto number = static_cast<int64_t>(layer);
  const kvc_status status =
      prefills ? prefill(library, cache, number, tokens, output)
               : decode(library, cache, number, tokens, output);
  if (status != KVC_OK)
    return userError("layer " + Twine(layer) + ", position " +
                     Twine(tokens.position) + ": " +
                     library->status_name(status) + ": " + cache.lastError());
  took(layer, output);
  return Error::success();
}

Error replay(const LoadedLibrary &library, const LibraryCache &cache,
             const Trace &trace, const ReplayOptions &options, RowsTaken took) {
  const Replay replay{library, cache, trace, options.first, took};
  Progress progress;
  const int64_t chunk =
      options.chunk == 0 ? replay.largestChunk() : options.chunk;
  int64_t count = 0;
  for (int64_t token = 0; token < trace.tokens; token += count) {
    const bool prefills = token < options.prefill;
    count = prefills ? std::min(std::min(chunk, options.prefill - token),
                                trace.tokens - token)
                     : 1;
    progress.show(options.title + "token " + Twine(token) + " of " +
                  Twine(trace.tokens));
    for (size_t layer = 0; layer < trace.layers.size(); ++layer)
      if (Error error = replay.call(layer, token, count, prefills))
        return error;
  }
  return Error::success();
}

Expected<kvc_stats> statsOf(const LoadedLibrary &library,
                            const LibraryCache &cache, size_t layer) {
  kvc_stats stats = {};
  stats.size = sizeof stats;
  if (LibraryCall("stats", static_cast<int64_t>(layer))
          .run(library->stats, cache.get(), static_cast<int32_t>(layer),
               &stats))
    return userError("layer " + Twine(layer) +
                     ": stats fail: " + cache.lastError());
  return stats;
}

int64_t usedBytes(const kvc_stats &stats) {
  const kvc_bytes &bytes = stats.used;
  return bytes.codes + bytes.scales + bytes.residual + bytes.sinks +
         bytes.originals + bytes.rollback;
}

} // namespace kvc::harness
