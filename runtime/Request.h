//===- Request.h - one chunk of one layer, looked up ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All calls that take tokens or queries are one thing: some tokens of a layer
// are appended, or not, and some queries attend, or not. A request goes through
// its tokens in pieces: what a piece's queries attend to stays held until they
// have read it.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_REQUEST_H
#define KVC_RUNTIME_REQUEST_H

#include "runtime/Cache.h"
#include "runtime/Elements.h"

namespace kvc::runtime {

/// Requests that go together at the most.
constexpr int64_t mostRequests = 32;
/// Tokens of one request at the most.
constexpr int64_t mostTokens = int64_t{1} << 40;

struct Request {
  kvc_cache *cache;
  int32_t layerNumber;
  const kvc_gen_layer *layer;
  const kvc_gen_kernel *kernel;
  LayerCache *store; ///< a reader's is its owner's

  // What is asked.
  bool appends, attends;
  bool partial;     ///< out is f32, over [from, to)
  bool withSinks;   ///< the softmax starts with the layer's learned sinks
  int64_t seen;     ///< length as of which the first token attends
  int64_t tokens;   ///< how many
  int64_t from, to; ///< tokens, first position excluded
  const void *q, *k, *v;
  void *out;
  float *lse;
  const float *sinks; ///< [heads]; null: none

  int64_t done; ///< tokens of earlier pieces
  /// What each stream must hold for the first piece: what pages were reserved
  /// for, so that a decode step asks once.
  TokenRange needed[KVC_MAX_STREAMS];

  bool isReader() const { return layer->owner != layerNumber; }
  Text error() const {
    return beginError(*cache) << "layer " << layerNumber << ": ";
  }
  /// A token of q, k, v or out.
  const void *at(const void *array, int64_t token, int64_t elements) const {
    return static_cast<const char *>(array) +
           token * elements * elementBytes(kvc_generated.io);
  }
};

// Checks.cpp

/// All that can be refused before memory is asked for.
kvc_status checkRequest(const Request &request, int64_t position);

// Append.cpp

/// Pages for all pieces of the request, so that none can fail; where they
/// cannot be had, the streams are as they were.
kvc_status reservePages(Request &request);
/// Appends the next `count` tokens, codes what is due, and keeps all that
/// their queries attend to.
void appendPiece(const Request &request, int64_t count);
/// Gives back what is not held any more.
void trimPages(const Request &request);

// Attend.cpp

/// Floats of a cache's workspace that pieces of so many tokens take.
int64_t workspaceFor(const kvc_gen_layer &layer, int64_t tokens);
kvc_status reserveWorkspace(kvc_cache &cache, int64_t floats);

/// The attention of a piece of each of some requests, which have caches of
/// their own. `counts` are the tokens of each; 0: none.
void attendPieces(Request *requests, const int64_t *counts, int64_t number);

} // namespace kvc::runtime

#endif // KVC_RUNTIME_REQUEST_H
