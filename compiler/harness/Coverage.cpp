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

int64_t Coverage::emptyFeatures() const { return llvm::count(features, 0); }

/// What was met, one a line; what was not is marked.
static void printCount(const Twine &name, int64_t count, raw_ostream &os) {
  os << formatv("  {0,8}  {1}\n", count ? std::to_string(count) : "EMPTY",
                name.str());
}

void Coverage::printTypes(raw_ostream &os) const {
  for (auto [part, name] : enumerate(typedParts()))
    for (auto [type, met] : zip(floatTypes(), types[part]))
      printCount(name + " in " + type, met, os);
}

void Coverage::printCells(raw_ostream &os) const {
  for (const Cell &cell : allCells())
    printCount("keys " + precisionKinds()[cell.keys] + ", values " +
                   precisionKinds()[cell.values] + ", " +
                   timeKinds()[cell.time] + ", positions " +
                   positionKinds()[cell.position] + ", " +
                   depthKinds()[cell.depth],
               counts[indexOf(cell)], os);
}

void Coverage::print(raw_ostream &os, bool cells) const {
  auto line = [&](StringRef what, int64_t all, int64_t empty) {
    os << formatv("{0} of {1} {2} met\n", all - empty, all, what);
  };
  line("combinations of keys, values, time, position and depth",
       static_cast<int64_t>(allCells().size()), empty());
  if (cells)
    printCells(os);
  line("rotations, logits and codes",
       static_cast<int64_t>(featureNames().size()), emptyFeatures());
  if (cells)
    for (auto [name, count] : zip(featureNames(), features))
      printCount(name, count, os);
  line("types of what is kept",
       static_cast<int64_t>(typedParts().size() * floatTypes().size()),
       emptyTypes());
  if (cells)
    printTypes(os);
  line("operations", static_cast<int64_t>(operationNames().size()),
       emptyOperations());
  if (cells)
    for (auto [name, count] : zip(operationNames(), operations))
      printCount(name, count, os);
}

} // namespace kvc::harness
