//===- Felt.cpp - keys that no layer can feel -------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// kvc never ignores a key: one that changes nothing in any layer is an error,
// as its writer believes something that is not so. A written default is none.
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Resolve.h"

#include <algorithm>
#include <cmath>

using namespace kvc::spec;

static bool turns(const Layer &layer) { return layer.rope || layer.alibi; }

/// Whether tokens of a coded plane can live long enough to be coded.
static bool everFlushed(const Precision &plane, const Layer &layer) {
  return !layer.window || *layer.window > plane.residual;
}

namespace {
class Felt {
public:
  Felt(const Resolution &resolution, const std::vector<Layer> &layers,
       FloatType io, const Defaults &defaults, Diagnostics &diags);
  void check(const Overlay &overlay, const Setting &setting);

private:
  using Indices = std::vector<std::size_t>;

  bool inherits(std::size_t layer, const Key &key) const {
    return layers[layer].share && key.layering == Layering::Inherited;
  }
  bool isDefault(const Setting &setting, const Layer &layer) const;
  bool isDefaultIn(const Setting &setting, const Indices &indices) const;
  bool agrees(const Setting &setting, const Indices &readers) const;
  bool feels(std::size_t layer, KeyId id) const;
  std::string inherited(const Setting &setting, const Indices &indices) const;
  std::string reason(std::size_t layer, const Setting &setting) const;

  const Resolution &resolution;
  const std::vector<Layer> &layers;
  FloatType io;
  const Defaults &defaults;
  Diagnostics &diags;
  std::vector<bool> wrong;       ///< layers with a wrong value in them
  std::vector<bool> readersTurn; ///< owners with a reader that has positions
};
} // namespace

Felt::Felt(const Resolution &resolution, const std::vector<Layer> &layers,
           FloatType io, const Defaults &defaults, Diagnostics &diags)
    : resolution(resolution), layers(layers), io(io), defaults(defaults),
      diags(diags), wrong(layers.size()), readersTurn(layers.size()) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (const Setting *setting : resolution.won[i])
      wrong[i] = wrong[i] || (setting && !setting->valid);
    if (layers[i].share && turns(layers[i]))
      readersTurn[*layers[i].share] = true;
  }
}

/// Whether the layer would be the same had the key not been written.
bool Felt::isDefault(const Setting &setting, const Layer &layer) const {
  switch (setting.key->id) {
  case KeyId::KvHeads:
    return setting.integer == layer.heads;
  case KeyId::ValueDim:
    return setting.integer == layer.headDim;
  case KeyId::Scale:
    return setting.number == 1 / std::sqrt(double(layer.headDim));
  case KeyId::Softcap:
  case KeyId::Rope:
    return setting.isWord("none");
  case KeyId::LearnedSinks:
  case KeyId::Alibi:
    return setting.form == form::Boolean && !setting.boolean;
  case KeyId::Keys:
  case KeyId::Values:
  case KeyId::ResidualType:
    return setting.isWord(floatTypeName(io));
  case KeyId::SinkType: {
    FloatType type = floatType(setting.text);
    return type == defaultSinkType(layer.keys, layer.residualType) &&
           type == defaultSinkType(layer.values, layer.residualType);
  }
  case KeyId::Sink:
  case KeyId::Rollback:
    return setting.integer == 0;
  case KeyId::Window:
    return setting.isWord("all");
  case KeyId::Positions:
    return setting.isWord("absolute");
  case KeyId::Arithmetic:
    return setting.isWord(hasCodes(layer) ? defaults.arithmetic : "f32");
  default:
    return false;
  }
}

bool Felt::isDefaultIn(const Setting &setting, const Indices &indices) const {
  return std::ranges::all_of(indices, [&](std::size_t layer) {
    return isDefault(setting, layers[layer]);
  });
}

/// Whether the readers' owners have the written default too; only then it
/// says nothing wrong.
bool Felt::agrees(const Setting &setting, const Indices &readers) const {
  for (std::size_t layer : readers) {
    const Setting *owners = resolution.winner(
        static_cast<std::size_t>(*layers[layer].share), setting.key->id);
    if (owners && owners != &setting &&
        !isDefault(*owners, layers[*layers[layer].share]))
      return false;
  }
  return isDefaultIn(setting, readers);
}

/// Whether an owner's value of the key changes anything, in it or a reader.
bool Felt::feels(std::size_t index, KeyId id) const {
  const Layer &layer = layers[index];
  if (wrong[index])
    return true;
  switch (id) {
  case KeyId::Context:
    return !layer.window;
  case KeyId::Positions:
    return layer.sink > 0 && layer.window &&
           (turns(layer) || readersTurn[index]);
  case KeyId::SinkType:
    return layer.sink > 0;
  case KeyId::ResidualType:
  case KeyId::Arithmetic:
    return hasCodes(layer);
  case KeyId::Rollback:
    return layer.window || hasCodes(layer);
  case KeyId::Keys:
    return !layer.keys.coded || everFlushed(layer.keys, layer);
  case KeyId::Values:
    return !layer.values.coded || everFlushed(layer.values, layer);
  default:
    return true;
  }
}

