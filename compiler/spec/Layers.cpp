//===- Layers.cpp - layers with every default filled in ---------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Resolve.h"
#include "compiler/spec/Text.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

using namespace kvc::spec;

FloatType kvc::spec::floatType(std::string_view word) {
  return word == "f16"    ? FloatType::F16
         : word == "bf16" ? FloatType::BF16
                          : FloatType::F32;
}

std::string_view kvc::spec::floatTypeName(FloatType type) {
  switch (type) {
  case FloatType::F32:
    return "f32";
  case FloatType::F16:
    return "f16";
  case FloatType::BF16:
    return "bf16";
  }
  return {};
}

std::vector<double> kvc::spec::paperSlopes(int64_t heads) {
  // The paper's for a power of two; else its own way out: every other slope
  // of twice that power fills up.
  int64_t power = 1;
  while (power * 2 <= heads)
    power *= 2;
  std::vector<double> slopes;
  slopes.reserve(heads);
  for (int64_t i = 0; i < power; ++i)
    slopes.push_back(std::pow(2.0, -8.0 * double(i + 1) / double(power)));
  for (int64_t i = 0; power + i < heads; ++i)
    slopes.push_back(
        std::pow(2.0, -8.0 * double(2 * i + 1) / double(2 * power)));
  return slopes;
}

namespace {
/// Makes one layer of the values that win in it.
class Builder {
public:
  Builder(const Resolution &resolution, FloatType io, const Defaults &defaults,
          Diagnostics &diags)
      : resolution(resolution), io(io), defaults(defaults), diags(diags) {}

  Layer build(std::size_t index, const std::vector<Layer> &before);
  void checkTotal(const std::vector<Layer> &layers);

private:
  const Setting *winner(KeyId id) const { return resolution.winner(now, id); }
  /// The winner where its value is right.
  const Setting *get(KeyId id) const {
    const Setting *setting = winner(id);
    return setting && setting->valid ? setting : nullptr;
  }
  /// Whether all of these are as the user meant them.
  bool right(std::initializer_list<KeyId> ids) const {
    return std::ranges::all_of(
        ids, [&](KeyId id) { return !winner(id) || winner(id)->valid; });
  }
  void errorAtLast(std::initializer_list<KeyId> ids, std::string message);
  void require(KeyId id);

  void ownKeys(Layer &layer);
  std::vector<double> slopes(const Setting &alibi, int64_t heads);
  void inheritedKeys(Layer &layer);
  void cacheKeys(Layer &layer);
  Precision precision(KeyId id, int64_t dim) const;
  std::optional<Rope> rope(int64_t headDim) const;
  RopeScaling scaling(const Setting &setting) const;

  void checkHeads(const Layer &layer);
  void checkRope(const Layer &layer);
  void checkScale(const Layer &layer);
  void checkLength(const Layer &layer);
  void checkArithmetic(const Layer &layer);

  const Resolution &resolution;
  FloatType io;
  const Defaults &defaults;
  Diagnostics &diags;
  std::size_t now = 0;
  static constexpr int64_t maxHeads = int64_t{1} << 20;
  int64_t headsSoFar = 0;
};
} // namespace

/// Reports a clash where the last of the keys that make it is written: what
/// stood before was right until then.
void Builder::errorAtLast(std::initializer_list<KeyId> ids,
                          std::string message) {
  Location at = resolution.root->at;
  for (KeyId id : ids) {
    const Setting *setting = winner(id);
    if (id == KeyId::Rope && setting && setting->find(KeyId::Dims))
      setting = setting->find(KeyId::Dims);
    if (setting && std::pair(setting->at.line, setting->at.column) >
                       std::pair(at.line, at.column))
      at = setting->at;
  }
  diags.error(at, std::move(message));
}

void Builder::require(KeyId id) {
  const Setting *model = resolution.root->find(KeyId::Model);
  if (winner(id) || !model || model->form != form::Map)
    return;
  // An entry that could not be laid may have it.
  if (const Setting *entries = resolution.root->find(KeyId::Layers);
      entries && !resolution.complete)
    for (const Setting &entry : entries->items)
      if (entry.find(id))
        return;
  const Key &key = keyOf(id);
  diags.error(model->keyAt, "model lacks the key " + std::string(key.name) +
                                ", " + std::string(key.doc) + "; write " +
                                std::string(key.name) + ": " + expected(key));
}

//===----------------------------------------------------------------------===//
// Values and defaults
//===----------------------------------------------------------------------===//

