//===- Inspect.cpp - what a cache holds, and what it costs ------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stored tokens are numbered in ascending position: first the sinks, from
// token 0 on, then the body, up to the newest token.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cache.h"

namespace kvc::runtime {

namespace {

constexpr int64_t largestPlan = int64_t{1} << 40;

/// The stored tokens of an owner: [0, sinks) and [first, seen).
struct Live {
  Live(const kvc_gen_kernel &kernel, int64_t seen) : seen(seen) {
    int64_t bounds[2];
    kernel.live(seen, bounds);
    sinks = bounds[0];
    first = bounds[1];
  }
  int64_t stored() const { return sinks + (seen - first); }
  int64_t token(int64_t number) const {
    return number < sinks ? number : number - sinks + first;
  }

  int64_t seen, sinks, first;
};

/// What kvc_gen_kernel.plan says.
struct Plan {
  Plan(const kvc_gen_kernel &kernel, int64_t seen, int64_t reached) {
    kernel.plan(seen, reached, out);
  }
  int64_t stored() const { return out[0]; }
  kvc_bytes bytes() const {
    return {out[1], out[2], out[3], out[4], out[5], out[6], 0, {}};
  }
  int64_t total() const {
    return out[1] + out[2] + out[3] + out[4] + out[5] + out[6];
  }

  int64_t out[7];
};

kvc_status checkOwner(kvc_cache &cache, int64_t layer) {
  if (!isReader(layer))
    return KVC_OK;
  beginError(cache) << "layer " << layer << " stores nothing: it reads layer "
                    << kvc_generated.layer[layer].owner << "'s cache";
  return KVC_INVALID_ARGUMENT;
}

/// Codes that are made anew, as of now.
kvc_status recodeNow(kvc_cache &cache, int64_t layer) {
  LayerCache &store = cache.layers[layer];
  if (!ownCodes(store, *kvc_generated.layer[layer].kernel)) {
    beginError(cache) << "layer " << layer
                      << ": no memory for codes of its own";
    return KVC_OUT_OF_MEMORY;
  }
  recode(cache, layer, store.seen);
  return KVC_OK;
}

/// One call of a kernel's read: stored tokens [from, to), all sinks or all
/// body, to the rows from - row0 on.
void readPart(const LayerCache &store, const kvc_gen_kernel &kernel,
              const Live &live, int64_t from, int64_t to, int64_t row0,
              int64_t rows, float *keys, float *values) {
  if (from >= to)
    return;
  int64_t token = live.token(from);
  kernel.read(&store.view, store.seen, token, token + (to - from), from - row0,
              rows, keys, values);
}

} // namespace

kvc_status countStored(kvc_cache *cache, int32_t layer, int64_t *out) {
  if (kvc_status status = beginCall(cache, layer, out, "out"))
    return status;
  if (kvc_status status = checkOwner(*cache, layer))
    return status;
  const kvc_gen_kernel &kernel = *kvc_generated.layer[layer].kernel;
  *out = Live(kernel, cache->layers[layer].seen).stored();
  return KVC_OK;
}

kvc_status readStored(kvc_cache *cache, int32_t layer, int64_t from, int64_t to,
                      float *keys, float *values, int64_t *positions) {
  if (kvc_status status = beginCall(cache, layer, cache, "cache"))
    return status;
  if (kvc_status status = checkOwner(*cache, layer))
    return status;
  const LayerCache &store = cache->layers[layer];
  const kvc_gen_kernel &kernel = *kvc_generated.layer[layer].kernel;
  Live live(kernel, store.seen);
  if (from < 0 || from > to || to > live.stored()) {
    beginError(*cache) << "layer " << layer << ": [" << from << ", " << to
                       << ") is no part of its " << live.stored()
                       << " stored tokens";
    return KVC_INVALID_ARGUMENT;
  }
  if (keys || values) {
    if (kvc_status status = recodeNow(*cache, layer))
      return status;
    int64_t border = from > live.sinks ? from
                     : to < live.sinks ? to
                                       : live.sinks;
    readPart(store, kernel, live, from, border, from, to - from, keys, values);
    readPart(store, kernel, live, border, to, from, to - from, keys, values);
  }
  if (positions)
    for (int64_t i = from; i < to; ++i)
      positions[i - from] = cache->firstPosition + live.token(i);
  return KVC_OK;
}

kvc_status measure(kvc_cache *cache, int32_t layer, kvc_stats *out) {
  if (kvc_status status = beginCall(cache, layer, out, "out"))
    return status;
  if (!isSize(out->size, KVC_LEAST(kvc_stats, shared)))
    return refuseSize(out->size, "kvc_stats", beginError(*cache));
  const LayerCache &store = cache->layers[layer];
  const kvc_gen_kernel &kernel = *kvc_generated.layer[layer].kernel;
  kvc_stats mine = {};
  mine.seen = store.seen;
  if (!isReader(layer)) {
    if (kvc_status status = recodeNow(*cache, layer))
      return status;
    Plan plan(kernel, store.seen, store.reached);
    mine.stored = plan.stored();
    mine.evicted = store.seen - plan.stored();
    mine.saturated = store.saturated + store.codesSaturated;
    for (int64_t i = 0; i < kernel.streams; ++i) {
      mine.held += store.streams[i].heldBytes();
      mine.shared += store.streams[i].sharedBytes();
    }
    mine.used = plan.bytes();
    mine.used.padding = mine.held - plan.total();
  }
  giveAnswer(out, &mine, sizeof(mine));
  return KVC_OK;
}

kvc_status planBytes(int32_t layer, int64_t tokens, kvc_bytes *out) {
  if (!out)
    return refuseNull("out");
  if (!isLayer(layer))
    return checkLayer(layer, beginThreadError());
  if (tokens < 0 || tokens > largestPlan) {
    beginThreadError() << "tokens is " << tokens << ": 0 to 2^40 is taken";
    return KVC_INVALID_ARGUMENT;
  }
  *out = {};
  if (!isReader(layer))
    *out = Plan(*kvc_generated.layer[layer].kernel, tokens, tokens).bytes();
  return KVC_OK;
}

} // namespace kvc::runtime
