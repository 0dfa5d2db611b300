//===- Canonical.cpp - a spec in its one written form -----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base sections say what layer 0 is; entries say where layers differ, one
// entry for each set of layers. Every default is written, but two keys whose
// default no word can name: `context`, which has none, and `sink_type`.
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Resolve.h"
#include "compiler/spec/Text.h"

#include <functional>
#include <map>
#include <optional>

using namespace kvc::spec;

static std::string text(int64_t value) { return std::to_string(value); }
static std::string text(bool value) { return value ? "true" : "false"; }
static std::string text(FloatType type) {
  return std::string(floatTypeName(type));
}

static std::string text(const Precision &plane) {
  if (!plane.coded)
    return text(plane.type);
  std::string head =
      "{bits: " + text(plane.bits) + ", per: " + plane.per + ", group: ";
  std::string tail = ", scales: " + text(plane.scales) + "}";
  if (plane.groupAll)
    return head + "all" + tail;
  return head + text(plane.group) + ", residual: " + text(plane.residual) +
         ", flush: " + text(plane.flush) + tail;
}

static std::string text(const RopeScaling &scaling) {
  std::string result =
      "{type: " + scaling.type + ", factor: " + numberText(scaling.factor);
  std::string original =
      ", original_context: " + numberText(scaling.originalContext);
  if (scaling.type == "llama3")
    result += ", low: " + numberText(scaling.low) +
              ", high: " + numberText(scaling.high) + original;
  if (scaling.type == "yarn")
    result += original + ", beta_fast: " + numberText(scaling.betaFast) +
              ", beta_slow: " + numberText(scaling.betaSlow) +
              ", attention_factor: " + numberText(scaling.attentionFactor) +
              ", truncate: " + text(scaling.truncate);
  return result + "}";
}

static std::string text(const std::optional<Rope> &rope) {
  if (!rope)
    return "none";
  std::string result = "{theta: " + numberText(rope->theta) +
                       ", dims: " + text(rope->dims) +
                       ", pairing: " + rope->pairing;
  if (!rope->scaling.type.empty())
    result += ", scaling: " + text(rope->scaling);
  return result + "}";
}

static std::string alibiText(const Layer &layer) {
  if (!layer.alibi || layer.alibiSlopes == paperSlopes(layer.heads))
    return text(layer.alibi);
  std::vector<std::string> slopes;
  slopes.reserve(layer.alibiSlopes.size());
  for (double slope : layer.alibiSlopes)
    slopes.push_back(numberText(slope));
  std::string result;
  for (const std::string &slope : slopes)
    result += (result.empty() ? "" : ", ") + slope;
  return "{slopes: [" + result + "]}";
}

/// What `sink_type` must say in this layer; nothing where the default says it.
static std::optional<std::string> sinkTypeText(const Layer &layer) {
  if (layer.keySinkType == defaultSinkType(layer.keys, layer.residualType) &&
      layer.valueSinkType == defaultSinkType(layer.values, layer.residualType))
    return std::nullopt;
  return text(layer.keySinkType);
}