Precision Builder::precision(KeyId id, int64_t dim) const {
  Precision result;
  result.type = io;
  const Setting *setting = get(id);
  if (!setting)
    return result;
  result.at = setting->at;
  if (setting->form == form::Word) {
    result.type = floatType(setting->text);
    return result;
  }
  result.coded = true;
  result.bits = setting->get(KeyId::Bits)->integer;
  result.per = setting->get(KeyId::Per)->text;
  bool channel = result.per == "channel";
  result.group = channel ? 32 : dim;
  if (const Setting *group = setting->get(KeyId::Group)) {
    result.groupAll = group->isWord("all");
    // A group of more channels than there are is one of all channels.
    result.group = channel ? group->integer : std::min(group->integer, dim);
  }
  result.flush = channel && !result.groupAll ? result.group : 1;
  if (const Setting *flush = setting->get(KeyId::Flush))
    result.flush = flush->integer;
  // A step attends to its own token as it came: with 0 it would be to its code.
  // Where all stored tokens are coded there is no such token; nor where the
  // newest one is all that is stored, which would else never be coded.
  const Setting *window = get(KeyId::Window);
  const bool one =
      window && window->form == form::Integer && window->integer == 1;
  result.residual = result.groupAll || one ? 0 : 1;
  if (const Setting *residual = setting->get(KeyId::Residual))
    result.residual = residual->integer;
  if (const Setting *scales = setting->get(KeyId::Scales))
    result.scales = floatType(scales->text);
  return result;
}

RopeScaling Builder::scaling(const Setting &setting) const {
  RopeScaling result;
  result.at = setting.at;
  result.type = setting.get(KeyId::ScalingType)->text;
  result.factor = setting.get(KeyId::Factor)->number;
  auto read = [&](KeyId id, double &value) {
    if (const Setting *item = setting.get(id))
      value = item->number;
  };
  read(KeyId::Low, result.low);
  read(KeyId::High, result.high);
  read(KeyId::OriginalContext, result.originalContext);
  read(KeyId::BetaFast, result.betaFast);
  read(KeyId::BetaSlow, result.betaSlow);
  if (result.type == "yarn")
    result.attentionFactor = 0.1 * std::log(result.factor) + 1;
  read(KeyId::AttentionFactor, result.attentionFactor);
  if (const Setting *truncate = setting.get(KeyId::Truncate))
    result.truncate = truncate->boolean;
  return result;
}

std::optional<Rope> Builder::rope(int64_t headDim) const {
  // What is right in a rope with a mistake in it is still checked.
  const Setting *setting = winner(KeyId::Rope);
  if (!setting || setting->form != form::Map)
    return std::nullopt;
  Rope result;
  result.at = setting->at;
  result.dims = headDim;
  if (const Setting *theta = setting->get(KeyId::Theta))
    result.theta = theta->number;
  if (const Setting *dims = setting->get(KeyId::Dims))
    result.dims = dims->integer;
  if (const Setting *pairing = setting->get(KeyId::Pairing))
    result.pairing = pairing->text;
  if (const Setting *map = setting->get(KeyId::Scaling))
    result.scaling = scaling(*map);
  return result;
}

/// One slope a head; none where the count is wrong.
std::vector<double> Builder::slopes(const Setting &alibi, int64_t heads) {
  if (alibi.form == form::Boolean)
    return paperSlopes(heads);
  const std::vector<Setting> &items = alibi.get(KeyId::Slopes)->items;
  std::vector<double> result;
  if (heads == 0)
    return result;
  if (static_cast<int64_t>(items.size()) != heads) {
    errorAtLast({KeyId::Alibi, KeyId::Heads},
                "alibi has " + std::to_string(items.size()) + " slopes for " +
                    std::to_string(heads) +
                    " heads; write one a head, or alibi: true for the paper's");
    return result;
  }
  for (const Setting &slope : items)
    result.push_back(slope.number);
  return result;
}

/// What every layer has of its own, readers too.
void Builder::ownKeys(Layer &layer) {
  require(KeyId::Heads);
  if (const Setting *heads = get(KeyId::Heads))
    layer.heads = heads->integer;
  // What is kept for each head and layer would otherwise fill the memory.
  headsSoFar += layer.heads;
  if (headsSoFar > maxHeads) {
    errorAtLast({KeyId::Heads}, "the layers have more than " +
                                    std::to_string(maxHeads) +
                                    " heads together, the most that kvc "
                                    "reads; write fewer heads or layers");
    layer.heads = 0;
  }
  if (const Setting *softcap = get(KeyId::Softcap);
      softcap && softcap->form == form::Number)
    layer.softcap = softcap->number;
  if (const Setting *sinks = get(KeyId::LearnedSinks))
    layer.learnedSinks = sinks->boolean;
  if (const Setting *alibi = get(KeyId::Alibi)) {
    layer.alibi = alibi->form == form::Map || alibi->boolean;
    if (layer.alibi)
      layer.alibiSlopes = slopes(*alibi, layer.heads);
  }
}

