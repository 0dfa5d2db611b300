//===- Coverage.cpp - which combinations a run has met --------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Coverage.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;

namespace kvc::harness {

/// Kinds of precision.
static constexpr int Kinds = 4;

ArrayRef<StringRef> precisionKinds() {
  static const StringRef names[Kinds] = {"float", "per channel", "per token",
                                         "all tokens"};
  return names;
}
ArrayRef<StringRef> timeKinds() {
  static const StringRef names[] = {"all", "sink+all", "window", "sink+window"};
  return names;
}
ArrayRef<StringRef> positionKinds() {
  static const StringRef names[] = {"none", "absolute", "cache"};
  return names;
}
ArrayRef<StringRef> depthKinds() {
  static const StringRef names[] = {"own", "read"};
  return names;
}

ArrayRef<StringRef> floatTypes() {
  static const StringRef names[] = {"f32", "f16", "bf16"};
  return names;
}
ArrayRef<StringRef> typedParts() {
  static const StringRef names[] = {"io",        "keys",  "values",
                                    "originals", "sinks", "scales"};
  return names;
}

ArrayRef<StringRef> operationNames() {
  static const StringRef names[] = {
      "append",  "prefill",  "decode", "attend",   "merge", "batch",
      "behind",  "truncate", "gone",   "fork",     "save",  "load",
      "damaged", "anew",     "reset",  "bad calls"};
  static_assert(std::size(names) == std::tuple_size_v<OperationCounts>);
  return names;
}

static int numberOf(ArrayRef<StringRef> names, StringRef name) {
  return static_cast<int>(llvm::find(names, name) - names.begin());
}

static int kindOf(const spec::Precision &plane) {
  if (!plane.coded)
    return 0;
  return numberOf(precisionKinds(),
                  plane.groupAll ? "all tokens" : "per " + plane.per);
}

/// Positions in the cache are felt with sinks and a window alone.
static bool isPossible(const Cell &cell) {
  return positionKinds()[cell.position] != "cache" ||
         timeKinds()[cell.time] == "sink+window";
}

const std::vector<Cell> &allCells() {
  static const std::vector<Cell> cells = [] {
    std::vector<Cell> list;
    Cell cell;
    for (cell.keys = 0; cell.keys < Kinds; ++cell.keys)
      for (cell.values = 0; cell.values < Kinds; ++cell.values)
        for (cell.depth = 0; cell.depth < 2; ++cell.depth)
          for (cell.time = 0; cell.time < 4; ++cell.time)
            for (cell.position = 0; cell.position < 3; ++cell.position)
              if (isPossible(cell))
                list.push_back(cell);
    return list;
  }();
  return cells;
}

Cell cellOf(const spec::Layer &layer) {
  Cell cell;
  cell.keys = kindOf(layer.keys);
  cell.values = kindOf(layer.values);
  cell.time = numberOf(timeKinds(), (layer.sink ? std::string("sink+") : "") +
                                        (layer.window ? "window" : "all"));
  // With ALiBi alone nothing is rotated, and positions may be the cache's.
  cell.position =
      numberOf(positionKinds(), layer.rope || layer.positions == "cache"
                                    ? StringRef(layer.positions)
                                    : "none");
  cell.depth = layer.share ? 1 : 0;
  return cell;
}

static size_t indexOf(const Cell &cell) {
  return ((((cell.keys * Kinds + cell.values) * 2 + cell.depth) * 4) +
          cell.time) *
             3 +
         cell.position;
}

ArrayRef<StringRef> featureNames() {
  static const StringRef names[] = {
      "half",   "interleaved",   "linear", "ntk",     "llama3",
      "yarn",   "partial",       "scale",  "softcap", "alibi",
      "slopes", "learned sinks", "8 bits", "4 bits",  "2 bits"};
  return names;
}

/// Which features a layer has, in the order of featureNames().
static SmallVector<bool> featuresOf(const spec::Layer &layer) {
  SmallVector<bool> has;
  const spec::Rope rope = layer.rope.value_or(spec::Rope());
  for (StringRef pairing : {"half", "interleaved"})
    has.push_back(layer.rope && rope.pairing == pairing);
  for (StringRef type : {"linear", "ntk", "llama3", "yarn"})
    has.push_back(layer.rope && rope.scaling.type == type);
  has.push_back(layer.rope && rope.dims < layer.headDim);
  has.push_back(layer.scale != 1 / std::sqrt(double(layer.headDim)));
  has.push_back(layer.softcap.has_value());
  const bool own = layer.alibiSlopes != spec::paperSlopes(layer.heads);
  has.push_back(layer.alibi && !own);
  has.push_back(layer.alibi && own);
  has.push_back(layer.learnedSinks);
  for (int64_t bits : {8, 4, 2})
    has.push_back((layer.keys.coded && layer.keys.bits == bits) ||
                  (layer.values.coded && layer.values.bits == bits));
  return has;
}

Coverage::Coverage()
    : counts(Kinds * Kinds * 2 * 4 * 3), features(featureNames().size()) {}

void Coverage::count(const spec::Spec &spec) {
  for (const spec::Layer &layer : spec.layers) {
    ++counts[indexOf(cellOf(layer))];
    countTypes(layer, spec.io);
    for (auto [count, has] : zip(features, featuresOf(layer)))
      count += has;
  }
}

void Coverage::count(const OperationCounts &met) {
  for (auto [count, more] : zip(operations, met))
    count += more;
}

void Coverage::countTypes(const spec::Layer &layer, spec::FloatType io) {
  auto count = [&](StringRef part, spec::FloatType type) {
    ++types[numberOf(typedParts(), part)][static_cast<size_t>(type)];
  };
  count("io", io);
  if (!layer.keys.coded)
    count("keys", layer.keys.type);
  if (!layer.values.coded)
    count("values", layer.values.type);
  for (const spec::Precision &plane : {layer.keys, layer.values})
    if (plane.coded)
      count("scales", plane.scales);
  if (layer.keys.coded || layer.values.coded)
    count("originals", layer.residualType);
  if (layer.sink == 0)
    return;
  count("sinks", layer.keySinkType);
  count("sinks", layer.valueSinkType);
}

int64_t Coverage::empty() const {
  return llvm::count_if(
      allCells(), [&](const Cell &cell) { return counts[indexOf(cell)] == 0; });
}

int64_t Coverage::emptyTypes() const {
  int64_t empty = 0;
  for (const auto &part : types)
    empty += llvm::count(part, 0);
  return empty;
}

int64_t Coverage::emptyOperations() const { return llvm::count(operations, 0); }

void Coverage::printOperations(raw_ostream &os) const {
  os << "operations:";
  for (auto [name, count] : zip(operationNames(), operations))
    os << formatv(" {0} {1}{2}", name, count ? std::to_string(count) : "EMPTY",
                  name == operationNames().back() ? "\n" : ",");
}

/// A row for each part, a column for each type.
void Coverage::printTypes(raw_ostream &os) const {
  os << formatv("{0,-13}", "types");
  for (StringRef type : floatTypes())
    os << formatv("{0,12}", type);
  os << "\n";
  for (auto [part, name] : enumerate(typedParts())) {
    os << formatv("{0,-13}", name);
    for (int64_t met : types[part])
      os << formatv("{0,12}", met ? std::to_string(met) : "EMPTY");
    os << "\n";
  }
}

void Coverage::print(raw_ostream &os) const {
  // A row for keys, values and depth; a column for time and position.
  SmallVector<std::pair<int, int>> columns;
  for (int time = 0; time < 4; ++time)
    for (int position = 0; position < 3; ++position)
      if (isPossible({0, 0, time, position, 0}))
        columns.push_back({time, position});
  os << formatv("{0,-13}{1,-13}{2,-6}", "time", "", "");
  for (auto [time, position] : columns)
    os << formatv("{0,12}", timeKinds()[time]);
  os << formatv("\n{0,-13}{1,-13}{2,-6}", "keys", "values", "depth");
  for (auto [time, position] : columns)
    os << formatv("{0,12}", positionKinds()[position]);
  os << "\n";
  for (int keys = 0; keys < Kinds; ++keys)
    for (int values = 0; values < Kinds; ++values)
      for (int depth = 0; depth < 2; ++depth) {
        os << formatv("{0,-13}{1,-13}{2,-6}", precisionKinds()[keys],
                      precisionKinds()[values], depthKinds()[depth]);
        for (auto [time, position] : columns) {
          const int64_t met =
              counts[indexOf({keys, values, time, position, depth})];
          os << formatv("{0,12}", met ? std::to_string(met) : "EMPTY");
        }
        os << "\n";
      }
  os << "rotations, logits and codes:";
  for (auto [name, count] : zip(featureNames(), features))
    os << formatv(" {0} {1}{2}", name, count ? std::to_string(count) : "EMPTY",
                  name == featureNames().back() ? "\n" : ",");
  os << formatv("{0} of {1} combinations met\n",
                static_cast<int64_t>(allCells().size()) - empty(),
                allCells().size());
  printTypes(os);
  printOperations(os);
}

} // namespace kvc::harness
