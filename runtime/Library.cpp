//===- Library.cpp - the function table of a library ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled for any CPU of the architecture: here it is found out what this CPU
// lacks, before anything runs that needs it. No code that needs more may be
// inlined into this file, and no header's inline functions are used.
//
//===----------------------------------------------------------------------===//

#include "runtime/Library.h"

#include "runtime/Cache.h"
#include "runtime/Errors.h"
#include "runtime/FloatEnvironment.h"
#include "runtime/Platform.h"
#include "runtime/Snapshot.h"

using namespace kvc::runtime;

namespace {

int64_t missingFeatures() { return kvc_generated.features & ~cpuFeatures(); }

/// Whether this library can make caches here.
kvc_status checkHere() {
  if (kvc_generated.version != KVC_GENERATED_VERSION)
    return KVC_VERSION;
  return missingFeatures() ? KVC_UNSUPPORTED_CPU : KVC_OK;
}

void explain(kvc_status refusal, Text &text) {
  if (refusal == KVC_VERSION) {
    text << "the generated code follows version " << kvc_generated.version
         << " of its contract with the runtime, the runtime version "
         << int64_t{KVC_GENERATED_VERSION};
    return;
  }
  text << "this CPU lacks what the library was built for: ";
  uint64_t missing = static_cast<uint64_t>(missingFeatures());
  for (const char *comma = ""; missing; comma = ", ", missing &= missing - 1) {
    int64_t bit = static_cast<int64_t>(missing & -missing);
    const char *name = cpuFeatureName(bit);
    text << comma;
    if (name)
      text << name;
    else
      text << "feature " << bit;
  }
}

/// Refuses all calls that run code of the generated kind.
kvc_status refuseHere() {
  forgetThreadError();
  kvc_status refusal = checkHere();
  if (refusal != KVC_OK) {
    Text text = beginThreadError();
    explain(refusal, text);
  }
  return refusal;
}

kvc_status info(kvc_info *out) {
  forgetThreadError();
  if (!out)
    return refuseNull("out");
  if (!isSize(out->size, KVC_LEAST(kvc_info, kernels)))
    return refuseSize(out->size, "kvc_info", beginThreadError());
  kvc_info mine;
  mine.abi_version = KVC_ABI_VERSION;
  mine.name = kvc_generated.name;
  mine.spec = kvc_generated.spec;
  mine.target = kvc_generated.target;
  mine.io = static_cast<kvc_type>(kvc_generated.io);
  mine.layers = static_cast<int32_t>(kvc_generated.layers);
  mine.kernels = static_cast<int32_t>(kvc_generated.kernels);
  giveAnswer(out, &mine, sizeof(mine));
  return KVC_OK;
}

kvc_status layerInfo(int32_t layer, kvc_layer_info *out) {
  forgetThreadError();
  if (!out)
    return refuseNull("out");
  if (layer < 0 || layer >= kvc_generated.layers) {
    beginThreadError() << "there is no layer " << layer << ": the model has "
                       << kvc_generated.layers << " layers, from 0";
    return KVC_INVALID_ARGUMENT;
  }
  if (!isSize(out->size, KVC_LEAST(kvc_layer_info, learned_sinks)))
    return refuseSize(out->size, "kvc_layer_info", beginThreadError());
  const kvc_gen_layer &itsLayer = kvc_generated.layer[layer];
  const kvc_gen_kernel &kernel = *itsLayer.kernel;
  kvc_layer_info mine;
  mine.heads = static_cast<int32_t>(kernel.heads);
  mine.kv_heads = static_cast<int32_t>(kernel.kv_heads);
  mine.head_dim = static_cast<int32_t>(kernel.head_dim);
  mine.value_dim = static_cast<int32_t>(kernel.value_dim);
  mine.owner = static_cast<int32_t>(itsLayer.owner);
  mine.kernel = static_cast<int32_t>(itsLayer.kernel_number);
  mine.piece = static_cast<int32_t>(kernel.rows);
  mine.chunk = static_cast<int32_t>(itsLayer.chunk);
  mine.rollback = static_cast<int32_t>(kernel.rollback);
  mine.limit = kernel.limit;
  mine.policy = itsLayer.policy;
  mine.learned_sinks = static_cast<int32_t>(kernel.learned_sinks);
  giveAnswer(out, &mine, sizeof(mine));
  return KVC_OK;
}

/// KVC_OK, or why not, in `text`; `options` are null or have a right size.
kvc_status tryCreate(const kvc_options *options, kvc_cache **out, Text &text) {
  if (!out) {
    text << "out is null";
    return KVC_INVALID_ARGUMENT;
  }
  *out = nullptr;
  if (kvc_status refusal = checkHere()) {
    explain(refusal, text);
    return refusal;
  }
  return createCache(options, out, text);
}

kvc_status create(const kvc_options *options, kvc_cache **out) {
  forgetThreadError();
  if (options &&
      !isSize(options->size, KVC_LEAST(kvc_options, allocator_user))) {
    if (out)
      *out = nullptr;
    return refuseSize(options->size, "kvc_options", beginThreadError());
  }
  char words[errorBytes];
  Text text(words, sizeof(words));
  kvc_status status = tryCreate(options, out, text);
  if (status != KVC_OK)
    beginThreadError() << words;
  if (options && options->error && options->error_size > 0)
    Text(options->error, static_cast<int64_t>(options->error_size)) << words;
  return status;
}

kvc_status plan(int32_t layer, int64_t tokens, kvc_bytes *out) {
  if (kvc_status status = refuseHere())
    return status;
  return planBytes(layer, tokens, out);
}

/// Needs no cache, so it may come before any was refused. To ask the CPU costs
/// more than a small merge; what it has once it does not lose.
bool canMerge;

kvc_status merge(int32_t layer, const kvc_part *parts, size_t count,
                 int64_t tokens, void *out, float *lse) {
  forgetThreadError();
  if (!__atomic_load_n(&canMerge, __ATOMIC_RELAXED)) {
    if (kvc_status status = refuseHere())
      return status;
    __atomic_store_n(&canMerge, true, __ATOMIC_RELAXED);
  }
  return mergeParts(layer, parts, count, tokens, out, lse);
}

const char *lastError(const kvc_cache *cache) {
  return cache ? cache->error : threadError();
}

void destroy(kvc_cache *cache) {
  if (cache)
    destroyCache(cache);
}

const char *statusName(kvc_status status) {
  switch (status) {
  case KVC_OK:
    return "ok";
  case KVC_INVALID_ARGUMENT:
    return "invalid argument";
  case KVC_NOT_FINITE:
    return "not finite";
  case KVC_FULL:
    return "full";
  case KVC_ORDER:
    return "out of order";
  case KVC_OUT_OF_MEMORY:
    return "out of memory";
  case KVC_UNSUPPORTED_CPU:
    return "unsupported CPU";
  case KVC_VERSION:
    return "wrong version";
  case KVC_GONE:
    return "gone";
  case KVC_IO:
    return "input or output";
  case KVC_SNAPSHOT:
    return "not such a snapshot";
  }
  return "unknown status";
}

/// `function` under the library's float environment, whatever the caller's is.
template <auto function> struct Entered;
template <typename Result, typename... Arguments,
          Result (*function)(Arguments...)>
struct Entered<function> {
  static Result call(Arguments... arguments) {
    FloatEnvironment ours;
    return function(arguments...);
  }
};
template <auto function> constexpr auto entered = Entered<function>::call;

// All are entered but those that only tell what was written before.
constexpr kvc_library_table libraryTable = {
    KVC_ABI_VERSION,
    sizeof(kvc_library_table),
    info,
    layerInfo,
    entered<create>,
    entered<destroy>,
    entered<decodeSteps>,
    entered<prefillChunks>,
    entered<appendChunks>,
    entered<attendQueries>,
    entered<merge>,
    entered<resetCache>,
    entered<countStored>,
    entered<readStored>,
    entered<measure>,
    entered<plan>,
    lastError,
    statusName,
    entered<truncateCache>,
    entered<forkCache>,
    entered<saveFile>,
    entered<loadFile>,
    entered<saveTo>,
    entered<loadFrom>,
};

} // namespace

extern "C" const kvc_library_table *kvc_runtime_table() {
  return &libraryTable;
}
