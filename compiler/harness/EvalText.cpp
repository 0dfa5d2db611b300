//===- EvalText.cpp - fidelity as a table and as JSON ---------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Eval.h"
#include "compiler/harness/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace llvm;

namespace kvc::harness {

/// More layers than this have no columns of their own.
static constexpr size_t MostColumns = 8;

static std::string number(double value) {
  return std::isfinite(value) ? formatv("{0:e2}", value).str() : "inf";
}

/// The layer with the largest of what `of` says.
template <typename Of> static size_t largest(const Fidelity &one, Of of) {
  size_t best = 0;
  for (size_t layer = 1; layer < one.layers.size(); ++layer)
    if (of(one.layers[layer]) > of(one.layers[best]))
      best = layer;
  return best;
}

static std::string share(int64_t bytes, int64_t of) {
  return of ? formatv("{0:f1}%", 100.0 * static_cast<double>(bytes) /
                                     static_cast<double>(of))
                  .str()
            : "-";
}

static std::vector<std::string> rowOf(const Fidelity &one, StringRef name,
                                      size_t columns) {
  const size_t worst =
      largest(one, [](const LayerFidelity &layer) { return layer.worst; });
  std::vector<std::string> row = {
      name.str(),
      std::to_string(one.bytes()),
      share(one.bytes(), 2 * one.full),
      formatv("{0:f2}", one.bitsPerNumber()),
      number(one.error()),
      number(one.layers[worst].worst),
      formatv("{0}:{1}", worst, one.layers[worst].worstPosition)};
  for (size_t layer = 0; layer < columns; ++layer)
    row.push_back(layer < one.layers.size() ? number(one.layers[layer].error)
                                            : "");
  return row;
}

void printTable(ArrayRef<Fidelity> all, raw_ostream &os) {
  size_t columns = 0;
  for (const Fidelity &one : all)
    columns = std::max(columns, one.layers.size());
  if (columns > MostColumns)
    columns = 0;
  std::vector<std::string> titles;
  titles.reserve(columns);
  for (size_t layer = 0; layer < columns; ++layer)
    titles.push_back(formatv("layer {0}", layer));
  std::vector<Table::Column> heads = {{"spec", true}, {"bytes"}, {"of f16"},
                                      {"bits"},       {"error"}, {"worst row"},
                                      {"layer:pos"}};
  for (const std::string &title : titles)
    heads.push_back({title});
  Table table(heads);
  for (const Fidelity &one : all) {
    const bool known = any_of(all, [&](const Fidelity &other) {
      return other.name == one.name && other.spec != one.spec;
    });
    table.add(rowOf(one, known ? one.spec : one.name, columns));
  }
  table.print(os);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// JSON has no word for infinity.
static json::Value finite(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

static void writeOne(const Fidelity &one, json::OStream &json) {
  json.object([&] {
    json.attribute("spec", one.spec);
    json.attribute("tokens", one.tokens);
    json.attributeArray("layers", [&] {
      for (const LayerFidelity &layer : one.layers)
        json.object([&] {
          json.attribute("error", finite(layer.error));
          json.attribute("worst", finite(layer.worst));
          json.attribute("worst_position", layer.worstPosition);
          json.attribute("bytes", layer.bytes);
        });
    });
    json.attribute("error", finite(one.error()));
    json.attribute("bytes", one.bytes());
    json.attribute("f16", 2 * one.full);
    json.attribute("bits", one.bitsPerNumber());
  });
}

void printJson(ArrayRef<Fidelity> all, raw_ostream &os) {
  json::OStream json(os, 2);
  json.array([&] {
    for (const Fidelity &one : all)
      writeOne(one, json);
  });
  os << "\n";
}

} // namespace kvc::harness
