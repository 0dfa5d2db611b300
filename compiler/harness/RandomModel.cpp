//===- RandomModel.cpp - random specs -------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/RandomModel.h"

#include "compiler/harness/Coverage.h"
#include "compiler/harness/Random.h"
#include "llvm/Support/FormatVariadic.h"

#include <vector>

using namespace llvm;

namespace kvc::harness {

namespace {

/// One layer's keys: of the model and of the cache.
struct RandomLayer {
  std::string model, cache;
  int64_t kvHeads = 1;
};

/// Makes one spec.
class Maker {
public:
  Maker(uint64_t seed, int64_t number)
      : random(Random::mix(seed, static_cast<uint64_t>(number))), seed(seed),
        number(number) {}
  std::string run();

private:
  Cell plannedCell(int64_t slot);
  RandomLayer makeOwner(const Cell &cell);
  std::string makeScaling(int64_t dims);
  std::string makeRope(int64_t headDim);
  std::string makeScore(int64_t heads, bool alibi);
  std::string makeCache(const Cell &cell);
  std::string makePlane(StringRef kind, int64_t mostResidual);
  std::string makeType() { return floatTypes()[random.below(3)].str(); }
  void addOwner(const Cell &cell);
  void addReader(int64_t owner);

  Random random;
  uint64_t seed;
  int64_t number;
  std::vector<std::string> entries; ///< of `layers`, by layer
  RandomLayer base;                 ///< layer 0, as model and cache
  std::vector<int64_t> kvHeads;     ///< by layer; a reader: its owner's
};

} // namespace

/// Combinations in turn, in an order of the seed's own: a step that has no
/// factor in common with their number passes all of them.
Cell Maker::plannedCell(int64_t slot) {
  const auto &cells = allCells();
  const auto count = static_cast<int64_t>(cells.size());
  const int64_t steps[] = {1, 5, 7, 11, 13, 17, 19, 23, 25, 29, 31, 35, 37};
  const int64_t step = steps[seed % std::size(steps)];
  return cells[(static_cast<int64_t>(seed % 1000) + slot % count * step) %
               count];
}

/// A plane's precision. What waits as originals must fit into the window.
std::string Maker::makePlane(StringRef kind, int64_t mostResidual) {
  if (kind == "float")
    return makeType();
  const int64_t bits = random.pick({8, 4, 2});
  std::string text = formatv("{{bits: {0}, scales: {1}, ", bits, makeType());
  if (kind == "all tokens")
    return text + "per: channel, group: all}";
  const int64_t group = random.pick({1, 3, 5, 8, 31, 32, 33});
  const int64_t residual =
      std::min(mostResidual, random.pick({0, 0, 0, 1, 1, 7, 32, 40}));
  if (kind == "per channel")
    text += formatv("per: channel, group: {0}, flush: {1}, ", group,
                    group * random.pick({1, 1, 2, 3}));
  else
    text += formatv("per: token, group: {0}, flush: {1}, ", group,
                    random.pick({1, 1, 2, 5, 16}));
  // At times the default, which fits every window.
  if (random.oneIn(4))
    return StringRef(text).rtrim(", ").str() + "}";
  return text + formatv("residual: {0}}", residual).str();
}

std::string Maker::makeCache(const Cell &cell) {
  StringRef time = timeKinds()[cell.time];
  const bool window = time.ends_with("window");
  const int64_t sink =
      time.starts_with("sink") ? random.pick({1, 2, 4, 5, 9, 17}) : 0;
  const int64_t size = window ? random.pick({1, 2, 3, 7, 20, 33, 64, 100})
                              : random.between(20, 240);
  const int64_t mostResidual = size - 1;
  std::string text =
      formatv("keys: {0}, values: {1}, sink: {2}, ",
              makePlane(precisionKinds()[cell.keys], mostResidual),
              makePlane(precisionKinds()[cell.values], mostResidual), sink);
  // Else the default, which is another in every model.
  const bool codes = precisionKinds()[cell.keys] != "float" ||
                     precisionKinds()[cell.values] != "float";
  if (codes && random.oneIn(2))
    text += "residual_type: " + makeType() + ", ";
  // Bytes are not for codes of 8 bits. A layer inherits the base's.
  if (codes) {
    const bool eight = StringRef(text).contains("bits: 8");
    static const StringRef kinds[] = {"f32", "i16", "i8"};
    text += ("arithmetic: " + kinds[random.below(eight ? 2 : 3)] + ", ").str();
  }
  if (sink && random.oneIn(2))
    text += "sink_type: " + makeType() + ", ";
  text += window ? formatv("window: {0}", size).str()
                 : formatv("window: all, context: {0}", sink + size).str();
  const bool coded = precisionKinds()[cell.keys] != "float" ||
                     precisionKinds()[cell.values] != "float";
  if (window || coded)
    text +=
        formatv(", rollback: {0}", random.pick({0, 0, 1, 3, 40, 150})).str();
  text += positionKinds()[cell.position] == "cache" ? ", positions: cache"
                                                    : ", positions: absolute";
  return text;
}

/// Each type as often; the original context is about as long as cases are, so
/// that all parts of a scaled list are met, and that nothing lies between equal
/// borders.
std::string Maker::makeScaling(int64_t dims) {
  const int64_t factor = random.pick({1, 2, 8, 40});
  const int64_t original = random.pick({16, 64, 300, 4096});
  switch (random.below(dims > 2 ? 4 : 3)) {
  case 0:
    return formatv("{{type: linear, factor: {0}}", factor);
  case 1:
    return formatv("{{type: llama3, factor: {0}, low: {1}, high: 4, "
                   "original_context: {2}}",
                   factor, random.pick({1, 2, 4}), original);
  case 2:
    return formatv("{{type: yarn, factor: {0}, original_context: {1}, "
                   "beta_fast: {2}, truncate: {3}}",
                   factor, original, random.pick({1, 4, 32}), random.oneIn(2));
  default:
    return formatv("{{type: ntk, factor: {0}}", factor);
  }
}

std::string Maker::makeRope(int64_t headDim) {
  const int64_t most = headDim / 2 * 2;
  const int64_t dims = random.oneIn(3) ? 2 * random.between(1, most / 2) : most;
  std::string text = formatv("{{theta: {0}, dims: {1}, pairing: {2}",
                             random.pick({3, 100, 10000, 500000}), dims,
                             random.oneIn(3) ? "interleaved" : "half");
  if (random.oneIn(3))
    text += ", scaling: " + makeScaling(dims);
  return text + "}";
}

/// What happens to logits; all keys are written, since the base's would be
/// taken for those that are not. A slope at times makes all but the newest
/// tokens vanish.
std::string Maker::makeScore(int64_t heads, bool alibi) {
  static const StringRef caps[] = {"0.5", "3", "50", "1e4"};
  static const StringRef slopes[] = {"0", "0.003", "0.7", "1000"};
  std::string text;
  if (random.oneIn(4))
    text += formatv(", scale: {0}", random.pick({1, 2, -1, -3}));
  text += ", softcap: " +
          (random.oneIn(4) ? caps[random.below(4)] : StringRef("none")).str();
  text += formatv(", learned_sinks: {0}", random.oneIn(4)).str();
  if (!alibi && !random.oneIn(4))
    return text + ", alibi: false";
  if (random.oneIn(2))
    return text + ", alibi: true";
  text += ", alibi: {slopes: [";
  for (int64_t head = 0; head < heads; ++head)
    text += (head ? ", " : "") + slopes[random.below(4)].str();
  return text + "]}";
}

RandomLayer Maker::makeOwner(const Cell &cell) {
  RandomLayer layer;
  layer.kvHeads = random.pick({1, 1, 2, 3});
  const int64_t heads = layer.kvHeads * random.pick({1, 1, 2, 3, 7});
  const StringRef position = positionKinds()[cell.position];
  // Positions in the cache are felt by ALiBi too.
  const bool rotated =
      position == "absolute" || (position == "cache" && !random.oneIn(3));
  const int64_t headDim = rotated
                              ? random.pick({2, 3, 5, 6, 16, 33, 64, 72, 80})
                              : random.pick({1, 5, 6, 16, 31, 33, 64, 72, 80});
  const int64_t valueDim = random.oneIn(2)
                               ? headDim
                               : random.pick({1, 3, 6, 16, 31, 33, 64, 72, 80});
  layer.model = formatv("heads: {0}, kv_heads: {1}, head_dim: {2}, "
                        "value_dim: {3}, rope: {4}",
                        heads, layer.kvHeads, headDim, valueDim,
                        rotated ? makeRope(headDim) : "none");
  layer.model += makeScore(heads, position == "cache" && !rotated);
  layer.cache = makeCache(cell);
  return layer;
}

void Maker::addOwner(const Cell &cell) {
  RandomLayer layer = makeOwner(cell);
  if (entries.empty())
    base = layer;
  entries.push_back(layer.model + ", " + layer.cache);
  kvHeads.push_back(layer.kvHeads);
}

void Maker::addReader(int64_t owner) {
  const int64_t heads = kvHeads[owner] * random.pick({1, 2, 3, 5});
  entries.push_back(formatv("share: {0}, heads: {1}{2}", owner, heads,
                            makeScore(heads, false)));
  kvHeads.push_back(kvHeads[owner]);
}

std::string Maker::run() {
  // Two planned combinations, and at times one more at random; an owner gets
  // its readers later on, with others between.
  SmallVector<int64_t> waiting;
  const int64_t owners = random.oneIn(2) ? 2 : 3;
  for (int64_t i = 0; i < owners; ++i) {
    const Cell cell =
        i < 2
            ? plannedCell(2 * number + i)
            : allCells()[random.below(static_cast<int64_t>(allCells().size()))];
    if (depthKinds()[cell.depth] == "read")
      waiting.push_back(static_cast<int64_t>(entries.size()));
    addOwner(cell);
  }
  for (int64_t owner : waiting)
    addReader(owner);

  std::string text =
      formatv("kvc: 1\nname: fuzz_{0}\nmodel: {{layers: {1}, "
              "io: {2}, {3}}\ncache: {{{4}}\nlayers:\n",
              number, entries.size(), makeType(), base.model, base.cache);
  for (size_t layer = 1; layer < entries.size(); ++layer)
    text += formatv("  - {{at: {0}, {1}}\n", layer, entries[layer]);
  return text;
}

std::string makeRandomSpec(uint64_t seed, int64_t number) {
  return Maker(seed, number).run();
}

} // namespace kvc::harness
