//===- Cache.cpp - what is kept for one sequence ----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Creation and destruction, and what the calls on a cache have in common.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cache.h"

#include "runtime/Platform.h"
#include "runtime/Request.h"

namespace kvc::runtime {

namespace {

constexpr int64_t largestFirstPosition = int64_t{1} << 40;

/// The first position of `options`: 0 where there are none, or where they come
/// from an embedder that does not know the member yet; -1 where it is refused.
constexpr int32_t mostThreads = 256;

/// The options as far as the caller's struct has them; the rest is zero.
kvc_status readOptions(const kvc_options *given, kvc_options &options) {
  options = {};
  if (!given)
    return KVC_OK;
  if (given->size < sizeof(given->size))
    return KVC_INVALID_ARGUMENT;
  size_t size = given->size < sizeof(options) ? given->size : sizeof(options);
  __builtin_memcpy(&options, given, size);
  if (options.first_position < 0 ||
      options.first_position > largestFirstPosition || options.threads < 0 ||
      options.threads > mostThreads ||
      (options.threads > 0 && options.parallel_for))
    return KVC_INVALID_ARGUMENT;
  return KVC_OK;
}

bool openLayer(LayerCache &layer, const kvc_gen_kernel &kernel) {
  for (int64_t i = 0; i < kernel.streams; ++i) {
    if (!layer.streams[i].open(kernel.stream[i]))
      return false;
    layer.view.tables[i] = layer.streams[i].pageTable();
  }
  return true;
}

bool openCache(kvc_cache &cache, const kvc_options &options) {
  cache.layers = static_cast<LayerCache *>(allocateTable(
      static_cast<size_t>(kvc_generated.layers), sizeof(LayerCache)));
  if (!cache.layers || !cache.angles.open(kvc_generated))
    return false;
  int64_t workspace = 0;
  for (int64_t i = 0; i < kvc_generated.layers; ++i) {
    const kvc_gen_layer &layer = kvc_generated.layer[i];
    if (!isReader(i) && !openLayer(cache.layers[i], *layer.kernel))
      return false;
    int64_t floats = workspaceFor(layer, 1);
    workspace = floats > workspace ? floats : workspace;
  }
  if (reserveWorkspace(cache, workspace) != KVC_OK)
    return false;
  cache.executor.parallelFor = options.parallel_for;
  cache.executor.user = options.parallel_for_user;
  if (options.threads > 1)
    cache.executor.pool = openPool(options.threads);
  return options.threads <= 1 || cache.executor.pool;
}

} // namespace

kvc_status createCache(const kvc_options *given, kvc_cache **out) {
  kvc_options options;
  if (kvc_status status = readOptions(given, options))
    return status;
  kvc_cache *cache =
      static_cast<kvc_cache *>(allocateTable(1, sizeof(kvc_cache)));
  if (!cache)
    return KVC_OUT_OF_MEMORY;
  cache->firstPosition = options.first_position;
  if (!openCache(*cache, options)) {
    destroyCache(cache);
    return KVC_OUT_OF_MEMORY;
  }
  *out = cache;
  return KVC_OK;
}

void destroyCache(kvc_cache *cache) {
  if (!cache)
    return;
  if (cache->layers)
    for (int64_t i = 0; i < kvc_generated.layers; ++i)
      for (Stream &stream : cache->layers[i].streams)
        stream.close();
  cache->angles.close();
  closePool(cache->executor.pool);
  release(cache->workspace);
  release(cache->layers);
  release(cache);
}

Text beginError(kvc_cache &cache) {
  if (cache.error[0])
    return Text(cache.unheard, sizeof(cache.unheard));
  return Text(cache.error, sizeof(cache.error));
}

kvc_status checkLayer(kvc_cache &cache, int64_t layer) {
  if (isLayer(layer))
    return KVC_OK;
  beginError(cache) << "there is no layer " << layer << ": the model has "
                    << kvc_generated.layers << " layers, from 0";
  return KVC_INVALID_ARGUMENT;
}

kvc_status beginCall(kvc_cache *cache, int64_t layer, const void *pointer,
                     const char *name) {
  if (!cache)
    return KVC_INVALID_ARGUMENT;
  cache->error[0] = '\0';
  if (kvc_status status = checkLayer(*cache, layer))
    return status;
  if (pointer)
    return KVC_OK;
  beginError(*cache) << "layer " << layer << ": " << name << " is null";
  return KVC_INVALID_ARGUMENT;
}

} // namespace kvc::runtime