void Builder::cacheKeys(Layer &layer) {
  layer.residualType = io;
  if (const Setting *type = get(KeyId::ResidualType))
    layer.residualType = floatType(type->text);
  layer.keySinkType = defaultSinkType(layer.keys, layer.residualType);
  layer.valueSinkType = defaultSinkType(layer.values, layer.residualType);
  if (const Setting *type = get(KeyId::SinkType))
    layer.keySinkType = layer.valueSinkType = floatType(type->text);
  auto read = [&](KeyId id, int64_t &value) {
    if (const Setting *setting = get(id))
      value = setting->integer;
  };
  read(KeyId::Sink, layer.sink);
  read(KeyId::Context, layer.context);
  read(KeyId::Rollback, layer.rollback);
  if (const Setting *window = get(KeyId::Window);
      window && window->form == form::Integer)
    layer.window = window->integer;
  if (const Setting *positions = get(KeyId::Positions))
    layer.positions = positions->text;
  if (hasCodes(layer))
    layer.arithmetic = defaults.arithmetic;
  if (const Setting *arithmetic = get(KeyId::Arithmetic))
    layer.arithmetic = arithmetic->text;
}

/// What an owner has and its readers take over.
void Builder::inheritedKeys(Layer &layer) {
  require(KeyId::HeadDim);
  layer.kvHeads = layer.heads;
  if (const Setting *heads = get(KeyId::KvHeads))
    layer.kvHeads = heads->integer;
  if (const Setting *dim = get(KeyId::HeadDim))
    layer.headDim = dim->integer;
  layer.valueDim = layer.headDim;
  if (const Setting *dim = get(KeyId::ValueDim))
    layer.valueDim = dim->integer;
  layer.rope = rope(layer.headDim);
  layer.keys = precision(KeyId::Keys, layer.headDim);
  layer.values = precision(KeyId::Values, layer.valueDim);
  cacheKeys(layer);
}

Layer Builder::build(std::size_t index, const std::vector<Layer> &before) {
  now = index;
  Layer layer;
  const Setting *share = resolution.complete ? get(KeyId::Share) : nullptr;
  if (share) {
    const Layer &owner = before[share->integer];
    layer = owner;
    layer.heads = 0;
    layer.softcap.reset();
    layer.learnedSinks = layer.alibi = false;
    layer.alibiSlopes.clear();
    layer.share = share->integer;
  }
  layer.at = resolution.at[index];
  ownKeys(layer);
  if (!share)
    inheritedKeys(layer);
  layer.scale = layer.headDim ? 1 / std::sqrt(double(layer.headDim)) : 1;
  if (const Setting *scale = get(KeyId::Scale))
    layer.scale = scale->number;
  checkScale(layer);
  checkHeads(layer);
  if (!share) {
    checkRope(layer);
    checkLength(layer);
    checkArithmetic(layer);
  }
  return layer;
}

//===----------------------------------------------------------------------===//
// How keys go together
//===----------------------------------------------------------------------===//

void Builder::checkHeads(const Layer &layer) {
  if (!right({KeyId::Heads, KeyId::KvHeads}) || layer.heads == 0 ||
      layer.kvHeads == 0 || layer.heads % layer.kvHeads == 0)
    return;
  std::string heads = std::to_string(layer.heads);
  std::string kvHeads = std::to_string(layer.kvHeads);
  if (layer.share)
    return errorAtLast({KeyId::Heads, KeyId::Share},
                       "heads is " + heads +
                           ", which is not a multiple of kv_heads " + kvHeads +
                           " of layer " + std::to_string(*layer.share) +
                           ", whose cache the layer reads");
  // The divisors next to it, so that one of them can be written.
  std::string remedy;
  int64_t below = std::min(layer.kvHeads, layer.heads);
  while (layer.heads % below)
    --below;
  remedy = "kv_heads: " + std::to_string(below);
  for (int64_t above = layer.kvHeads; above <= layer.heads; ++above)
    if (layer.heads % above == 0) {
      remedy += " or kv_heads: " + std::to_string(above);
      break;
    }
  errorAtLast({KeyId::Heads, KeyId::KvHeads},
              "kv_heads is " + kvHeads + ", which does not divide heads " +
                  heads + "; write " + remedy);
}

