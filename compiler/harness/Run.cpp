//===- Run.cpp - kvc run: a recorded trace through a library --------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Run.h"

#include "compiler/files/OutputFile.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/Replay.h"
#include "compiler/harness/Safetensors.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace kvc::harness {

namespace {

/// What a trace gives, collected to be written.
class Recording {
public:
  Recording(const LoadedLibrary &library, const LibraryCache &cache,
            const Trace &trace, int64_t first)
      : library(library), cache(cache), trace(trace), first(first),
        outputs(trace.layers.size()) {}

  Error run(int64_t prefill, int64_t chunk);
  Error writeOutputs(StringRef path) const;
  Error writeCache(StringRef path) const;
  Error writeStats(StringRef path) const;

private:
  Error addStored(SafetensorsWriter &writer, int64_t layer) const;

  const LoadedLibrary &library;
  const LibraryCache &cache;
  const Trace &trace;
  int64_t first;
  std::vector<Output> outputs; ///< of all rows, by layer
};

} // namespace

Error Recording::run(int64_t prefill, int64_t chunk) {
  auto add = [](std::vector<float> &to, ArrayRef<float> from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  return replay(library, cache, trace, {first, prefill, chunk, ""},
                [&](size_t layer, const Output &rows) {
                  add(outputs[layer].out, rows.out);
                  add(outputs[layer].lse, rows.lse);
                });
}

Error Recording::writeOutputs(StringRef path) const {
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

Error Recording::addStored(SafetensorsWriter &writer, int64_t layer) const {
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

Error Recording::writeCache(StringRef path) const {
  SafetensorsWriter writer;
  for (size_t layer = 0; layer < library.layers().size(); ++layer)
    if (library.layers()[layer].owner == static_cast<int64_t>(layer))
      if (Error error = addStored(writer, static_cast<int64_t>(layer)))
        return error;
  return writer.write(path);
}

Error Recording::writeStats(StringRef path) const {
  int64_t used = 0, held = 0;
  json::Array layers;
  for (size_t layer = 0; layer < library.layers().size(); ++layer) {
    auto stats = statsOf(library, cache, layer);
    if (!stats)
      return stats.takeError();
    const int64_t total = usedBytes(*stats);
    layers.push_back(json::Object{{"seen", stats->seen},
                                  {"stored", stats->stored},
                                  {"evicted", stats->evicted},
                                  {"saturated", stats->saturated},
                                  {"used", total},
                                  {"held", stats->held}});
    used += total;
    held += stats->held;
  }
  json::Value value = json::Object{
      {"layers", std::move(layers)}, {"used", used}, {"held", held}};
  return writeWhole(path,
                    [&](raw_ostream &os) { os << formatv("{0:2}\n", value); });
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
  Recording recording(*library, *cache, *trace, options.first);
  if (Error error = recording.run(options.prefill, options.chunk))
    return error;
  if (Error error = recording.writeOutputs(options.output))
    return error;
  if (!options.dumpCache.empty())
    if (Error error = recording.writeCache(options.dumpCache))
      return error;
  if (!options.stats.empty())
    return recording.writeStats(options.stats);
  return Error::success();
}

} // namespace kvc::harness
