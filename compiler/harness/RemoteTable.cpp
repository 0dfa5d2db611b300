//===- RemoteTable.cpp - kvc.h's functions, called elsewhere --------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each function of the table: which of its arguments are numbers, which are
// memory and how much of it. Arrays that are written go there too, so that one
// that a call leaves alone is left alone here.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Files.h"
#include "compiler/harness/Remote.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstddef>
#include <cstring>

using namespace llvm;

namespace kvc::harness {

namespace {

/// What the table's functions call.
struct Current {
  Remote *remote = nullptr;
  int64_t elementBytes = 4;
  std::vector<kvc_layer_info> layers;
};
Current current;

/// Where there is nobody left to give a status: an error, whose name and text
/// are then others.
constexpr kvc_status Ended = KVC_VERSION;

} // namespace

#define KVC_CALL(name) RemoteCall call(offsetof(kvc_library_table, name))

static kvc_status finish(const RemoteCall &call) {
  auto result = current.remote ? current.remote->call(call) : std::nullopt;
  return result ? static_cast<kvc_status>(static_cast<int32_t>(*result))
                : Ended;
}

static const char *textOf(const RemoteCall &call) {
  if (!current.remote)
    return "the library is closed";
  auto address = current.remote->call(call);
  return address ? current.remote->text(*address)
                 : current.remote->end().c_str();
}

/// A text of the library's own, whose address is `text` there.
static const char *fetch(const char *text) {
  return current.remote->text(reinterpret_cast<uintptr_t>(text));
}

static kvc_status info(kvc_info *out) {
  KVC_CALL(info);
  call.passResult(out, sizeof *out);
  const kvc_status status = finish(call);
  if (status == KVC_OK) {
    out->name = fetch(out->name);
    out->spec = fetch(out->spec);
    out->target = fetch(out->target);
  }
  return status;
}

static kvc_status layerInfo(int32_t layer, kvc_layer_info *out) {
  KVC_CALL(layer_info);
  call.pass(layer);
  call.passResult(out, sizeof *out);
  const kvc_status status = finish(call);
  if (status == KVC_OK)
    out->policy = fetch(out->policy);
  return status;
}

/// The table of learned sinks, with what it points to.
static size_t sinksOf(RemoteCall &call, const float *const *sinks) {
  const size_t table =
      call.buffer(sinks, current.layers.size() * sizeof *sinks);
  for (size_t layer = 0; layer < current.layers.size(); ++layer)
    if (sinks[layer])
      call.point(table, layer * sizeof *sinks,
                 call.buffer(sinks[layer],
                             static_cast<size_t>(current.layers[layer].heads) *
                                 sizeof(float)));
  return table;
}

/// False where they name what cannot be called from there: functions of this
/// process.
static bool passOptions(RemoteCall &call, const kvc_options *options) {
  if (!options) {
    call.pass(int64_t{0});
    return true;
  }
  if (options->parallel_for || options->allocate || options->release)
    return false;
  const size_t there = call.buffer(options, sizeof *options);
  if (options->learned_sinks)
    call.point(there, offsetof(kvc_options, learned_sinks),
               sinksOf(call, options->learned_sinks));
  if (options->error)
    call.point(there, offsetof(kvc_options, error),
               call.result(options->error, options->error_size));
  call.passBuffer(there);
  return true;
}

static kvc_status create(const kvc_options *options, kvc_cache **out) {
  KVC_CALL(create);
  if (!passOptions(call, options))
    return KVC_INVALID_ARGUMENT;
  call.passResult(out, sizeof *out);
  return finish(call);
}

static void destroy(kvc_cache *cache) {
  KVC_CALL(destroy);
  call.pass(cache);
  finish(call);
}

static kvc_layer_info shapeOf(int32_t layer) {
  const auto number = static_cast<size_t>(layer);
  // The library refuses such a layer before it reads anything.
  return number < current.layers.size() ? current.layers[number]
                                        : kvc_layer_info{};
}

namespace {
/// Memory that a member of a struct points to.
struct Memory {
  size_t member; ///< its offset
  const void *data;
  int64_t elements, bytes; ///< bytes of an element
  bool comesBack = false;
};
} // namespace

/// Calls a function of (Item *items, size_t count) that writes each item's
/// status; `memoryOf` says what an item's pointers point to.
template <typename Item>
static kvc_status callItems(
    RemoteCall &call, Item *items, size_t count,
    function_ref<SmallVector<Memory>(const Item &, const kvc_layer_info &)>
        memoryOf) {
  // What comes back has addresses of the other side.
  std::vector<Item> there(items, items + count);
  const size_t array = call.result(there.data(), count * sizeof(Item));
  for (size_t i = 0; i < count; ++i)
    for (const Memory &memory : memoryOf(items[i], shapeOf(items[i].layer))) {
      if (!memory.data)
        continue;
      void *data = const_cast<void *>(memory.data);
      const auto size = static_cast<size_t>(memory.elements * memory.bytes);
      call.point(array, i * sizeof(Item) + memory.member,
                 memory.comesBack ? call.result(data, size)
                                  : call.buffer(data, size));
    }
  call.passBuffer(array);
  call.pass(static_cast<int64_t>(count));
  const kvc_status status = finish(call);
  for (size_t i = 0; i < count; ++i)
    items[i].status = status == Ended ? Ended : there[i].status;
  return status;
}

static kvc_status decode(kvc_step *steps, size_t count) {
  KVC_CALL(decode);
  const int64_t io = current.elementBytes;
  return callItems<kvc_step>(
      call, steps, count,
      [io](const kvc_step &step,
           const kvc_layer_info &shape) -> SmallVector<Memory> {
        const int64_t outs = shape.heads * shape.value_dim;
        return {
            {offsetof(kvc_step, q), step.q, shape.heads * shape.head_dim, io},
            {offsetof(kvc_step, k), step.k, shape.kv_heads * shape.head_dim,
             io},
            {offsetof(kvc_step, v), step.v, shape.kv_heads * shape.value_dim,
             io},
            {offsetof(kvc_step, out), step.out, outs, io, true},
            {offsetof(kvc_step, lse), step.lse, shape.heads, sizeof(float),
             true}};
      });
}

/// What the pointers of a chunk point to: as many times as it has tokens.
static SmallVector<Memory> memoryOf(const kvc_chunk &chunk,
                                    const kvc_layer_info &shape) {
  const int64_t io = current.elementBytes;
  const int64_t tokens = std::max<int64_t>(0, chunk.tokens);
  const int64_t kvs = tokens * shape.kv_heads, heads = tokens * shape.heads;
  return {
      {offsetof(kvc_chunk, q), chunk.q, heads * shape.head_dim, io},
      {offsetof(kvc_chunk, k), chunk.k, kvs * shape.head_dim, io},
      {offsetof(kvc_chunk, v), chunk.v, kvs * shape.value_dim, io},
      {offsetof(kvc_chunk, out), chunk.out, heads * shape.value_dim, io, true},
      {offsetof(kvc_chunk, lse), chunk.lse, heads, sizeof(float), true}};
}

static kvc_status prefill(kvc_chunk *chunks, size_t count) {
  KVC_CALL(prefill);
  return callItems<kvc_chunk>(call, chunks, count, memoryOf);
}

static kvc_status append(kvc_chunk *chunks, size_t count) {
  KVC_CALL(append);
  return callItems<kvc_chunk>(call, chunks, count, memoryOf);
}

static kvc_status attend(kvc_query *queries, size_t count) {
  KVC_CALL(attend);
  const int64_t io = current.elementBytes;
  return callItems<kvc_query>(
      call, queries, count,
      [io](const kvc_query &query,
           const kvc_layer_info &shape) -> SmallVector<Memory> {
        const int64_t heads = std::max<int64_t>(0, query.tokens) * shape.heads;
        return {
            {offsetof(kvc_query, q), query.q, heads * shape.head_dim, io},
            {offsetof(kvc_query, out), query.out, heads * shape.value_dim,
             sizeof(float), true},
            {offsetof(kvc_query, lse), query.lse, heads, sizeof(float), true}};
      });
}

static kvc_status merge(int32_t layer, const kvc_part *parts, size_t count,
                        int64_t tokens, void *out, float *lse) {
  KVC_CALL(merge);
  const kvc_layer_info shape = shapeOf(layer);
  const auto rows =
      static_cast<size_t>(std::max<int64_t>(0, tokens) * shape.heads);
  const auto dim = static_cast<size_t>(shape.value_dim);
  const size_t array = call.buffer(parts, count * sizeof *parts);
  for (size_t i = 0; i < count; ++i) {
    call.point(array, i * sizeof *parts + offsetof(kvc_part, out),
               call.buffer(parts[i].out, rows * dim * sizeof(float)));
    call.point(array, i * sizeof *parts + offsetof(kvc_part, lse),
               call.buffer(parts[i].lse, rows * sizeof(float)));
  }
  call.pass(layer);
  call.passBuffer(array);
  call.pass(static_cast<int64_t>(count));
  call.pass(tokens);
  call.passResult(out, rows * dim * static_cast<size_t>(current.elementBytes));
  call.passResult(lse, rows * sizeof(float));
  return finish(call);
}

static kvc_status reset(kvc_cache *cache) {
  KVC_CALL(reset);
  call.pass(cache);
  return finish(call);
}

static kvc_status stored(kvc_cache *cache, int32_t layer, int64_t *out) {
  KVC_CALL(stored);
  call.pass(cache);
  call.pass(layer);
  call.passResult(out, sizeof *out);
  return finish(call);
}

static kvc_status read(kvc_cache *cache, int32_t layer, int64_t from,
                       int64_t to, float *keys, float *values,
                       int64_t *positions) {
  KVC_CALL(read);
  const kvc_layer_info shape = shapeOf(layer);
  // A range that is none is refused before anything is written.
  const auto rows = static_cast<size_t>(std::max<int64_t>(0, to - from));
  const size_t row = rows * static_cast<size_t>(shape.kv_heads) * sizeof(float);
  call.pass(cache);
  call.pass(layer);
  call.pass(from);
  call.pass(to);
  call.passResult(keys, row * static_cast<size_t>(shape.head_dim));
  call.passResult(values, row * static_cast<size_t>(shape.value_dim));
  call.passResult(positions, rows * sizeof *positions);
  return finish(call);
}

static kvc_status stats(kvc_cache *cache, int32_t layer, kvc_stats *out) {
  KVC_CALL(stats);
  call.pass(cache);
  call.pass(layer);
  call.passResult(out, sizeof *out);
  return finish(call);
}

static kvc_status plan(int32_t layer, int64_t tokens, kvc_bytes *out) {
  KVC_CALL(plan);
  call.pass(layer);
  call.pass(tokens);
  call.passResult(out, sizeof *out);
  return finish(call);
}

static const char *lastError(const kvc_cache *cache) {
  KVC_CALL(last_error);
  call.pass(cache);
  return textOf(call);
}

static const char *statusName(kvc_status status) {
  if (current.remote && !current.remote->end().empty()) {
    // Kept by status: names are compared with one another.
    static std::map<int, std::string> names;
    return (names[status] = status == Ended
                                ? "no answer (" + current.remote->end() + ")"
                                : "status " + std::to_string(status))
        .c_str();
  }
  KVC_CALL(status_name);
  call.pass(int64_t{status});
  return textOf(call);
}

static kvc_status truncate(kvc_cache *cache, int64_t tokens) {
  KVC_CALL(truncate);
  call.pass(cache);
  call.pass(tokens);
  return finish(call);
}

static kvc_status fork(kvc_cache *cache, const kvc_options *options,
                       kvc_cache **out) {
  KVC_CALL(fork);
  call.pass(cache);
  if (!passOptions(call, options))
    return KVC_INVALID_ARGUMENT;
  call.passResult(out, sizeof *out);
  return finish(call);
}

/// The path of a file that both sides see.
static void passPath(RemoteCall &call, const char *path) {
  if (path)
    call.passBuffer(call.buffer(path, std::strlen(path) + 1));
  else
    call.pass(int64_t{0});
}

static kvc_status save(kvc_cache *cache, const char *path) {
  KVC_CALL(save);
  call.pass(cache);
  passPath(call, path);
  return finish(call);
}

static kvc_status load(kvc_cache *cache, const char *path) {
  KVC_CALL(load);
  call.pass(cache);
  passPath(call, path);
  return finish(call);
}

static kvc_status saveTo(kvc_cache *cache, kvc_write write, void *user) {
  KVC_CALL(save_to);
  call.pass(cache);
  call.passFunction(write, user);
  return finish(call);
}

static kvc_status loadFrom(kvc_cache *cache, kvc_read read, void *user) {
  KVC_CALL(load_from);
  call.pass(cache);
  call.passFunction(read, user);
  return finish(call);
}

/// One line a function, in the order of the table.
static kvc_library_table table = {
    KVC_ABI_VERSION,
    sizeof(kvc_library_table),
    info,
    layerInfo,
    create,
    destroy,
    decode,
    prefill,
    append,
    attend,
    merge,
    reset,
    stored,
    read,
    stats,
    plan,
    lastError,
    statusName,
    truncate,
    fork,
    save,
    load,
    saveTo,
    loadFrom,
};
static_assert(sizeof(kvc_library_table) == 8 + 22 * sizeof(void *),
              "the table has grown: what is new needs a function here");

Expected<const kvc_library_table *> openTable(Remote &remote) {
  if (current.remote)
    return userError("only one library at a time runs under a runner");
  current.remote = &remote;
  table.abi_version = static_cast<uint32_t>(remote.version());
  table.size = static_cast<uint32_t>(remote.tableSize());
  // Another version's structs are not ours; whoever opens it refuses it.
  kvc_info about = {};
  about.size = sizeof about;
  if (table.abi_version != KVC_ABI_VERSION || table.size < sizeof table ||
      info(&about) != KVC_OK)
    return &table;
  current.elementBytes = about.io == KVC_F32 ? 4 : 2;
  for (int32_t layer = 0; layer < about.layers; ++layer) {
    kvc_layer_info shape = {};
    shape.size = sizeof shape;
    layerInfo(layer, &shape);
    current.layers.push_back(shape);
  }
  return &table;
}

void closeTable(const Remote &remote) {
  if (current.remote == &remote)
    current = {};
}

} // namespace kvc::harness
