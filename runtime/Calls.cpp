//===- Calls.cpp - decode, prefill, append, attend, merge -------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A request checks everything, gets all memory, and only then changes the
// cache; from there on nothing can fail. Requests of one call whose caches are
// distinct go through their pieces together, so that threads have work.
//
//===----------------------------------------------------------------------===//

#include "runtime/Request.h"

namespace kvc::runtime {

namespace {

constexpr int64_t noLimit = INT64_MAX;

/// Requests that are under way together.
class Group {
public:
  /// Whether the cache is in none of the group's requests, and there is room.
  bool takes(const kvc_cache *cache) const {
    return count < mostRequests && !(cache && cache->busy);
  }
  void add(const Request &request) {
    requests[count++] = request;
    request.cache->busy = true;
  }
  void run();

private:
  bool runPieces();

  Request requests[mostRequests];
  int64_t count = 0;
};

/// Tokens of a request's next piece.
int64_t nextPiece(const Request &request) {
  int64_t left = request.tokens - request.done;
  return left < request.kernel->rows ? left : request.kernel->rows;
}

/// The next piece of each; false where all are through.
bool Group::runPieces() {
  int64_t counts[mostRequests] = {};
  bool some = false;
  for (int64_t i = 0; i < count; ++i) {
    Request &request = requests[i];
    counts[i] = nextPiece(request);
    if (counts[i] == 0)
      continue;
    some = true;
    if (request.appends && !request.isReader())
      appendPiece(request, counts[i]);
  }
  if (!some)
    return false;
  attendPieces(requests, counts, count);
  for (int64_t i = 0; i < count; ++i) {
    Request &request = requests[i];
    if (counts[i] && request.appends && !request.isReader())
      trimPages(request);
    request.done += counts[i];
  }
  return true;
}

void Group::run() {
  while (runPieces())
    ;
  for (int64_t i = 0; i < count; ++i) {
    const Request &request = requests[i];
    request.cache->busy = false;
    if (request.appends && request.isReader() && request.tokens > 0)
      request.cache->layers[request.layerNumber].seen =
          request.seen + request.tokens - 1;
  }
  count = 0;
}

/// The length as of which the token at `position` attends; 0 before the first
/// one. What is too far ahead for any cache is brought to where sums with it
/// are numbers still.
int64_t lengthAt(const kvc_cache &cache, int64_t position) {
  constexpr int64_t farthest = int64_t{1} << 62;
  if (position < cache.firstPosition)
    return 0;
  int64_t token = position - cache.firstPosition;
  return token < farthest ? token + 1 : farthest;
}

/// Looks a request's layer up, checks all and gets all memory.
kvc_status prepare(Request &request, int64_t position) {
  kvc_cache &cache = *request.cache;
  if (kvc_status status = checkLayer(request.layerNumber, beginError(cache)))
    return status;
  request.layer = &kvc_generated.layer[request.layerNumber];
  request.kernel = request.layer->kernel;
  request.store = &cache.layers[request.layer->owner];
  request.seen = lengthAt(cache, position);
  if (request.withSinks)
    request.sinks = cache.layers[request.layerNumber].sinks;
  if (kvc_status status = checkRequest(request, position))
    return status;
  if (request.attends)
    if (kvc_status status = reserveWorkspace(
            cache, workspaceFor(*request.layer, request.tokens)))
      return status;
  if (request.appends && !request.isReader())
    return reservePages(request);
  if (request.attends &&
      !ownCodes(*request.store,
                *kvc_generated.layer[request.layer->owner].kernel)) {
    request.error() << "no memory for codes of its own";
    return KVC_OUT_OF_MEMORY;
  }
  return KVC_OK;
}

Request requestOf(const kvc_chunk &chunk) {
  Request request = {};
  request.cache = chunk.cache;
  request.layerNumber = chunk.layer;
  request.appends = request.attends = request.withSinks = true;
  request.tokens = chunk.tokens;
  request.to = noLimit;
  request.q = chunk.q;
  request.k = chunk.k;
  request.v = chunk.v;
  request.out = chunk.out;
  request.lse = chunk.lse;
  return request;
}

/// A decode step is a chunk of one token.
Request requestOf(const kvc_step &step) {
  kvc_chunk chunk = {};
  chunk.cache = step.cache;
  chunk.layer = step.layer;
  chunk.tokens = 1;
  chunk.q = step.q;
  chunk.k = step.k;
  chunk.v = step.v;
  chunk.out = step.out;
  chunk.lse = step.lse;
  return requestOf(chunk);
}

Request requestOf(const kvc_query &query) {
  Request request = {};
  request.cache = query.cache;
  request.layerNumber = query.layer;
  request.attends = request.partial = true;
  request.withSinks = query.with_sinks != 0;
  request.tokens = query.tokens;
  if (query.cache) {
    int64_t first = query.cache->firstPosition;
    request.from = query.from > first ? query.from - first : 0;
    request.to = query.to > first ? query.to - first : 0;
    // An empty range may lie anywhere, but not the wrong way round.
    if (query.from > query.to)
      request.from = request.to + 1;
  }
  request.q = query.q;
  request.out = query.out;
  request.lse = query.lse;
  return request;
}

/// Runs the items of one call in their order as far as it can be felt: items
/// of one cache one after another.
template <typename Item>
kvc_status runItems(Item *items, size_t count, bool attends) {
  if (!items)
    return count ? refuseNull("the array of items") : KVC_OK;
  for (size_t i = 0; i < count; ++i)
    if (items[i].cache)
      items[i].cache->error[0] = '\0';
  kvc_status first = KVC_OK;
  bool isTold = false; // that an item has no cache
  Group group;
  for (size_t i = 0; i < count; ++i) {
    if (!group.takes(items[i].cache))
      group.run();
    kvc_status status = KVC_INVALID_ARGUMENT;
    if (items[i].cache) {
      Request request = requestOf(items[i]);
      request.attends = attends;
      status = prepare(request, items[i].position);
      if (status == KVC_OK)
        group.add(request);
    } else if (!isTold) {
      beginThreadError() << "item " << static_cast<int64_t>(i)
                         << ": cache is null";
      isTold = true;
    }
    items[i].status = status;
    if (first == KVC_OK)
      first = status;
  }
  group.run();
  return first;
}

} // namespace

kvc_status decodeSteps(kvc_step *steps, size_t count) {
  return runItems(steps, count, /*attends=*/true);
}

kvc_status prefillChunks(kvc_chunk *chunks, size_t count) {
  return runItems(chunks, count, /*attends=*/true);
}

kvc_status appendChunks(kvc_chunk *chunks, size_t count) {
  return runItems(chunks, count, /*attends=*/false);
}

kvc_status attendQueries(kvc_query *queries, size_t count) {
  return runItems(queries, count, /*attends=*/true);
}

/// The arguments of a merge, which needs no cache.
static kvc_status checkMerge(int32_t layer, const kvc_part *parts, size_t count,
                             int64_t tokens, const void *out) {
  if (!isLayer(layer))
    return checkLayer(layer, beginThreadError());
  if (tokens < 0 || tokens > mostTokens) {
    beginThreadError() << "tokens is " << tokens << ": 0 to 2^40 is taken";
    return KVC_INVALID_ARGUMENT;
  }
  if (count > PTRDIFF_MAX / sizeof(kvc_part)) {
    beginThreadError() << "count is more than any array has";
    return KVC_INVALID_ARGUMENT;
  }
  if (count > 0 && !parts)
    return refuseNull("parts");
  if (tokens > 0 && !out)
    return refuseNull("out");
  for (size_t i = 0; i < count && tokens > 0; ++i)
    if (!parts[i].out || !parts[i].lse) {
      beginThreadError() << (parts[i].out ? "lse" : "out") << " of part "
                         << static_cast<int64_t>(i) << " is null";
      return KVC_INVALID_ARGUMENT;
    }
  return KVC_OK;
}

kvc_status mergeParts(int32_t layer, const kvc_part *parts, size_t count,
                      int64_t tokens, void *out, float *lse) {
  if (kvc_status status = checkMerge(layer, parts, count, tokens, out))
    return status;
  static_assert(sizeof(kvc_part) == sizeof(kvc_gen_part));
  const kvc_gen_kernel &kernel = *kvc_generated.layer[layer].kernel;
  int64_t width = kernel.heads * kernel.value_dim;
  for (int64_t token = 0; token < tokens; ++token)
    kernel.merge(reinterpret_cast<const kvc_gen_part *>(parts),
                 static_cast<int64_t>(count), token,
                 static_cast<char *>(out) +
                     token * width * elementBytes(kvc_generated.io),
                 lse ? lse + token * kernel.heads : nullptr, /*partial=*/0);
  return KVC_OK;
}

kvc_status resetCache(kvc_cache *cache) {
  if (!cache)
    return refuseNull("cache");
  cache->error[0] = '\0';
  for (int64_t i = 0; i < kvc_generated.layers; ++i) {
    LayerCache &layer = cache->layers[i];
    layer.seen = layer.reached = layer.saturated = 0;
    layer.codedAt = layer.codesSaturated = 0;
    if (!isReader(i))
      for (int64_t j = 0; j < kvc_generated.layer[i].kernel->streams; ++j)
        layer.streams[j].trim({0, 0});
  }
  return KVC_OK;
}

} // namespace kvc::runtime
