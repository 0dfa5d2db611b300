//===- Truncate.cpp - back to an earlier length -----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layer can go back to a length if all that it stored then is still held, in
// the form it had then. What it held beyond that leaves; what comes next is
// written over what is forgotten.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cache.h"
#include "runtime/Ranges.h"

namespace kvc::runtime {

namespace {

void explain(Text &text, const kvc_cache &cache, int64_t layer, int64_t tokens,
             TokenRange gone, bool coded) {
  const LayerCache &store = cache.layers[layer];
  int64_t first = cache.firstPosition;
  text << "layer " << layer << " cannot go back from " << store.seen << " to "
       << tokens << " tokens: position " << first + gone.begin;
  if (gone.end - gone.begin > 1)
    text << " to " << first + gone.end - 1;
  text << " was " << (coded ? "coded" : "evicted") << " since; its rollback is "
       << kvc_generated.layer[layer].kernel->rollback;
}

/// Whether the layer still has what it stored at length `tokens`.
kvc_status checkHeld(kvc_cache &cache, int64_t layer, int64_t tokens) {
  const kvc_gen_kernel &kernel = *kvc_generated.layer[layer].kernel;
  const LayerCache &store = cache.layers[layer];
  Ranges wanted = Ranges::live(kernel, tokens);
  Ranges held = Ranges::held(kernel, store.seen, store.reached);
  for (int64_t i = 0; i < kernel.streams; ++i) {
    TokenRange range = wanted.streams[i], there = held.streams[i];
    if (range.empty() || (!there.empty() && range.begin >= there.begin))
      continue;
    if (!there.empty() && there.begin < range.end)
      range.end = there.begin;
    // What is no longer held as it came, and still stored, is a code now.
    int64_t live[2];
    kernel.live(store.seen, live);
    Text text = beginError(cache);
    explain(text, cache, layer, tokens, range, range.end > live[1]);
    return KVC_GONE;
  }
  return KVC_OK;
}

} // namespace

kvc_status truncateCache(kvc_cache *cache, int64_t tokens) {
  if (!cache)
    return refuseNull("cache");
  cache->error[0] = '\0';
  int64_t longest = 0;
  for (int64_t i = 0; i < kvc_generated.layers; ++i)
    if (!isReader(i) && cache->layers[i].seen > longest)
      longest = cache->layers[i].seen;
  if (tokens < 0 || tokens > longest) {
    beginError(*cache) << "tokens is " << tokens
                       << ": the cache goes back to 0 to " << longest;
    return KVC_INVALID_ARGUMENT;
  }
  for (int64_t i = 0; i < kvc_generated.layers; ++i)
    if (!isReader(i) && cache->layers[i].seen > tokens)
      if (kvc_status status = checkHeld(*cache, i, tokens))
        return status;
  for (int64_t i = 0; i < kvc_generated.layers; ++i) {
    LayerCache &layer = cache->layers[i];
    if (layer.seen <= tokens)
      continue;
    layer.seen = tokens;
    if (isReader(i))
      continue;
    layer.codedAt = layer.codesSaturated = 0;
    const kvc_gen_kernel &kernel = *kvc_generated.layer[i].kernel;
    // Behind what was the longest length rollback would hold nothing: it holds
    // what comes from here on.
    if (layer.reached > tokens + kernel.rollback)
      layer.reached = tokens + kernel.rollback;
    Ranges held = Ranges::held(kernel, tokens, layer.reached);
    for (int64_t j = 0; j < kernel.streams; ++j)
      layer.streams[j].trim(held.streams[j]);
  }
  return KVC_OK;
}

} // namespace kvc::runtime
