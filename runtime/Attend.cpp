//===- Attend.cpp - attention of pieces, on threads -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work of a piece is cut by heads of keys and, where those are few and
// tokens many, by tokens; the parts are merged in their order. The cut follows
// from the shape and the length alone, so results do not depend on threads.
//
//===----------------------------------------------------------------------===//

#include "runtime/Request.h"

namespace kvc::runtime {

namespace {

/// Cuts by tokens have at least so many, and there are no more than make as
/// many parts, heads included.
constexpr int64_t tokensOfPart = 1024, partsOfLayer = 16;
/// Where a cut is moved to: pages begin there in most layouts.
constexpr int64_t cutUnit = 64;

int64_t mostParts(const kvc_gen_kernel &kernel) {
  return (partsOfLayer + kernel.kv_heads - 1) / kernel.kv_heads;
}

int64_t lines(int64_t floats) { return (floats + 15) / 16 * 16; }

int64_t anglesOf(const kvc_gen_layer &layer) {
  return layer.rope < 0 ? 0 : 2 * kvc_generated.rope[layer.rope].pairs;
}

/// A single row takes the tables of angles as they are; several want them side
/// by side in the workspace.
int64_t angleFloats(const kvc_gen_layer &layer, int64_t rows) {
  const kvc_gen_kernel &kernel = *layer.kernel;
  return rows <= 1 ? 0 : lines(kernel.queries * kernel.rows * anglesOf(layer));
}

/// One request's piece: the arguments that its heads and parts share, and
/// where the parts' results go.
struct Piece {
  const Request *request;
  kvc_gen_rows rows;
  int64_t parts;
  int64_t sinks, first, tokens; ///< what is cut: tokens [first, first + tokens)
  float *out, *lse;             ///< of the parts

  int64_t items() const { return request->kernel->kv_heads * parts; }
  int64_t outFloats() const {
    return rows.rows * request->kernel->heads * request->kernel->value_dim;
  }
  int64_t lseFloats() const { return rows.rows * request->kernel->heads; }

  void open(const Request &itsRequest, int64_t count);
  void fillAngles(float *workspace);
  void cut();
  int64_t border(int64_t part) const;
  void run(int64_t item) const;
  void merge() const;
};

void Piece::open(const Request &itsRequest, int64_t count) {
  request = &itsRequest;
  const kvc_gen_kernel &kernel = *request->kernel;
  rows = {};
  rows.seen = request->seen + request->done;
  rows.rows = count;
  rows.newest = request->store->seen;
  // Before threads start: they share what is stored.
  recode(*request->cache, request->layerNumber,
         rows.seen < rows.newest ? rows.seen : rows.newest);
  rows.from = request->from;
  rows.to = request->to;
  rows.sinks = request->sinks;
  rows.q =
      request->at(request->q, request->done, kernel.heads * kernel.head_dim);
  rows.partial = request->partial;
  int64_t row = kernel.heads * kernel.value_dim;
  if (request->partial)
    rows.out = static_cast<float *>(request->out) + request->done * row;
  else
    rows.out =
        const_cast<void *>(request->at(request->out, request->done, row));

  float *workspace = request->cache->workspace;
  fillAngles(workspace);
  workspace += angleFloats(*request->layer, count);
  rows.lse =
      request->lse ? request->lse + request->done * kernel.heads : workspace;
  workspace += lines(lseFloats());
  cut();
  lse = workspace;
  out = workspace + lines(parts * lseFloats());
}

void Piece::fillAngles(float *workspace) {
  const kvc_gen_layer &layer = *request->layer;
  const kvc_gen_kernel &kernel = *request->kernel;
  kvc_cache &cache = *request->cache;
  if (layer.rope < 0)
    return;
  int64_t size = anglesOf(layer), indices[KVC_MAX_QUERIES];
  for (int64_t row = 0; row < rows.rows; ++row) {
    kernel.indices(rows.seen + row, indices);
    for (int64_t i = 0; i < kernel.queries; ++i) {
      int64_t index = cache.firstPosition + indices[i];
      if (rows.rows == 1) {
        rows.angles[i] = cache.angles.get(layer.rope, index);
        continue;
      }
      float *tables = workspace + i * kernel.rows * size;
      rows.angles[i] = tables;
      runtime::fillAngles(kvc_generated.rope[layer.rope], index,
                          tables + row * size);
    }
  }
}

void Piece::cut() {
  const kvc_gen_kernel &kernel = *request->kernel;
  int64_t live[2];
  kernel.live(rows.seen, live);
  int64_t last = rows.seen + rows.rows - 1;
  last = last < rows.newest ? last : rows.newest;
  sinks = live[0];
  first = live[1] > rows.from ? live[1] : rows.from;
  tokens = (last < rows.to ? last : rows.to) - first;
  parts = tokens / tokensOfPart;
  // Parts have nothing but f32 for lse.
  if (rows.seen + rows.rows - 1 - (first + tokens) > kernel.near)
    parts = 1;
  int64_t most = mostParts(kernel);
  parts = parts > most ? most : parts < 1 ? 1 : parts;
}

/// The first token of a part; sinks belong to the first one.
int64_t Piece::border(int64_t part) const {
  if (part == 0)
    return rows.from;
  if (part == parts)
    return rows.to;
  int64_t token = first + tokens * part / parts;
  return token - (token - sinks) % cutUnit;
}

void Piece::run(int64_t item) const {
  const kvc_gen_kernel &kernel = *request->kernel;
  kvc_gen_rows mine = rows;
  mine.head = item / parts;
  if (parts > 1) {
    int64_t part = item % parts;
    mine.from = border(part);
    mine.to = border(part + 1);
    mine.out = out + part * outFloats();
    mine.lse = lse + part * lseFloats();
    mine.partial = 1;
    if (part > 0)
      mine.sinks = nullptr; // they count once
  }
  auto attend = rows.rows == 1 ? kernel.attend : kernel.attend_rows;
  attend(&request->store->view, &mine);
}

void Piece::merge() const {
  if (parts == 1)
    return;
  const kvc_gen_kernel &kernel = *request->kernel;
  kvc_gen_part table[partsOfLayer];
  for (int64_t part = 0; part < parts; ++part)
    table[part] = {out + part * outFloats(), lse + part * lseFloats()};
  int64_t width = rows.partial ? 4 : elementBytes(kvc_generated.io);
  for (int64_t row = 0; row < rows.rows; ++row)
    kernel.merge(table, parts, row,
                 static_cast<char *>(rows.out) +
                     row * kernel.heads * kernel.value_dim * width,
                 rows.lse + row * kernel.heads, rows.partial);
}

/// The pieces of one wave; items are counted through them.
struct Wave {
  Piece pieces[mostRequests];
  int64_t count;
  int64_t items;

