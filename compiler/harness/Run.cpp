//===- Run.cpp - kvc run: a recorded trace through a library --------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Run.h"

#include "compiler/harness/Calls.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/Progress.h"
#include "compiler/harness/Safetensors.h"
#include "compiler/harness/Trace.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace kvc::harness {

namespace {

/// A library, its cache and the trace that runs through them.
class Replay {
public:
  Replay(const LoadedLibrary &library, const LibraryCache &cache,
         const Trace &trace, int64_t first)
      : library(library), cache(cache), trace(trace), first(first),
        outputs(trace.layers.size()) {}

  Error run(int64_t prefill, int64_t chunk);
  Error writeOutputs(StringRef path) const;
  Error writeCache(StringRef path) const;
  Error writeStats(StringRef path) const;

private:
  int64_t largestChunk() const;
  Error call(size_t layer, int64_t token, int64_t count, bool prefills);
  Error addStored(SafetensorsWriter &writer, int64_t layer) const;

  const LoadedLibrary &library;
  const LibraryCache &cache;
  const Trace &trace;
  int64_t first;
  std::vector<Output> outputs; ///< of all rows, by layer
};

} // namespace

/// As many tokens as every layer takes at once.
int64_t Replay::largestChunk() const {
  int64_t most = trace.tokens;
  for (size_t layer = 0; layer < trace.layers.size(); ++layer)
    if (int64_t chunk = library.chunk(static_cast<int64_t>(layer)); chunk >= 0)
      most = std::min(most, chunk);
  return std::max<int64_t>(most, 1);
}

/// Tokens [token, token + count) of one layer, as far as it has queries for
/// them.
Error Replay::call(size_t layer, int64_t token, int64_t count, bool prefills) {
  const LayerTrace &input = trace.layers[layer];
  Tokens tokens;
  auto add = [](std::vector<float> &to, ArrayRef<float> from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (int64_t t = token; t < token + count; ++t) {
    if (!input.has(t))
      continue;
    if (tokens.count++ == 0)
      tokens.position = first + t;
    add(tokens.q, input.queryAt(t));
    add(tokens.k, input.keyAt(t));
    add(tokens.v, input.valueAt(t));
  }
  if (tokens.count == 0)
    return Error::success();
  Output output;
  const auto number = static_cast<int64_t>(layer);
  const kvc_status status =
      prefills ? prefill(library, cache, number, tokens, output)
               : decode(library, cache, number, tokens, output);
  if (status != KVC_OK)
    return userError("layer " + Twine(layer) + ", position " +
                     Twine(tokens.position) + ": " +
                     library->status_name(status) + ": " + cache.lastError());
  add(outputs[layer].out, output.out);
  add(outputs[layer].lse, output.lse);
  return Error::success();
}

Error Replay::run(int64_t prefill, int64_t chunk) {
  Progress progress;
  if (chunk == 0)
    chunk = largestChunk();
  int64_t count = 0;
  for (int64_t token = 0; token < trace.tokens; token += count) {
    const bool prefills = token < prefill;
    count = prefills ? std::min(std::min(chunk, prefill - token),
                                trace.tokens - token)
                     : 1;
    progress.show("token " + Twine(token) + " of " + Twine(trace.tokens));
    for (size_t layer = 0; layer < trace.layers.size(); ++layer)
      if (Error error = call(layer, token, count, prefills))
        return error;
  }
  return Error::success();
}

Error Replay::writeOutputs(StringRef path) const {
  SafetensorsWriter writer;
  for (size_t layer = 0; layer < outputs.size(); ++layer) {
    const LayerTrace &input = trace.layers[layer];
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    writer.addF32(prefix + "out",
                  {input.rows, input.shape.heads, input.shape.valueDim},
                  outputs[layer].out);
    writer.addF32(prefix + "lse", {input.rows, input.shape.heads},
                  outputs[layer].lse);
  }
  return writer.write(path);
}

Error Replay::addStored(SafetensorsWriter &writer, int64_t layer) const {
  const LayerShape &shape = library.layers()[layer];
  const auto number = static_cast<int32_t>(layer);
  int64_t stored = 0;
  kvc_status status = library->stored(cache.get(), number, &stored);
  std::vector<float> keys(shape.kvHeads * stored * shape.headDim);
  std::vector<float> values(shape.kvHeads * stored * shape.valueDim);
  std::vector<int64_t> positions(stored);
  if (status == KVC_OK)
    status = library->read(cache.get(), number, 0, stored, keys.data(),
                           values.data(), positions.data());
  if (status != KVC_OK)
    return userError("layer " + Twine(layer) + ": read fails: " +
                     library->status_name(status) + ": " + cache.lastError());
  const std::string prefix = "layers." + std::to_string(layer) + ".";
  writer.addF32(prefix + "keys", {shape.kvHeads, stored, shape.headDim}, keys);
  writer.addF32(prefix + "values", {shape.kvHeads, stored, shape.valueDim},
                values);
  writer.addI64(prefix + "positions", positions);
  return Error::success();
}

Error Replay::writeCache(StringRef path) const {
  SafetensorsWriter writer;
  for (size_t layer = 0; layer < library.layers().size(); ++layer)
    if (library.layers()[layer].owner == static_cast<int64_t>(layer))
      if (Error error = addStored(writer, static_cast<int64_t>(layer)))
        return error;
  return writer.write(path);
}

Error Replay::writeStats(StringRef path) const {
  int64_t used = 0, held = 0;
  json::Array layers;
  for (size_t layer = 0; layer < library.layers().size(); ++layer) {
    kvc_stats stats = {};
    if (library->stats(cache.get(), static_cast<int32_t>(layer), &stats))
      return userError("layer " + Twine(layer) +
                       ": stats fail: " + cache.lastError());
    const kvc_bytes &bytes = stats.used;
    const int64_t total = bytes.codes + bytes.scales + bytes.residual +
                          bytes.sinks + bytes.originals + bytes.rollback;
    layers.push_back(json::Object{{"seen", stats.seen},
                                  {"stored", stats.stored},
                                  {"evicted", stats.evicted},
                                  {"saturated", stats.saturated},
                                  {"used", total},
                                  {"held", stats.held}});
    used += total;
    held += stats.held;
  }
  json::Value value = json::Object{
      {"layers", std::move(layers)}, {"used", used}, {"held", held}};
  return writeAtomically(
      path, [&](raw_ostream &os) { os << formatv("{0:2}\n", value); });
}

Error runTrace(const RunOptions &options) {
  auto library = LoadedLibrary::open(options.library, options.runner);
  if (!library)
    return library.takeError();
  auto trace = readTrace(options.trace, library->layers(), library->io());
  if (!trace)
    return trace.takeError();
  auto cache = library->create(options.first, trace->sinks());
  if (!cache)
    return cache.takeError();
  Replay replay(*library, *cache, *trace, options.first);
  if (Error error = replay.run(options.prefill, options.chunk))
    return error;
  if (Error error = replay.writeOutputs(options.output))
    return error;
  if (!options.dumpCache.empty())
    if (Error error = replay.writeCache(options.dumpCache))
      return error;
  if (!options.stats.empty())
    return replay.writeStats(options.stats);
  return Error::success();
}

} // namespace kvc::harness