/// Why the layer does not feel the key, and what to do.
std::string Felt::reason(std::size_t index, const Setting &setting) const {
  const Layer &layer = layers[index];
  std::string name(setting.key->name);
  std::string head = name + " is not felt by any layer: ";
  std::string out = "; leave " + name + " out";
  switch (setting.key->id) {
  case KeyId::Context:
    return head + "a window bounds what is stored" + out +
           ", or write window: all";
  case KeyId::Positions:
    head = "positions: cache is not felt by any layer: ";
    if (!layer.window)
      return head + "without a window nothing is evicted, and both counts are "
                    "the same; write a window or positions: absolute";
    if (layer.sink == 0)
      return head + "without sinks distances are the same either way; write "
                    "sink: 4 for instance, or positions: absolute";
    return head + "there is neither rope nor alibi to use positions" + out;
  case KeyId::SinkType:
    return head + "there are no sinks" + out +
           ", or write sink: 4 for instance";
  case KeyId::ResidualType:
  case KeyId::Arithmetic:
    return head + "neither keys nor values are coded" + out;
  case KeyId::Rollback:
    return head + "nothing is evicted or coded, so truncate is exact anyway" +
           out;
  default: {
    int64_t residual = setting.key->id == KeyId::Keys ? layer.keys.residual
                                                      : layer.values.residual;
    return name + " are never coded: window is " +
           std::to_string(*layer.window) + " and the newest " +
           std::to_string(residual) +
           " tokens stay unquantised; write a residual below the window, or " +
           name + ": " + std::string(floatTypeName(layer.residualType));
  }
  }
}

std::string Felt::inherited(const Setting &setting,
                            const Indices &indices) const {
  std::size_t first = indices.front();
  std::string owner = std::to_string(*layers[first].share);
  std::string name(setting.key->name);
  return name + " is inherited: layer " + std::to_string(first) +
         (indices.size() > 1 ? " and the others of this entry read"
                             : " reads") +
         " the cache of layer " + owner + "; leave " + name +
         " out, or write it for layer " + owner;
}

void Felt::check(const Overlay &overlay, const Setting &setting) {
  if (!setting.valid || !perLayer(*setting.key))
    return;
  const Key &key = *setting.key;
  bool allInherit = true, any = false;
  std::size_t some = 0;
  Indices taking;
  for (std::size_t layer : overlay.layers) {
    bool inherit = inherits(layer, key);
    allInherit &= inherit;
    if (inherit || resolution.winner(layer, key.id) != &setting)
      continue;
    if (feels(layer, key.id))
      return;
    some = any ? some : layer;
    any = true;
    taking.push_back(layer);
  }
  if (overlay.isEntry && allInherit) {
    if (!agrees(setting, overlay.layers))
      diags.error(setting.keyAt, inherited(setting, overlay.layers));
  } else if (!any) {
    if (!isDefaultIn(setting, overlay.layers))
      diags.error(setting.keyAt,
                  std::string(key.name) +
                      " has no effect: later entries replace it in every "
                      "layer" +
                      (overlay.isEntry ? " of this entry" : "") +
                      "; leave it out");
  } else if (!isDefaultIn(setting, taking)) {
    diags.error(setting.keyAt, reason(some, setting));
  }
}

void kvc::spec::checkFelt(const Resolution &resolution,
                          const std::vector<Layer> &layers, FloatType io,
                          const Defaults &defaults, Diagnostics &diags) {
  // A key that nobody knows, or one in a section that cannot be read, may be
  // what another one is felt by; and io is the default of many.
  const Setting &root = *resolution.root;
  bool known = resolution.complete && !root.unknown;
  for (KeyId id : {KeyId::Model, KeyId::Cache})
    if (const Setting *section = root.find(id))
      known &= section->form == form::Map &&
               (!section->find(KeyId::Io) || section->get(KeyId::Io));
  for (const Overlay &overlay : resolution.overlays)
    known &= !overlay.map->unknown;
  if (!known)
    return;
  Felt felt(resolution, layers, io, defaults, diags);
  for (const Overlay &overlay : resolution.overlays)
    for (const Setting &setting : overlay.map->items)
      felt.check(overlay, setting);
}

/// A plane that is never coded is one of floats, in the type of its residual.
static void settlePlane(Precision &plane, const Layer &layer) {
  if (!plane.coded || everFlushed(plane, layer))
    return;
  Location at = plane.at;
  plane = Precision();
  plane.type = layer.residualType;
  plane.at = at;
}

void kvc::spec::settleUnfelt(std::vector<Layer> &layers, FloatType io) {
  std::vector<bool> readersTurn(layers.size());
  for (const Layer &layer : layers)
    if (layer.share && turns(layer))
      readersTurn[*layer.share] = true;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Layer &layer = layers[i];
    if (layer.share) {
      // Owners come first: theirs are settled.
      const Layer &owner = layers[*layer.share];
      layer.context = owner.context;
      layer.positions = owner.positions;
      layer.residualType = owner.residualType;
      layer.keySinkType = owner.keySinkType;
      layer.valueSinkType = owner.valueSinkType;
      layer.arithmetic = owner.arithmetic;
      layer.rollback = owner.rollback;
      layer.keys = owner.keys;
      layer.values = owner.values;
      continue;
    }
    if (layer.window)
      layer.context = 0;
    settlePlane(layer.keys, layer);
    settlePlane(layer.values, layer);
    if (!layer.window || layer.sink == 0 || !(turns(layer) || readersTurn[i]))
      layer.positions = "absolute";
    if (!hasCodes(layer)) {
      layer.residualType = io;
      layer.arithmetic = "f32";
      if (!layer.window)
        layer.rollback = 0;
    }
    if (layer.sink == 0) {
      layer.keySinkType = defaultSinkType(layer.keys, layer.residualType);
      layer.valueSinkType = defaultSinkType(layer.values, layer.residualType);
    }
  }
}
