//===- Append.cpp - taking tokens in ----------------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Ranges.h"
#include "runtime/Request.h"

namespace kvc::runtime {

namespace {

TokenRange join(TokenRange a, TokenRange b) {
  if (a.empty())
    return b;
  if (b.empty())
    return a;
  return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

int64_t longest(int64_t a, int64_t b) { return a > b ? a : b; }

void add(Ranges &ranges, const Ranges &other) {
  for (int64_t i = 0; i < KVC_MAX_STREAMS; ++i)
    ranges.streams[i] = join(ranges.streams[i], other.streams[i]);
}

/// What the streams must hold while tokens [seen, seen + count) are taken in
/// and their queries attend: at each length on the way, in each form.
Ranges neededFor(const Request &request, int64_t seen, int64_t count) {
  const kvc_gen_kernel &kernel = *request.kernel;
  int64_t end = seen + count;
  int64_t before = longest(request.store->reached, seen);
  Ranges needed = Ranges::held(kernel, seen, before);
  for (int64_t length = seen + 1; length <= end; ++length)
    add(needed, Ranges::live(kernel, length));
  add(needed, Ranges::held(kernel, end, longest(before, end)));
  // A token comes in its original form, also where it is coded at once.
  for (int64_t i = 0; i < kernel.streams; ++i) {
    const kvc_gen_stream &shape = kernel.stream[i];
    if (shape.kind == KVC_STREAM_ORIGINAL)
      needed.streams[i] =
          join(needed.streams[i], {longest(seen, shape.origin), end});
  }
  return needed;
}

/// The first token that is written to stream `i` when tokens come at length
/// `seen`.
int64_t firstWritten(const kvc_gen_kernel &kernel, int64_t i, int64_t seen) {
  const kvc_gen_stream &shape = kernel.stream[i];
  if (shape.remade)
    return shape.origin;
  if (shape.kind != KVC_STREAM_CODE)
    return seen;
  TokenRange coded = Ranges::live(kernel, seen).streams[i];
  return coded.end;
}

} // namespace

kvc_status reservePages(Request &request) {
  const kvc_gen_kernel &kernel = *request.kernel;
  LayerCache &store = *request.store;
  int64_t most[KVC_MAX_STREAMS] = {}, before[KVC_MAX_STREAMS];
  for (int64_t done = 0; done < request.tokens; done += kernel.rows) {
    int64_t left = request.tokens - done;
    Ranges needed = neededFor(request, store.seen + done,
                              left < kernel.rows ? left : kernel.rows);
    for (int64_t i = 0; i < kernel.streams && done == 0; ++i)
      request.needed[i] = needed.streams[i];
    for (int64_t i = 0; i < kernel.streams; ++i)
      most[i] = longest(most[i], store.streams[i].pagesOf(needed.streams[i]));
  }
  for (int64_t i = 0; i < kernel.streams; ++i)
    if (most[i] > kernel.stream[i].table_pages) {
      request.error() << "the page table of stream " << i << " has "
                      << kernel.stream[i].table_pages << " entries, and "
                      << most[i] << " pages are needed";
      return KVC_FULL;
    }
  for (int64_t i = 0; i < kernel.streams; ++i) {
    before[i] = store.streams[i].pageCount();
    // What others hold is copied before it is written; and where it leaves
    // before the last piece, it does not serve again here.
    if (store.streams[i].isForked())
      most[i] += store.streams[i].sharedFrom(
          request.tokens > kernel.rows ? kernel.stream[i].origin
                                       : firstWritten(kernel, i, store.seen));
    if (store.streams[i].reserve(most[i]))
      continue;
    for (int64_t j = 0; j <= i; ++j)
      store.streams[j].giveBack(before[j]);
    request.error() << "no memory for a page of " << kernel.stream[i].page_bytes
                    << " bytes";
    return KVC_OUT_OF_MEMORY;
  }
  return KVC_OK;
}

void appendPiece(const Request &request, int64_t count) {
  const kvc_gen_kernel &kernel = *request.kernel;
  kvc_cache &cache = *request.cache;
  LayerCache &store = *request.store;
  Ranges later;
  if (request.done > 0)
    later = neededFor(request, store.seen, count);
  const TokenRange *needed = request.done > 0 ? later.streams : request.needed;
  for (int64_t i = 0; i < kernel.streams; ++i) {
    if (store.streams[i].isForked() && request.done == 0)
      store.streams[i].own(firstWritten(kernel, i, store.seen));
    store.streams[i].cover(needed[i]);
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t token = store.seen, number = request.done + i;
    const float *angles = nullptr;
    if (request.layer->rope >= 0)
      angles =
          cache.angles.get(request.layer->rope, cache.firstPosition + token);
    store.saturated += kernel.append(
        &store.view, token,
        request.at(request.k, number, kernel.kv_heads * kernel.head_dim),
        request.at(request.v, number, kernel.kv_heads * kernel.value_dim),
        angles);
    store.saturated += kernel.code(&store.view, token + 1);
    store.seen = token + 1;
  }
  store.reached = longest(store.reached, store.seen);
  store.codedAt = 0;
}

bool ownCodes(LayerCache &store, const kvc_gen_kernel &kernel) {
  if (!kernel.recode)
    return true;
  for (int64_t i = 0; i < kernel.streams; ++i) {
    if (!kernel.stream[i].remade)
      continue;
    Stream &stream = store.streams[i];
    int64_t before = stream.pageCount();
    if (!stream.reserve(before + stream.sharedFrom(0))) {
      stream.giveBack(before);
      return false;
    }
    stream.own(0);
  }
  return true;
}

void recode(kvc_cache &cache, int64_t layer, int64_t seen) {
  int64_t owner = kvc_generated.layer[layer].owner;
  // A reader's own kernel stores nothing.
  const kvc_gen_kernel &kernel = *kvc_generated.layer[owner].kernel;
  LayerCache &store = cache.layers[owner];
  if (!kernel.recode || store.codedAt == seen)
    return;
  store.codesSaturated = kernel.recode(&store.view, seen);
  store.codedAt = seen;
}

void trimPages(const Request &request) {
  LayerCache &store = *request.store;
  Ranges held = Ranges::held(*request.kernel, store.seen, store.reached);
  for (int64_t i = 0; i < request.kernel->streams; ++i)
    store.streams[i].trim(held.streams[i]);
}

} // namespace kvc::runtime
