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

/// Written once in a process; whoever comes while another thread writes it
/// waits for some hundred instructions.
enum RefusalState { Unwritten, BeingWritten, Written };
int refusalState = Unwritten;
char refusalText[256];

const char *refusalHere() {
  kvc_status refusal = checkHere();
  if (refusal == KVC_OK)
    return "";
  int state = Unwritten;
  if (__atomic_compare_exchange_n(&refusalState, &state, BeingWritten, false,
                                  __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
    Text text(refusalText, sizeof(refusalText));
    explain(refusal, text);
    __atomic_store_n(&refusalState, Written, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(&refusalState, __ATOMIC_ACQUIRE) != Written)
    ;
  return refusalText;
}

kvc_status info(kvc_info *out) {
  if (!out)
    return KVC_INVALID_ARGUMENT;
  out->abi_version = KVC_ABI_VERSION;
  out->name = kvc_generated.name;
  out->spec = kvc_generated.spec;
  out->target = kvc_generated.target;
  out->io = static_cast<kvc_type>(kvc_generated.io);
  out->layers = static_cast<int32_t>(kvc_generated.layers);
  out->kernels = static_cast<int32_t>(kvc_generated.kernels);
  return KVC_OK;
}

kvc_status layerInfo(int32_t layer, kvc_layer_info *out) {
  if (!out || layer < 0 || layer >= kvc_generated.layers)
    return KVC_INVALID_ARGUMENT;
  const kvc_gen_layer &itsLayer = kvc_generated.layer[layer];
  const kvc_gen_kernel &kernel = *itsLayer.kernel;
  out->heads = static_cast<int32_t>(kernel.heads);
  out->kv_heads = static_cast<int32_t>(kernel.kv_heads);
  out->head_dim = static_cast<int32_t>(kernel.head_dim);
  out->value_dim = static_cast<int32_t>(kernel.value_dim);
  out->owner = static_cast<int32_t>(itsLayer.owner);
  out->kernel = static_cast<int32_t>(itsLayer.kernel_number);
  out->piece = static_cast<int32_t>(kernel.rows);
  out->chunk = static_cast<int32_t>(itsLayer.chunk);
  out->rollback = static_cast<int32_t>(kernel.rollback);
  out->limit = kernel.limit;
  out->policy = itsLayer.policy;
  out->learned_sinks = static_cast<int32_t>(kernel.learned_sinks);
  return KVC_OK;
}

kvc_status create(const kvc_options *options, kvc_cache **out) {
  if (!out)
    return KVC_INVALID_ARGUMENT;
  *out = nullptr;
  if (kvc_status status = checkHere()) {
    // Also where the struct is of a version that ends behind these two.
    constexpr size_t told =
        offsetof(kvc_options, error_size) + sizeof(options->error_size);
    if (options && options->size >= told && options->error &&
        options->error_size > 0)
      Text(options->error, static_cast<int64_t>(options->error_size))
          << refusalHere();
    return status;
  }
  return createCache(options, out);
}

kvc_status plan(int32_t layer, int64_t tokens, kvc_bytes *out) {
  if (kvc_status status = checkHere())
    return status;
  return planBytes(layer, tokens, out);
}

/// Needs no cache, so it may come before any was refused. To ask the CPU costs
/// more than a small merge; what it has once it does not lose.
bool canMerge;

kvc_status merge(int32_t layer, const kvc_part *parts, size_t count,
                 int64_t tokens, void *out, float *lse) {
  if (!__atomic_load_n(&canMerge, __ATOMIC_RELAXED)) {
    if (kvc_status status = checkHere())
      return status;
    __atomic_store_n(&canMerge, true, __ATOMIC_RELAXED);
  }
  return mergeParts(layer, parts, count, tokens, out, lse);
}

const char *lastError(const kvc_cache *cache) {
  return cache ? cache->error : refusalHere();
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

constexpr kvc_library_table libraryTable = {
    KVC_ABI_VERSION,
    sizeof(kvc_library_table),
    info,
    layerInfo,
    create,
    destroy,
    decodeSteps,
    prefillChunks,
    appendChunks,
    attendQueries,
    merge,
    resetCache,
    countStored,
    readStored,
    measure,
    plan,
    lastError,
    statusName,
    truncateCache,
    forkCache,
    saveFile,
    loadFile,
    saveTo,
    loadFrom,
};

} // namespace

extern "C" const kvc_library_table *kvc_runtime_table() {
  return &libraryTable;
}
