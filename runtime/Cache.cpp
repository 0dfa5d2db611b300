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

namespace kvc::runtime {

namespace {

constexpr int64_t largestFirstPosition = int64_t{1} << 40;

/// The first position of `options`: 0 where there are none, or where they come
/// from an embedder that does not know the member yet; -1 where it is refused.
int64_t firstPositionOf(const kvc_options *options) {
  if (!options)
    return 0;
  if (options->size < sizeof(options->size))
    return -1;
  if (options->size <
      offsetof(kvc_options, first_position) + sizeof(options->first_position))
    return 0;
  if (options->first_position > largestFirstPosition)
    return -1;
  return options->first_position;
}

/// Members of a later version must be zero: none is ignored.
kvc_status checkKnown(const kvc_options *options) {
  // More than any version will have is no size.
  constexpr uint32_t most = 4096;
  if (!options)
    return KVC_OK;
  if (options->size > most)
    return KVC_INVALID_ARGUMENT;
  const char *bytes = reinterpret_cast<const char *>(options);
  for (uint32_t i = sizeof(kvc_options); i < options->size; ++i)
    if (bytes[i])
      return KVC_VERSION;
  return KVC_OK;
}

/// The caller's memory, where `options` know of it and name it; false where
/// they name half of it.
bool takeAllocator(const kvc_options *options, Allocator &memory) {
  if (!options || options->size < offsetof(kvc_options, allocator_user) +
                                      sizeof(options->allocator_user))
    return true;
  if (!options->allocate != !options->release)
    return false;
  memory = {options->allocate, options->release, options->allocator_user};
  return true;
}

/// The streams of an owner, without pages; false where memory is short.
bool openLayer(LayerCache &layer, const kvc_gen_kernel &kernel,
               const Allocator &memory) {
  for (int64_t i = 0; i < kernel.streams; ++i) {
    if (!layer.streams[i].open(kernel.stream[i], memory))
      return false;
    layer.view.tables[i] = layer.streams[i].pageTable();
  }
  return true;
}

bool openCache(kvc_cache &cache) {
  cache.layers = static_cast<LayerCache *>(cache.memory.table(
      static_cast<size_t>(kvc_generated.layers), sizeof(LayerCache)));
  if (!cache.layers || !cache.angles.open(kvc_generated, cache.memory))
    return false;
  for (int64_t i = 0; i < kvc_generated.layers; ++i)
    if (!isReader(i) &&
        !openLayer(cache.layers[i], *kvc_generated.layer[i].kernel,
                   cache.memory))
      return false;
  return true;
}

} // namespace

kvc_status createCache(const kvc_options *options, kvc_cache **out) {
  if (kvc_status status = checkKnown(options))
    return status;
  int64_t firstPosition = firstPositionOf(options);
  Allocator memory = {};
  if (firstPosition < 0 || !takeAllocator(options, memory))
    return KVC_INVALID_ARGUMENT;
  kvc_cache *cache =
      static_cast<kvc_cache *>(memory.table(1, sizeof(kvc_cache)));
  if (!cache)
    return KVC_OUT_OF_MEMORY;
  cache->memory = memory;
  cache->firstPosition = firstPosition;
  if (!openCache(*cache)) {
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
  Allocator memory = cache->memory;
  memory.give(cache->layers);
  memory.give(cache);
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