void Builder::checkRope(const Layer &layer) {
  const Setting *rope = winner(KeyId::Rope);
  if (!layer.rope || layer.headDim == 0 ||
      (rope->find(KeyId::Dims) && !rope->get(KeyId::Dims)))
    return;
  int64_t dims = layer.rope->dims;
  std::string dim = std::to_string(layer.headDim);
  std::string even = std::to_string(std::max<int64_t>(layer.headDim & ~1, 2));
  if (dims > layer.headDim)
    return errorAtLast({KeyId::Rope, KeyId::HeadDim},
                       "rope's dims is " + std::to_string(dims) +
                           ", more than head_dim " + dim +
                           (layer.headDim > 1 ? "; write dims: " + even
                                              : "; write rope: none"));
  if (dims % 2 && !rope->find(KeyId::Dims))
    return errorAtLast(
        {KeyId::Rope, KeyId::HeadDim},
        "head_dim is " + dim +
            ", which is odd, and rope rotates all of it in "
            "pairs; write " +
            (layer.headDim > 1 ? "dims: " + even + " in rope" : "rope: none"));
  if (dims == 2 && layer.rope->scaling.type == "ntk")
    errorAtLast({KeyId::Rope, KeyId::HeadDim},
                "scaling type ntk cannot scale 2 dims: its exponent is "
                "dims/(dims - 2); write type: linear");
}

/// Magnitudes up to 2^56 and rotation leave logits below 2^113 * head_dim *
/// |scale|, times the square of yarn's factor of cosines and sines, which f32
/// has to hold.
void Builder::checkScale(const Layer &layer) {
  constexpr double most = 16384;
  const double factor = layer.rope ? layer.rope->scaling.attentionFactor : 1;
  const double dims = static_cast<double>(layer.headDim) * factor * factor;
  if (std::fabs(layer.scale) * dims <= most)
    return;
  const bool yarn = factor != 1;
  errorAtLast(
      {KeyId::Scale, KeyId::HeadDim, KeyId::Rope},
      "scale is " + numberText(layer.scale) + " and head_dim " +
          std::to_string(layer.headDim) +
          (yarn ? ", and yarn's attention_factor " + numberText(factor) : "") +
          "; scale times head_dim " +
          (yarn ? "times attention_factor^2 " : "") +
          "is at most 16384, so that logits of any input are finite; "
          "write scale: " +
          numberText(most / dims) + " or less");
}

void Builder::checkLength(const Layer &layer) {
  constexpr int64_t most = 2147483647;
  if (layer.window && layer.sink + *layer.window > most)
    errorAtLast({KeyId::Sink, KeyId::Window},
                "sink and window make " +
                    std::to_string(layer.sink + *layer.window) +
                    " tokens; the most is " + std::to_string(most));
  if (layer.window || winner(KeyId::Context) || !right({KeyId::Window}) ||
      !resolution.complete)
    return;
  const Setting *cache = resolution.root->find(KeyId::Cache);
  if (cache && cache->form != form::Map)
    return;
  const Setting *window = winner(KeyId::Window);
  diags.error(window  ? window->at
              : cache ? cache->keyAt
                      : resolution.root->at,
              std::string("window is all") + (window ? "" : " by default") +
                  ", so context is required, the most tokens that are stored; "
                  "write, in cache, context: 4096 for instance, or a window");
}

void Builder::checkArithmetic(const Layer &layer) {
  bool eight = (layer.keys.coded && layer.keys.bits == 8) ||
               (layer.values.coded && layer.values.bits == 8);
  if (layer.arithmetic == "i8" && eight)
    errorAtLast({KeyId::Arithmetic, KeyId::Keys, KeyId::Values},
                "arithmetic is i8 with codes of 8 bits, whose products do not "
                "fit; write arithmetic: i16, or codes of 4 or 2 bits");
}

/// Bytes are counted in integers that JSON can carry.
void Builder::checkTotal(const std::vector<Layer> &layers) {
  constexpr double most = 9007199254740992.0; // 2^53
  double bytes = 0;
  for (now = 0; now < layers.size(); ++now) {
    const Layer &layer = layers[now];
    if (layer.share)
      continue;
    double tokens = layer.window ? double(layer.sink + *layer.window)
                                 : double(layer.context);
    bytes += 4 * tokens * double(layer.kvHeads) *
             double(layer.headDim + layer.valueDim);
    if (bytes <= most)
      continue;
    errorAtLast({KeyId::Context, KeyId::Window, KeyId::KvHeads, KeyId::HeadDim},
                "the cache would take more than 2^53 bytes in f32 when full, "
                "the most that kvc counts; write a smaller context or window");
    return;
  }
}

std::vector<Layer> kvc::spec::buildLayers(const Resolution &resolution,
                                          FloatType io,
                                          const Defaults &defaults,
                                          Diagnostics &diags) {
  Builder builder(resolution, io, defaults, diags);
  std::vector<Layer> layers;
  layers.reserve(resolution.won.size());
  for (std::size_t index = 0; index < resolution.won.size(); ++index)
    layers.push_back(builder.build(index, layers));
  builder.checkTotal(layers);
  return layers;
}
