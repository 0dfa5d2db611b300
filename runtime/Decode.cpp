//===- Decode.cpp - one token of one layer ----------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step checks everything, gets all pages, and only then changes the cache;
// from there on nothing can fail.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cache.h"
#include "runtime/Elements.h"

namespace kvc::runtime {

namespace {

/// One step, looked up. A reader's store is its owner's.
struct Step {
  kvc_cache &cache;
  const kvc_step &asked;
  const kvc_gen_layer &layer;
  const kvc_gen_kernel &kernel;
  LayerCache &store;
  bool reader;

  Text error() const {
    return beginError(cache) << "layer " << asked.layer << ": ";
  }
};

kvc_status checkPointers(const Step &step) {
  const kvc_step &asked = step.asked;
  if (step.reader && (asked.k || asked.v)) {
    step.error() << "it reads layer " << step.layer.owner
                 << "'s cache, so k and v must be null";
    return KVC_INVALID_ARGUMENT;
  }
  const char *missing = !asked.q      ? "q"
                        : !asked.out  ? "out"
                        : step.reader ? nullptr
                        : !asked.k    ? "k"
                        : !asked.v    ? "v"
                                      : nullptr;
  if (!missing)
    return KVC_OK;
  step.error() << missing << " is null";
  return KVC_INVALID_ARGUMENT;
}

kvc_status checkOrder(const Step &step) {
  int64_t next = step.cache.firstPosition + step.store.seen;
  if (!step.reader) {
    if (step.asked.position == next)
      return KVC_OK;
    step.error() << "position " << step.asked.position
                 << " is out of order: " << next << " comes next";
    return KVC_ORDER;
  }
  if (step.store.seen > 0 && step.asked.position == next - 1)
    return KVC_OK;
  Text text = step.error();
  text << "position " << step.asked.position << " is out of order: layer "
       << step.layer.owner << ", whose cache it reads, ";
  if (step.store.seen > 0)
    text << "is at " << next - 1;
  else
    text << "holds nothing yet";
  return KVC_ORDER;
}

/// `elements`: [rows, columns] of the library's io type.
kvc_status checkFinite(const Step &step, const char *name, const void *elements,
                       int64_t rows, int64_t columns) {
  int64_t io = kvc_generated.io;
  int64_t index = firstRefused(io, elements, rows * columns);
  if (index < 0)
    return KVC_OK;
  step.error() << name << "[" << index / columns << ", " << index % columns
               << "] is " << elementValue(io, elements, index)
               << ": magnitudes up to 2^56 are allowed";
  return KVC_NOT_FINITE;
}

kvc_status checkFinite(const Step &step) {
  const kvc_gen_kernel &kernel = step.kernel;
  const kvc_step &asked = step.asked;
  kvc_status status =
      checkFinite(step, "q", asked.q, kernel.heads, kernel.head_dim);
  if (status == KVC_OK && !step.reader)
    status = checkFinite(step, "k", asked.k, kernel.kv_heads, kernel.head_dim);
  if (status == KVC_OK && !step.reader)
    status = checkFinite(step, "v", asked.v, kernel.kv_heads, kernel.value_dim);
  return status;
}

kvc_status checkRoom(const Step &step) {
  int64_t limit = step.kernel.limit;
  if (step.reader || limit < 0 || step.store.seen < limit)
    return KVC_OK;
  step.error() << "it is full: its context is " << limit << " tokens";
  return KVC_FULL;
}

kvc_status check(const Step &step) {
  kvc_status status = checkPointers(step);
  if (status == KVC_OK)
    status = checkOrder(step);
  if (status == KVC_OK)
    status = checkFinite(step);
  if (status == KVC_OK)
    status = checkRoom(step);
  return status;
}

/// What each stream holds at one length.
struct Ranges {
  Ranges(const kvc_gen_kernel &kernel, int64_t seen) {
    kernel.ranges(seen, bounds);
  }
  TokenRange operator[](int64_t stream) const {
    return {bounds[2 * stream], bounds[2 * stream + 1]};
  }

