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

#include "runtime/Elements.h"
#include "runtime/Request.h"

namespace kvc::runtime {

namespace {

constexpr int64_t largestFirstPosition = int64_t{1} << 40;

constexpr int32_t mostThreads = 256;

/// The options as far as the caller's struct has them; the rest is zero.
kvc_options readOptions(const kvc_options *given) {
  kvc_options options = {};
  if (given)
    __builtin_memcpy(&options, given,
                     given->size < sizeof(options) ? given->size
                                                   : sizeof(options));
  return options;
}

/// Members of a later version must be zero: none is ignored.
kvc_status checkKnown(const kvc_options *given, Text &error) {
  if (!given)
    return KVC_OK;
  const char *bytes = reinterpret_cast<const char *>(given);
  for (uint32_t i = sizeof(kvc_options); i < given->size; ++i)
    if (bytes[i]) {
      error << "byte " << static_cast<int64_t>(i)
            << " of the options belongs to a member that this library does "
               "not know";
      return KVC_VERSION;
    }
  return KVC_OK;
}

/// What can be told of them without a cache.
kvc_status checkOptions(const kvc_options &options, Text &error) {
  if (options.first_position < 0 ||
      options.first_position > largestFirstPosition)
    error << "first_position is " << options.first_position
          << "; it is 0 to 2^40";
  else if (options.threads < 0 || options.threads > mostThreads)
    error << "threads is " << options.threads << "; it is 0 to " << mostThreads;
  else if (options.threads > 0 && options.parallel_for)
    error << "threads is " << options.threads
          << ", and there is a parallel_for: one of them is wanted";
  else if (!options.allocate != !options.release)
    error << "allocate and release go together: one of them is null";
  else
    return KVC_OK;
  return KVC_INVALID_ARGUMENT;
}

/// A fork is in some things as its cache is.
kvc_status checkForkOptions(const kvc_options &options, Text &error) {
  if (options.first_position)
    error << "first_position";
  else if (options.learned_sinks)
    error << "learned_sinks";
  else if (options.allocate)
    error << "allocate";
  else
    return KVC_OK;
  error << " is set, and a fork has its cache's: leave it out";
  return KVC_INVALID_ARGUMENT;
}

/// Checks the learned sinks of one layer; null: none are given.
kvc_status checkSinks(int64_t layer, const float *sinks, Text &error) {
  const kvc_gen_kernel &kernel = *kvc_generated.layer[layer].kernel;
  if (!sinks && !kernel.learned_sinks)
    return KVC_OK;
  if (!sinks || !kernel.learned_sinks) {
    error << "layer " << layer;
    if (sinks)
      error << " takes no learned sinks: its entry in learned_sinks must be "
               "null";
    else
      error << " takes learned sinks, " << kernel.heads
            << " of them, and learned_sinks has none for it";
    return KVC_INVALID_ARGUMENT;
  }
  int64_t index = firstRefused(KVC_F32, sinks, kernel.heads);
  if (index < 0)
    return KVC_OK;
  error << "layer " << layer << ": learned_sinks[" << index << "] is "
        << elementValue(KVC_F32, sinks, index)
        << ": magnitudes up to 2^56 are allowed";
  return KVC_NOT_FINITE;
}

/// The learned sinks of all layers.
kvc_status checkSinks(const float *const *sinks, Text &error) {
  bool any = false;
  for (int64_t i = 0; i < kvc_generated.layers; ++i) {
    any = any || kvc_generated.layer[i].kernel->learned_sinks;
    if (kvc_status status = checkSinks(i, sinks ? sinks[i] : nullptr, error))
      return status;
  }
  if (any || !sinks)
    return KVC_OK;
  error << "no layer takes learned sinks: learned_sinks must be null";
  return KVC_INVALID_ARGUMENT;
}

/// Keeps a copy; false where memory is short.
bool keepSinks(LayerCache &layer, const float *sinks, int64_t heads,
               const Allocator &memory) {
  layer.sinks = static_cast<float *>(
      memory.table(static_cast<size_t>(heads), sizeof(float)));
  for (int64_t head = 0; layer.sinks && head < heads; ++head)
    layer.sinks[head] = sinks[head];
  return layer.sinks;
}

/// The streams of an owner, without pages or with those of `from`; false where
/// memory is short.
bool openStreams(LayerCache &layer, const kvc_gen_kernel &kernel,
                 LayerCache *from, const Allocator &memory) {
  for (int64_t i = 0; i < kernel.streams; ++i) {
    Stream &stream = layer.streams[i];
    if (!(from ? stream.share(from->streams[i], memory)
               : stream.open(kernel.stream[i], memory)))
      return false;
    layer.view.tables[i] = stream.pageTable();
  }
  return true;
}

/// A layer without tokens or with those of `from`.
bool openLayer(LayerCache &layer, int64_t number, LayerCache *from,
               const float *sinks, const Allocator &memory) {
  const kvc_gen_kernel &kernel = *kvc_generated.layer[number].kernel;
  if (from) {
    layer.seen = from->seen;
    layer.reached = from->reached;
    layer.saturated = from->saturated;
    layer.codedAt = from->codedAt;
    layer.codesSaturated = from->codesSaturated;
  }
  if (!isReader(number) && !openStreams(layer, kernel, from, memory))
    return false;
  return !kernel.learned_sinks ||
         keepSinks(layer, from ? from->sinks : sinks, kernel.heads, memory);
}

/// All that a cache has, empty or with the tokens of `from`.
bool openCache(kvc_cache &cache, const kvc_options &options, kvc_cache *from) {
  cache.layers = static_cast<LayerCache *>(cache.memory.table(
      static_cast<size_t>(kvc_generated.layers), sizeof(LayerCache)));
  if (!cache.layers || !cache.angles.open(kvc_generated, cache.memory))
    return false;
  int64_t workspace = 0;
  for (int64_t i = 0; i < kvc_generated.layers; ++i) {
    const kvc_gen_layer &layer = kvc_generated.layer[i];
    const float *sinks =
        options.learned_sinks ? options.learned_sinks[i] : nullptr;
    if (!openLayer(cache.layers[i], i, from ? &from->layers[i] : nullptr, sinks,
                   cache.memory))
      return false;
    int64_t floats = workspaceFor(layer, 1);
    workspace = floats > workspace ? floats : workspace;
  }
  if (reserveWorkspace(cache, workspace) != KVC_OK)
    return false;
  cache.executor.parallelFor = options.parallel_for;
  cache.executor.user = options.parallel_for_user;
  if (options.threads > 1)
    cache.executor.pool = openPool(options.threads, cache.memory);
  return options.threads <= 1 || cache.executor.pool;
}

kvc_status makeCache(const Allocator &memory, const kvc_options &options,
                     kvc_cache *from, kvc_cache **out, Text &error) {
  kvc_cache *cache =
      static_cast<kvc_cache *>(memory.table(1, sizeof(kvc_cache)));
  if (cache) {
    cache->memory = memory;
    if (openCache(*cache, options, from)) {
      cache->firstPosition =
          from ? from->firstPosition : options.first_position;
      *out = cache;
      return KVC_OK;
    }
  }
  destroyCache(cache);
  error << "no memory for a cache";
  if (options.threads > 1)
    error << ", or no thread for one of its " << options.threads;
  return KVC_OUT_OF_MEMORY;
}

} // namespace

kvc_status createCache(const kvc_options *given, kvc_cache **out, Text &error) {
  const kvc_options options = readOptions(given);
  kvc_status status = checkKnown(given, error);
  if (status == KVC_OK)
    status = checkOptions(options, error);
  if (status == KVC_OK)
    status = checkSinks(options.learned_sinks, error);
  if (status != KVC_OK)
    return status;
  Allocator memory = {options.allocate, options.release,
                      options.allocator_user};
  return makeCache(memory, options, nullptr, out, error);
}

kvc_status forkCache(kvc_cache *from, const kvc_options *given,
                     kvc_cache **out) {
  if (out)
    *out = nullptr;
  if (!from)
    return refuseNull("cache");
  from->error[0] = '\0';
  Text error = beginError(*from);
  if (!out) {
    error << "out is null";
    return KVC_INVALID_ARGUMENT;
  }
  if (given && !isSize(given->size, KVC_LEAST(kvc_options, allocator_user)))
    return refuseSize(given->size, "kvc_options", error);
  kvc_options options = readOptions(given);
  kvc_status status = checkKnown(given, error);
  if (status == KVC_OK)
    status = checkOptions(options, error);
  if (status == KVC_OK)
    status = checkForkOptions(options, error);
  if (status == KVC_OK) {
    if (!given) {
      options.parallel_for = from->executor.parallelFor;
      options.parallel_for_user = from->executor.user;
    }
    status = makeCache(from->memory, options, from, out, error);
  }
  if (options.error && options.error_size > 0)
    Text(options.error, static_cast<int64_t>(options.error_size))
        << from->error;
  return status;
}

void destroyCache(kvc_cache *cache) {
  if (!cache)
    return;
  int64_t given = 0; // bytes of pages
  if (cache->layers)
    for (int64_t i = 0; i < kvc_generated.layers; ++i) {
      for (Stream &stream : cache->layers[i].streams)
        given += stream.close();
      cache->memory.give(cache->layers[i].sinks);
    }
  cache->angles.close();
  Allocator memory = cache->memory;
  closePool(cache->executor.pool, memory);
  memory.give(cache->workspace);
  memory.give(cache->layers);
  memory.give(cache);
  memory.settle(given);
}

Text beginError(kvc_cache &cache) {
  if (cache.error[0])
    return Text(nullptr, 0);
  return Text(cache.error, sizeof(cache.error));
}

kvc_status checkLayer(int64_t layer, Text error) {
  if (isLayer(layer))
    return KVC_OK;
  error << "there is no layer " << layer << ": the model has "
        << kvc_generated.layers << " layers, from 0";
  return KVC_INVALID_ARGUMENT;
}

kvc_status beginCall(kvc_cache *cache, int64_t layer, const void *pointer,
                     const char *name) {
  if (!cache)
    return refuseNull("cache");
  cache->error[0] = '\0';
  if (kvc_status status = checkLayer(layer, beginError(*cache)))
    return status;
  if (pointer)
    return KVC_OK;
  beginError(*cache) << "layer " << layer << ": " << name << " is null";
  return KVC_INVALID_ARGUMENT;
}

} // namespace kvc::runtime
