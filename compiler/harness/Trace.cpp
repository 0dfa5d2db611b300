//===- Trace.cpp - recorded queries, keys and values ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Trace.h"

#include "compiler/harness/Files.h"
#include "compiler/harness/Safetensors.h"
#include "compiler/spec/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace kvc::harness {

static ArrayRef<float> rowOf(ArrayRef<float> values, int64_t row,
                             int64_t width) {
  return values.slice(row * width, width);
}

ArrayRef<float> LayerTrace::queryAt(int64_t token) const {
  return rowOf(q, token - start, shape.heads * shape.headDim);
}
ArrayRef<float> LayerTrace::keyAt(int64_t token) const {
  return k.empty() ? ArrayRef<float>()
                   : rowOf(k, token, shape.kvHeads * shape.headDim);
}
ArrayRef<float> LayerTrace::valueAt(int64_t token) const {
  return v.empty() ? ArrayRef<float>()
                   : rowOf(v, token, shape.kvHeads * shape.valueDim);
}

LearnedSinks Trace::sinks() const {
  LearnedSinks all;
  for (const LayerTrace &layer : layers)
    all.push_back(layer.sinks);
  return all;
}

namespace {
/// Reads the tensors of one trace.
class Reader {
public:
  Reader(const SafetensorsFile &file, Element io) : file(file), io(io) {}
  Expected<Trace> run(ArrayRef<LayerShape> layers);

private:
  /// Tensor `name` as [rows, heads, dim] of any number of rows.
  Expected<std::vector<float>> read(const std::string &name, int64_t heads,
                                    int64_t dim, int64_t &rows);
  Expected<const Tensor *> find(const std::string &name);
  Error readSinks(const std::string &name, LayerTrace &layer);
  Error readLayer(int64_t number, LayerTrace &layer);
  Error checkTokens(const std::string &name, int64_t rows);
  Error checkLayers(int64_t layers) const;

  const SafetensorsFile &file;
  Element io;
  int64_t tokens = -1;
};
} // namespace

static std::string shapeText(ArrayRef<int64_t> shape) {
  return "[" +
         join(map_range(shape, [](int64_t x) { return std::to_string(x); }),
              ", ") +
         "]";
}

Expected<const Tensor *> Reader::find(const std::string &name) {
  const Tensor *tensor = file.find(name);
  if (!tensor)
    return userError("'" + file.path() + "' has no tensor '" + name + "'");
  if (!tensor->element || *tensor->element == Element::I64)
    return userError("'" + file.path() + "': tensor '" + name + "' is " +
                     spec::brief(tensor->dtype) +
                     "; a trace is F32, F16 or BF16");
  return tensor;
}

static std::vector<float> valuesOf(const Tensor &tensor) {
  return widen(*tensor.element, tensor.bytes.data(), tensor.elements());
}

Expected<std::vector<float>> Reader::read(const std::string &name,
                                          int64_t heads, int64_t dim,
                                          int64_t &rows) {
  auto tensor = find(name);
  if (!tensor)
    return tensor.takeError();
  const auto &shape = (*tensor)->shape;
  if (shape.size() != 3 || shape[1] != heads || shape[2] != dim)
    return userError("'" + file.path() + "': tensor '" + name + "' is " +
                     shapeText(shape) + ", the model wants [tokens, " +
                     Twine(heads) + ", " + Twine(dim) + "]");
  rows = shape[0];
  std::vector<float> values = valuesOf(**tensor);
  roundTo(io, values);
  return values;
}

/// The layer's learned sinks, which are f32 whatever io is.
Error Reader::readSinks(const std::string &name, LayerTrace &layer) {
  if (!layer.shape.learnedSinks)
    return Error::success();
  auto tensor = find(name);
  if (!tensor)
    return tensor.takeError();
  const auto &shape = (*tensor)->shape;
  if (shape.size() != 1 || shape[0] != layer.shape.heads)
    return userError("'" + file.path() + "': tensor '" + name + "' is " +
                     shapeText(shape) + ", the model wants [" +
                     Twine(layer.shape.heads) + "]");
  layer.sinks = valuesOf(**tensor);
  return Error::success();
}

Error Reader::checkTokens(const std::string &name, int64_t rows) {
  if (tokens < 0)
    tokens = rows;
  if (rows == tokens)
    return Error::success();
  return userError("'" + file.path() + "': tensor '" + name + "' has " +
                   Twine(rows) + " tokens, those before it have " +
                   Twine(tokens));
}

Error Reader::readLayer(int64_t number, LayerTrace &layer) {
  const LayerShape &shape = layer.shape;
  const std::string prefix = "layers." + std::to_string(number) + ".";
  if (Error error = readSinks(prefix + "sinks", layer))
    return error;
  auto q = read(prefix + "q", shape.heads, shape.headDim, layer.rows);
  if (!q)
    return q.takeError();
  layer.q = std::move(*q);
  if (shape.owner != number) {
    // An owner is an earlier layer, so the tokens are known by now.
    if (layer.rows > tokens)
      return userError("'" + file.path() + "': tensor '" + prefix + "q' has " +
                       Twine(layer.rows) + " rows, its owner has " +
                       Twine(tokens));
    layer.start = tokens - layer.rows;
    return Error::success();
  }
  if (Error error = checkTokens(prefix + "q", layer.rows))
    return error;
  int64_t rows = 0;
  auto k = read(prefix + "k", shape.kvHeads, shape.headDim, rows);
  if (!k)
    return k.takeError();
  layer.k = std::move(*k);
  if (Error error = checkTokens(prefix + "k", rows))
    return error;
  auto v = read(prefix + "v", shape.kvHeads, shape.valueDim, rows);
  if (!v)
    return v.takeError();
  layer.v = std::move(*v);
  return checkTokens(prefix + "v", rows);
}

/// A trace with more layers is another model's.
Error Reader::checkLayers(int64_t layers) const {
  int64_t recorded = 0;
  for (StringRef rest : file.names()) {
    int64_t number = 0;
    if (rest.consume_front("layers.") && !rest.consumeInteger(10, number) &&
        number >= 0 && number < INT64_MAX &&
        (rest == ".q" || rest == ".k" || rest == ".v"))
      recorded = std::max(recorded, number + 1);
  }
  if (recorded <= layers)
    return Error::success();
  return userError("'" + file.path() + "' is of a model of " + Twine(recorded) +
                   " layers, not of " + Twine(layers));
}

Expected<Trace> Reader::run(ArrayRef<LayerShape> layers) {
  if (Error error = checkLayers(static_cast<int64_t>(layers.size())))
    return error;
  Trace trace;
  for (auto [number, shape] : enumerate(layers)) {
    LayerTrace &layer = trace.layers.emplace_back();
    layer.shape = shape;
    if (Error error = readLayer(static_cast<int64_t>(number), layer))
      return error;
  }
  trace.tokens = std::max<int64_t>(0, tokens);
  return trace;
}

Expected<Trace> readTrace(StringRef path, ArrayRef<LayerShape> layers,
                          Element io) {
  auto file = SafetensorsFile::open(path);
  if (!file)
    return file.takeError();
  return readTrace(*file, layers, io);
}

Expected<Trace> readTrace(const SafetensorsFile &file,
                          ArrayRef<LayerShape> layers, Element io) {
  return Reader(file, io).run(layers);
}

} // namespace kvc::harness
