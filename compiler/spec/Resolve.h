//===- Resolve.h - which written value each layer takes ---------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps from settings to layers: entries of `layers` are laid over the
// base sections (Resolve.cpp), defaults and the checks between keys make a
// Layer of them (Layers.cpp), and what no layer can feel is refused and then
// brought to one form (Felt.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_SPEC_RESOLVE_H
#define KVC_COMPILER_SPEC_RESOLVE_H

#include "compiler/spec/Setting.h"
#include "compiler/spec/Spec.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace kvc::spec {

/// The written value of each key that wins in one layer; null: none.
using Winners = std::array<const Setting *, numKeys>;

/// A section's settings that layers may take: a base section's (all layers) or
/// an entry's.
struct Overlay {
  const Setting *map = nullptr;
  bool isEntry = false;
  std::vector<std::size_t> layers; ///< ascending, each once
};

struct Resolution {
  const Setting *root = nullptr;
  std::vector<Overlay> overlays; ///< in the order in which they are laid
  std::vector<Winners> won;      ///< by layer, before inheritance
  std::vector<Location> at;      ///< by layer, its last entry
  /// False where a mistake hides which layers an entry is about or what they
  /// read: checks that depend on it are then left out.
  bool complete = true;

  const Setting *winner(std::size_t layer, KeyId id) const {
    return won[layer][static_cast<std::size_t>(id)];
  }
};

Resolution resolve(const Setting &root, Diagnostics &diags);

/// The layers with every default filled in, checked for how keys go together.
std::vector<Layer> buildLayers(const Resolution &resolution, FloatType io,
                               const Defaults &defaults, Diagnostics &diags);

/// Refuses keys that no layer can feel.
void checkFelt(const Resolution &resolution, const std::vector<Layer> &layers,
               FloatType io, const Defaults &defaults, Diagnostics &diags);

/// Gives keys that a layer cannot feel their default there, so that the same
/// meaning is the same Spec.
void settleUnfelt(std::vector<Layer> &layers, FloatType io);

inline bool hasCodes(const Layer &layer) {
  return layer.keys.coded || layer.values.coded;
}

/// The type of a plane's sinks where `sink_type` is not written.
inline FloatType defaultSinkType(const Precision &plane, FloatType residual) {
  return plane.coded ? residual : plane.type;
}

FloatType floatType(std::string_view word);
std::string_view floatTypeName(FloatType type);

/// The spec in canonical YAML; its layers are settled.
std::string canonicalText(const Spec &spec);

} // namespace kvc::spec

#endif // KVC_COMPILER_SPEC_RESOLVE_H
