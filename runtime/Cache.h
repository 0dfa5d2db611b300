//===- Cache.h - what is kept for one sequence ------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of the table that work on a cache; kvc.h says what each does,
// takes and returns. They run only where the CPU has what they were compiled
// for: Library.cpp sees to that.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_CACHE_H
#define KVC_RUNTIME_CACHE_H

#include "kvc/kvc.h"
#include "runtime/Allocator.h"
#include "runtime/Angles.h"
#include "runtime/Errors.h"
#include "runtime/Generated.h"
#include "runtime/Pages.h"
#include "runtime/Text.h"
#include "runtime/Threads.h"

namespace kvc::runtime {

/// One layer of one sequence. A reader's has no streams.
struct LayerCache {
  /// Tokens appended; a reader: up to and with its last query.
  int64_t seen;
  /// The longest length so far; rollback more than what was gone back to or
  /// loaded, where that is less.
  int64_t reached;
  int64_t saturated;
  Stream streams[KVC_MAX_STREAMS];
  kvc_gen_view view; ///< the page tables of `streams`
  /// Of codes that are made anew: the length as of which they were, 0: none
  /// since the last token came; and how many of their pairs saturate.
  int64_t codedAt, codesSaturated;
  float *sinks; ///< [heads], learned; null where the layer takes none
};

} // namespace kvc::runtime

struct kvc_cache {
  kvc::runtime::Allocator memory; ///< of all below, and of itself
  int64_t firstPosition;
  kvc::runtime::LayerCache *layers; ///< [kvc_generated.layers]
  kvc::runtime::AngleTables angles;
  kvc::runtime::Executor executor;
  float *workspace; ///< of the piece that is under way
  int64_t workspaceFloats;
  bool busy;                            ///< in a group of requests
  char error[kvc::runtime::errorBytes]; ///< of the last call; "": a success
};

namespace kvc::runtime {

/// `options` have a size that may be; the reason of a failure goes to `error`.
kvc_status createCache(const kvc_options *options, kvc_cache **out,
                       Text &error);
kvc_status forkCache(kvc_cache *from, const kvc_options *options,
                     kvc_cache **out);
void destroyCache(kvc_cache *cache);

kvc_status decodeSteps(kvc_step *steps, size_t count);
kvc_status prefillChunks(kvc_chunk *chunks, size_t count);
kvc_status appendChunks(kvc_chunk *chunks, size_t count);
kvc_status attendQueries(kvc_query *queries, size_t count);
kvc_status mergeParts(int32_t layer, const kvc_part *parts, size_t count,
                      int64_t tokens, void *out, float *lse);
kvc_status resetCache(kvc_cache *cache);
kvc_status truncateCache(kvc_cache *cache, int64_t tokens);

/// Sees to it that codes which depend on all that is stored can be made anew:
/// pages of theirs which others hold too are copied. False where memory is
/// short.
bool ownCodes(LayerCache &store, const kvc_gen_kernel &kernel);
/// Sees to it that these codes are those of length `seen` of the layer's owner.
void recode(kvc_cache &cache, int64_t layer, int64_t seen);

kvc_status countStored(kvc_cache *cache, int32_t layer, int64_t *out);
kvc_status readStored(kvc_cache *cache, int32_t layer, int64_t from, int64_t to,
                      float *keys, float *values, int64_t *positions);
kvc_status measure(kvc_cache *cache, int32_t layer, kvc_stats *out);
kvc_status planBytes(int32_t layer, int64_t tokens, kvc_bytes *out);

inline bool isLayer(int64_t layer) {
  return layer >= 0 && layer < kvc_generated.layers;
}

inline bool isReader(int64_t layer) {
  return kvc_generated.layer[layer].owner != layer;
}

/// The text to which the words of an error go. A call keeps its first error.
Text beginError(kvc_cache &cache);

/// Forget the last call's error; null pointers and layers out of range are
/// this call's. `pointer` is what else must not be null, `name` its name.
kvc_status beginCall(kvc_cache *cache, int64_t layer, const void *pointer,
                     const char *name);

/// KVC_INVALID_ARGUMENT, with its text, where `layer` is no layer.
kvc_status checkLayer(int64_t layer, Text error);

} // namespace kvc::runtime

#endif // KVC_RUNTIME_CACHE_H