/// A layer's value of a key as text; nothing where the key is not to be
/// written for this layer.
static std::optional<std::string> valueText(KeyId id, const Layer &layer) {
  switch (id) {
  case KeyId::Heads:
    return text(layer.heads);
  case KeyId::KvHeads:
    return text(layer.kvHeads);
  case KeyId::HeadDim:
    return text(layer.headDim);
  case KeyId::ValueDim:
    return text(layer.valueDim);
  case KeyId::Scale:
    return numberText(layer.scale);
  case KeyId::Softcap:
    return layer.softcap ? numberText(*layer.softcap) : "none";
  case KeyId::LearnedSinks:
    return text(layer.learnedSinks);
  case KeyId::Alibi:
    return alibiText(layer);
  case KeyId::Rope:
    return text(layer.rope);
  case KeyId::Keys:
    return text(layer.keys);
  case KeyId::Values:
    return text(layer.values);
  case KeyId::ResidualType:
    return text(layer.residualType);
  case KeyId::Sink:
    return text(layer.sink);
  case KeyId::SinkType:
    return sinkTypeText(layer);
  case KeyId::Window:
    return layer.window ? text(*layer.window) : "all";
  case KeyId::Context:
    return layer.window ? std::nullopt : std::optional(text(layer.context));
  case KeyId::Positions:
    return layer.positions;
  case KeyId::Rollback:
    return text(layer.rollback);
  case KeyId::Arithmetic:
    return layer.arithmetic;
  case KeyId::Share:
    return layer.share ? std::optional(text(*layer.share)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Whether a layer may take any value of a key that it has no text for: a
/// windowed layer does not mind a context, a layer without sinks their type,
/// one without codes what they are multiplied in.
static bool minds(const Key &key, const Layer &layer) {
  if (layer.share && key.layering == Layering::Inherited)
    return false;
  switch (key.id) {
  case KeyId::Context:
    return !layer.window.has_value();
  case KeyId::SinkType:
    return layer.sink > 0;
  case KeyId::Arithmetic:
    return hasCodes(layer);
  default:
    return true;
  }
}

namespace {
using Layers = std::vector<std::size_t>;

class Writer {
public:
  explicit Writer(const Spec &spec) : spec(spec) {}
  std::string write();

private:
  std::optional<std::string> baseText(const Key &key) const;
  void section(KeyId id);
  void collect(const Key &key);
  void entries();

  const Spec &spec;
  std::string out;
  std::map<Layers, std::string> differences; ///< by layers, their keys
};
} // namespace

/// What the base section says of a key; nothing where some layer needs the
/// default that no word names.
std::optional<std::string> Writer::baseText(const Key &key) const {
  if (key.id == KeyId::Share)
    return std::nullopt;
  std::optional<std::string> first;
  for (const Layer &layer : spec.layers) {
    if (!minds(key, layer))
      continue;
    std::optional<std::string> value = valueText(key.id, layer);
    if (!value)
      return std::nullopt;
    if (!first)
      first = value;
  }
  return first;
}

void Writer::collect(const Key &key) {
  std::optional<std::string> base = baseText(key);
  std::map<std::string, Layers> byValue;
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    std::optional<std::string> value = valueText(key.id, spec.layers[i]);
    if (value && value != base && minds(key, spec.layers[i]))
      byValue[*value].push_back(i);
  }
  for (const auto &[value, layers] : byValue)
    differences[layers] += ", " + std::string(key.name) + ": " + value;
}

void Writer::section(KeyId id) {
  out += std::string(keyOf(id).name) + ":\n";
  auto line = [&](const Key &key, const std::string &value) {
    out += "  " + std::string(key.name) + ": " + value + "\n";
  };
  for (const Key *key : keysIn(keyOf(id).map)) {
    if (key->id == KeyId::ModelLayers)
      line(*key, text(static_cast<int64_t>(spec.layers.size())));
    else if (key->id == KeyId::Io)
      line(*key, text(spec.io));
    else if (std::optional<std::string> value = baseText(*key))
      line(*key, *value);
  }
}

/// Layers as an `at` writes them: 3, 0..7 or [0..2, 5].
static std::string atText(const Layers &layers) {
  std::vector<std::string> runs;
  for (std::size_t i = 0, j = 0; i < layers.size(); i = j) {
    for (j = i + 1; j < layers.size() && layers[j] == layers[j - 1] + 1; ++j)
      ;
    std::string first = std::to_string(layers[i]);
    runs.push_back(j == i + 1 ? first
                              : first + ".." + std::to_string(layers[j - 1]));
  }
  if (runs.size() == 1)
    return runs.front();
  std::string result;
  for (const std::string &run : runs)
    result += (result.empty() ? "[" : ", ") + run;
  return result + "]";
}

void Writer::entries() {
  for (const Key *key : keysIn(Section::Layer))
    if (perLayer(*key))
      collect(*key);
  if (differences.empty())
    return;
  out += "layers:\n";
  for (const auto &[layers, keys] : differences)
    out += "  - {at: " + atText(layers) + keys + "}\n";
}

std::string Writer::write() {
  out = "kvc: 1\nname: " + spec.name + "\n";
  section(KeyId::Model);
  section(KeyId::Cache);
  entries();
  return out;
}

std::string kvc::spec::canonicalText(const Spec &spec) {
  return Writer(spec).write();
}
