//===- Calls.cpp - calls of a library, in floats --------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Calls.h"

#include "compiler/harness/Crash.h"

#include <cstring>

using namespace llvm;

namespace kvc::harness {

static const void *orNull(const std::vector<uint8_t> &bytes) {
  return bytes.empty() ? nullptr : bytes.data();
}

CallBuffers::CallBuffers(const LoadedLibrary &library, int64_t layer,
                         const Tokens &tokens)
    : layer(layer), position(tokens.position), count(tokens.count),
      io(library.io()), q(narrow(io, tokens.q)), k(narrow(io, tokens.k)),
      v(narrow(io, tokens.v)) {
  const LayerShape &shape = library.layers()[layer];
  out.resize(count * shape.heads * shape.valueDim * elementBytes(io));
  lse.resize(count * shape.heads);
}

kvc_step CallBuffers::step(kvc_cache *cache) {
  kvc_step step = {};
  step.cache = cache;
  step.layer = static_cast<int32_t>(layer);
  step.position = position;
  step.q = orNull(q);
  step.k = orNull(k);
  step.v = orNull(v);
  step.out = out.data();
  step.lse = lse.data();
  return step;
}

kvc_chunk CallBuffers::chunk(kvc_cache *cache, bool attends) {
  kvc_chunk chunk = {};
  chunk.cache = cache;
  chunk.layer = static_cast<int32_t>(layer);
  chunk.position = position;
  chunk.tokens = count;
  chunk.k = orNull(k);
  chunk.v = orNull(v);
  if (!attends)
    return chunk;
  chunk.q = orNull(q);
  chunk.out = out.data();
  chunk.lse = lse.data();
  return chunk;
}

kvc_query CallBuffers::query(kvc_cache *cache, int64_t from, int64_t to,
                             bool withSinks) {
  part.resize(static_cast<int64_t>(out.size()) / elementBytes(io));
  kvc_query query = {};
  query.cache = cache;
  query.layer = static_cast<int32_t>(layer);
  query.position = position;
  query.tokens = count;
  query.from = from;
  query.to = to;
  query.with_sinks = withSinks;
  query.q = orNull(q);
  query.out = part.data();
  query.lse = lse.data();
  return query;
}

Output CallBuffers::output() const {
  return {widen(io, out.data(),
                static_cast<int64_t>(out.size()) / elementBytes(io)),
          lse};
}

kvc_status decode(const LoadedLibrary &library, const LibraryCache &cache,
                  int64_t layer, const Tokens &token, Output &output) {
  CallBuffers buffers(library, layer, token);
  kvc_step step = buffers.step(cache.get());
  if (kvc_status status = LibraryCall("decode", layer, token.position)
                              .run(library->decode, &step, 1))
    return status;
  output = buffers.output();
  return step.status;
}

kvc_status prefill(const LoadedLibrary &library, const LibraryCache &cache,
                   int64_t layer, const Tokens &tokens, Output &output) {
  CallBuffers buffers(library, layer, tokens);
  kvc_chunk chunk = buffers.chunk(cache.get(), /*attends=*/true);
  if (kvc_status status = LibraryCall("prefill", layer, tokens.position)
                              .run(library->prefill, &chunk, 1))
    return status;
  output = buffers.output();
  return chunk.status;
}

kvc_status append(const LoadedLibrary &library, const LibraryCache &cache,
                  int64_t layer, const Tokens &tokens) {
  CallBuffers buffers(library, layer, tokens);
  kvc_chunk chunk = buffers.chunk(cache.get(), /*attends=*/false);
  kvc_status status = LibraryCall("append", layer, tokens.position)
                          .run(library->append, &chunk, 1);
  return status ? status : chunk.status;
}

kvc_status attend(const LoadedLibrary &library, const LibraryCache &cache,
                  int64_t layer, const Tokens &tokens, int64_t from, int64_t to,
                  bool withSinks, Output &output) {
  CallBuffers buffers(library, layer, tokens);
  kvc_query query = buffers.query(cache.get(), from, to, withSinks);
  if (kvc_status status = LibraryCall("attend", layer, tokens.position)
                              .run(library->attend, &query, 1))
    return status;
  output = buffers.partOutput();
  return query.status;
}

kvc_status merge(const LoadedLibrary &library, int64_t layer, int64_t tokens,
                 ArrayRef<Output> parts, Output &output) {
  const LayerShape &shape = library.layers()[layer];
  const Element io = library.io();
  const int64_t rows = tokens * shape.heads;
  std::vector<kvc_part> table;
  for (const Output &part : parts)
    table.push_back({part.out.data(), part.lse.data()});
  std::vector<uint8_t> out(rows * shape.valueDim * elementBytes(io));
  std::vector<float> lse(rows);
  if (kvc_status status = LibraryCall("merge", layer)
                              .run(library->merge, static_cast<int32_t>(layer),
                                   table.data(), table.size(), tokens,
                                   static_cast<void *>(out.data()), lse.data()))
    return status;
  output = {widen(io, out.data(), rows * shape.valueDim), std::move(lse)};
  return KVC_OK;
}

kvc_status truncate(const LoadedLibrary &library, const LibraryCache &cache,
                    int64_t tokens) {
  return LibraryCall("truncate").run(library->truncate, cache.get(), tokens);
}

kvc_status reset(const LoadedLibrary &library, const LibraryCache &cache) {
  return LibraryCall("reset").run(library->reset, cache.get());
}

kvc_status fork(const LoadedLibrary &library, const LibraryCache &cache,
                std::optional<LibraryCache> &fork) {
  kvc_cache *made = nullptr;
  if (kvc_status status = LibraryCall("fork").run(
          library->fork, cache.get(), (const kvc_options *)nullptr, &made))
    return status;
  fork.emplace(*library, made);
  return KVC_OK;
}

static int addBytes(void *user, const void *bytes, size_t count) {
  auto *to = static_cast<std::vector<uint8_t> *>(user);
  const auto *from = static_cast<const uint8_t *>(bytes);
  to->insert(to->end(), from, from + count);
  return 0;
}

kvc_status save(const LoadedLibrary &library, const LibraryCache &cache,
                std::vector<uint8_t> &bytes) {
  bytes.clear();
  return LibraryCall("save_to").run(library->save_to, cache.get(), addBytes,
                                    static_cast<void *>(&bytes));
}

static size_t takeBytes(void *user, void *bytes, size_t count) {
  auto *from = static_cast<ArrayRef<uint8_t> *>(user);
  count = std::min(count, from->size());
  if (count > 0)
    std::memcpy(bytes, from->data(), count);
  *from = from->drop_front(count);
  return count;
}

kvc_status load(const LoadedLibrary &library, const LibraryCache &cache,
                ArrayRef<uint8_t> bytes) {
  return LibraryCall("load_from")
      .run(library->load_from, cache.get(), takeBytes,
           static_cast<void *>(&bytes));
}

} // namespace kvc::harness
