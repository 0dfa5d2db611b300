//===- Checks.cpp - what of a request is refused ----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/semantics.md has the checks in their order.
//
//===----------------------------------------------------------------------===//

#include "runtime/Elements.h"
#include "runtime/Request.h"

namespace kvc::runtime {

namespace {

/// The farthest that one can ask ahead.
constexpr int64_t farthestToken = int64_t{1} << 40;

kvc_status checkPointers(const Request &request) {
  if (request.isReader() && request.appends && !request.attends) {
    request.error() << "it reads layer " << request.layer->owner
                    << "'s cache: append to that one";
    return KVC_INVALID_ARGUMENT;
  }
  bool stores = request.appends && !request.isReader();
  if (!stores && (request.k || request.v)) {
    request.error() << "it reads layer " << request.layer->owner
                    << "'s cache, so k and v must be null";
    return KVC_INVALID_ARGUMENT;
  }
  if (!request.attends && (request.q || request.out || request.lse)) {
    request.error() << "append has no queries: q, out and lse must be null";
    return KVC_INVALID_ARGUMENT;
  }
  const char *missing = request.tokens == 0               ? nullptr
                        : request.attends && !request.q   ? "q"
                        : request.attends && !request.out ? "out"
                        : stores && !request.k            ? "k"
                        : stores && !request.v            ? "v"
                                                          : nullptr;
  if (!missing)
    return KVC_OK;
  request.error() << missing << " is null";
  return KVC_INVALID_ARGUMENT;
}

kvc_status checkSizes(const Request &request) {
  if (request.tokens < 0 || request.tokens > mostTokens) {
    request.error() << "tokens is " << request.tokens << ": 0 to 2^40 is taken";
    return KVC_INVALID_ARGUMENT;
  }
  if (request.from > request.to) {
    request.error() << "[from, to) ends before it begins";
    return KVC_INVALID_ARGUMENT;
  }
  return KVC_OK;
}

kvc_status checkSinks(const Request &request) {
  if (request.appends || !request.withSinks || request.kernel->learned_sinks)
    return KVC_OK;
  request.error() << "it takes no learned sinks, so with_sinks must be 0";
  return KVC_INVALID_ARGUMENT;
}

kvc_status checkChunk(const Request &request) {
  int64_t most = request.layer->chunk;
  if (!request.appends || request.isReader() || most < 0 ||
      request.tokens <= most)
    return KVC_OK;
  request.error() << "a chunk of " << request.tokens
                  << " tokens is more than the " << most
                  << " that the layers which read it can go back by: they are "
                     "rollback + 1";
  return KVC_INVALID_ARGUMENT;
}

/// A reader's queries do not go back, nor beyond its owner's newest token; it
/// may leave positions out. No queries may be where the next token will be, as
/// with an owner.
kvc_status checkReaderOrder(const Request &request, int64_t position) {
  int64_t first = request.cache->firstPosition;
  int64_t held = request.store->seen;
  int64_t last = request.cache->layers[request.layerNumber].seen;
  bool early = request.seen < (last > 1 ? last : 1);
  if (!early && request.seen + request.tokens - 1 <= held)
    return KVC_OK;
  Text text = request.error();
  text << "position " << position;
  int64_t newest;
  if (request.tokens > 1 &&
      !__builtin_add_overflow(position, request.tokens - 1, &newest))
    text << " to " << newest;
  text << " is out of order: ";
  if (early && last > 0)
    text << "it has been at " << first + last - 1;
  else if (early)
    text << "positions begin at " << first;
  else if (held > 0)
    text << "layer " << request.layer->owner << ", whose cache it reads, is at "
         << first + held - 1;
  else
    text << "layer " << request.layer->owner
         << ", whose cache it reads, holds nothing yet";
  return KVC_ORDER;
}

kvc_status checkOrder(const Request &request, int64_t position) {
  int64_t first = request.cache->firstPosition;
  if (!request.appends) {
    if (position >= first && position - first <= farthestToken)
      return KVC_OK;
    request.error() << "position " << position
                    << " is none of this cache: " << first << " to "
                    << first + farthestToken << " are";
    return KVC_INVALID_ARGUMENT;
  }
  if (request.isReader())
    return checkReaderOrder(request, position);
  int64_t next = first + request.store->seen;
  if (position == next)
    return KVC_OK;
  request.error() << "position " << position << " is out of order: " << next
                  << " comes next";
  return KVC_ORDER;
}

/// Queries that look back: all that they attend to must still be there.
kvc_status checkReach(const Request &request) {
  if (!request.attends || (request.appends && !request.isReader()))
    return KVC_OK;
  // A reader's own kernel may not know what is held.
  const kvc_gen_kernel &kernel =
      *kvc_generated.layer[request.layer->owner].kernel;
  const LayerCache &store = *request.store;
  int64_t held[2 * KVC_MAX_STREAMS], wanted[2 * KVC_MAX_STREAMS];
  kernel.held(store.seen, store.reached, held);
  for (int64_t row = 0; row < request.tokens; ++row) {
    int64_t seen = request.seen + row;
    if (seen >= store.seen)
      break;
    kernel.ranges(seen, wanted);
    for (int64_t i = 0; i < kernel.streams; ++i) {
      int64_t begin = wanted[2 * i], end = wanted[2 * i + 1];
      bool all = kernel.recode; // what codes are made of is all of it
      begin = begin > request.from || all ? begin : request.from;
      end = end < request.to || all ? end : request.to;
      if (begin >= end || begin >= held[2 * i])
        continue;
      int64_t first = request.cache->firstPosition;
      request.error() << "position " << first + seen - 1
                      << " attends to what was evicted or coded since: layer "
                      << request.layer->owner << " is at "
                      << first + store.seen - 1 << ", and its rollback is "
                      << kernel.rollback;
      return KVC_GONE;
    }
  }
  return KVC_OK;
}

/// `elements`: [tokens, heads, columns] of the library's io type.
kvc_status checkFinite(const Request &request, const char *name,
                       const void *elements, int64_t heads, int64_t columns) {
  int64_t io = kvc_generated.io;
  int64_t index = firstRefused(io, elements, request.tokens * heads * columns);
  if (index < 0)
    return KVC_OK;
  Text text = request.error();
  text << name << "[";
  if (request.tokens > 1)
    text << index / columns / heads << ", ";
  text << index / columns % heads << ", " << index % columns << "] is "
       << elementValue(io, elements, index)
       << ": magnitudes up to 2^56 are allowed";
  return KVC_NOT_FINITE;
}

kvc_status checkFinite(const Request &request) {
  const kvc_gen_kernel &kernel = *request.kernel;
  kvc_status status = KVC_OK;
  if (request.attends)
    status =
        checkFinite(request, "q", request.q, kernel.heads, kernel.head_dim);
  if (!request.appends || request.isReader())
    return status;
  if (status == KVC_OK)
    status =
        checkFinite(request, "k", request.k, kernel.kv_heads, kernel.head_dim);
  if (status == KVC_OK)
    status =
        checkFinite(request, "v", request.v, kernel.kv_heads, kernel.value_dim);
  return status;
}

kvc_status checkRoom(const Request &request) {
  int64_t limit = request.kernel->limit;
  if (!request.appends || request.isReader() || limit < 0 ||
      request.tokens <= limit - request.store->seen)
    return KVC_OK;
  Text text = request.error();
  if (request.store->seen == limit)
    text << "it is full: its context is " << limit << " tokens";
  else
    text << request.tokens << " tokens do not fit: its context is " << limit
         << " tokens, and it has " << request.store->seen;
  return KVC_FULL;
}

} // namespace

kvc_status checkRequest(const Request &request, int64_t position) {
  kvc_status status = checkPointers(request);
  if (status == KVC_OK)
    status = checkSizes(request);
  if (status == KVC_OK)
    status = checkSinks(request);
  if (status == KVC_OK)
    status = checkChunk(request);
  if (status == KVC_OK)
    status = checkOrder(request, position);
  if (status == KVC_OK)
    status = checkReach(request);
  if (status == KVC_OK)
    status = checkFinite(request);
  if (status == KVC_OK)
    status = checkRoom(request);
  return status;
}

} // namespace kvc::runtime