  int64_t bounds[2 * KVC_MAX_STREAMS];
};

TokenRange join(TokenRange a, TokenRange b) {
  if (a.empty())
    return b;
  if (b.empty())
    return a;
  return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

/// What a stream must hold while `token` is appended and coded. A token comes
/// in its original form first, also where it is coded in the same step.
TokenRange neededBy(int64_t token, const kvc_gen_stream &shape,
                    TokenRange before, TokenRange after) {
  TokenRange needed = join(before, after);
  if (shape.kind == KVC_STREAM_ORIGINAL && token >= shape.origin)
    needed = join(needed, {token, token + 1});
  return needed;
}

/// The pages for the next token; where they cannot be had, the streams are as
/// they were.
kvc_status getPages(const Step &step, const Ranges &before,
                    const Ranges &after) {
  const kvc_gen_kernel &kernel = step.kernel;
  Stream *streams = step.store.streams;
  int64_t token = step.store.seen;
  kvc_status status = KVC_OK;
  int64_t failed = 0;
  for (int64_t i = 0; i < kernel.streams && status == KVC_OK; ++i) {
    failed = i;
    status = streams[i].cover(
        neededBy(token, kernel.stream[i], before[i], after[i]));
  }
  if (status == KVC_OK)
    return status;
  for (int64_t i = 0; i <= failed; ++i)
    streams[i].trim(before[i]);
  if (status == KVC_OUT_OF_MEMORY)
    step.error() << "no memory for a page of "
                 << kernel.stream[failed].page_bytes << " bytes";
  else
    step.error() << "the page table of stream " << failed
                 << " has no room for token " << token;
  return status;
}

/// Append the next token, code what is due and free what no stream holds.
kvc_status append(const Step &step) {
  const kvc_gen_kernel &kernel = step.kernel;
  LayerCache &store = step.store;
  int64_t token = store.seen;
  Ranges before(kernel, token), after(kernel, token + 1);
  if (kvc_status status = getPages(step, before, after))
    return status;

  const float *angles = nullptr;
  if (step.layer.rope >= 0)
    angles = step.cache.angles.get(step.layer.rope,
                                   step.cache.firstPosition + token);
  store.saturated +=
      kernel.append(&store.view, token, step.asked.k, step.asked.v, angles);
  store.saturated += kernel.code(&store.view, token + 1);
  for (int64_t i = 0; i < kernel.streams; ++i)
    store.streams[i].trim(after[i]);
  store.seen = token + 1;
  return KVC_OK;
}

/// Attend as the newest token of the store.
void attend(const Step &step) {
  const kvc_gen_kernel &kernel = step.kernel;
  const float *angles[KVC_MAX_QUERIES] = {};
  if (step.layer.rope >= 0 && kernel.queries > 0) {
    int64_t indices[KVC_MAX_QUERIES];
    kernel.indices(step.store.seen, indices);
    for (int64_t i = 0; i < kernel.queries; ++i)
      angles[i] = step.cache.angles.get(step.layer.rope,
                                        step.cache.firstPosition + indices[i]);
  }
  kernel.attend(&step.store.view, step.store.seen, step.asked.q, angles,
                step.asked.out, step.asked.lse,
                step.cache.layers[step.asked.layer].sinks);
}

kvc_status decode(const kvc_step &asked) {
  if (!asked.cache)
    return KVC_INVALID_ARGUMENT;
  kvc_cache &cache = *asked.cache;
  if (kvc_status status = checkLayer(cache, asked.layer))
    return status;
  const kvc_gen_layer &layer = kvc_generated.layer[asked.layer];
  Step step = {cache,
               asked,
               layer,
               *layer.kernel,
               cache.layers[layer.owner],
               isReader(asked.layer)};
  if (kvc_status status = check(step))
    return status;
  if (step.reader)
    cache.layers[asked.layer].seen = step.store.seen;
  else if (kvc_status status = append(step))
    return status;
  attend(step);
  return KVC_OK;
}

} // namespace

kvc_status decodeSteps(kvc_step *steps, size_t count) {
  if (!steps)
    return count ? KVC_INVALID_ARGUMENT : KVC_OK;
  for (size_t i = 0; i < count; ++i)
    if (steps[i].cache)
      steps[i].cache->error[0] = '\0';
  kvc_status first = KVC_OK;
  for (size_t i = 0; i < count; ++i) {
    steps[i].status = decode(steps[i]);
    if (first == KVC_OK)
      first = steps[i].status;
  }
  return first;
}

} // namespace kvc::runtime
