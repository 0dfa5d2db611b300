//===- TraceFuzzer.cpp - any bytes as a recorded trace ------------*- C++
//-*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of tensors is read or refused, and so is the trace of a model from it:
// two owners and a reader of the first. What a trace says it has, it has.
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"
#include "compiler/harness/Safetensors.h"
#include "compiler/harness/Trace.h"

using namespace kvc::harness;
using kvc::test::require;

/// Reads all of it.
template <typename T> static void touch(llvm::ArrayRef<T> values) {
  T sum = 0;
  for (T value : values)
    sum = sum + value;
  [[maybe_unused]] volatile T kept = sum;
}

static void checkLayer(const LayerTrace &layer, int64_t tokens) {
  const LayerShape &shape = layer.shape;
  require(layer.start >= 0 && layer.start + layer.rows == tokens,
          "rows that stand for no token");
  require(layer.sinks.size() == (shape.learnedSinks ? size_t(shape.heads) : 0),
          "learned sinks of other heads");
  for (int64_t token = 0; token < tokens; ++token) {
    if (layer.has(token))
      require(layer.queryAt(token).size() ==
                  size_t(shape.heads * shape.headDim),
              "a query of another size");
    if (layer.has(token))
      touch(layer.queryAt(token));
    touch(layer.keyAt(token));
    touch(layer.valueAt(token));
  }
}

static void checkTrace(const SafetensorsFile &file, Element io) {
  const LayerShape layers[] = {
      {.heads = 2, .kvHeads = 1, .headDim = 3, .valueDim = 2, .owner = 0},
      {.heads = 1, .kvHeads = 1, .headDim = 3, .valueDim = 2, .owner = 0},
      {.heads = 2,
       .kvHeads = 2,
       .headDim = 1,
       .valueDim = 1,
       .owner = 2,
       .learnedSinks = true}};
  auto trace = readTrace(file, layers, io);
  if (!trace) {
    require(!llvm::toString(trace.takeError()).empty(),
            "refused without a word");
    return;
  }
  require(trace->layers.size() == std::size(layers), "layers of another model");
  for (const LayerTrace &layer : trace->layers)
    checkLayer(layer, trace->tokens);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // No copy, which would have a byte more at its end.
  auto buffer = llvm::MemoryBuffer::getMemBuffer(
      llvm::StringRef(reinterpret_cast<const char *>(data), size), "fuzz",
      /*RequiresNullTerminator=*/false);
  auto file = SafetensorsFile::read(std::move(buffer), "fuzz");
  if (!file) {
    require(!llvm::toString(file.takeError()).empty(),
            "refused without a word");
    return 0;
  }
  for (Element io : {Element::F32, Element::F16, Element::BF16})
    checkTrace(*file, io);
  return 0;
}