  static void run(void *context, int64_t item) {
    const Wave &wave = *static_cast<const Wave *>(context);
    const Piece *piece = wave.pieces;
    for (; item >= piece->items(); ++piece)
      item -= piece->items();
    piece->run(item);
  }
};

} // namespace

int64_t workspaceFor(const kvc_gen_layer &layer, int64_t tokens) {
  const kvc_gen_kernel &kernel = *layer.kernel;
  int64_t rows = tokens < kernel.rows ? tokens : kernel.rows;
  int64_t parts = mostParts(kernel);
  return angleFloats(layer, rows) + lines(rows * kernel.heads) +
         lines(parts * rows * kernel.heads) +
         (parts > 1 ? parts * rows * kernel.heads * kernel.value_dim : 0);
}

kvc_status reserveWorkspace(kvc_cache &cache, int64_t floats) {
  if (floats <= cache.workspaceFloats)
    return KVC_OK;
  float *more = static_cast<float *>(
      cache.memory.page(static_cast<size_t>(floats) * sizeof(float)));
  if (!more) {
    beginError(cache) << "no memory for a workspace of " << 4 * floats
                      << " bytes";
    return KVC_OUT_OF_MEMORY;
  }
  cache.memory.give(cache.workspace);
  cache.workspace = more;
  cache.workspaceFloats = floats;
  return KVC_OK;
}

void attendPieces(Request *requests, const int64_t *counts, int64_t number) {
  Wave wave;
  wave.count = wave.items = 0;
  Executor executor = {};
  for (int64_t i = 0; i < number; ++i) {
    if (counts[i] == 0 || !requests[i].attends)
      continue;
    Piece &piece = wave.pieces[wave.count++];
    piece.open(requests[i], counts[i]);
    wave.items += piece.items();
    if (!executor.hasThreads())
      executor = requests[i].cache->executor;
  }
  executor.run(wave.items, Wave::run, &wave);
  for (int64_t i = 0; i < wave.count; ++i)
    wave.pieces[i].merge();
}

} // namespace kvc::runtime
