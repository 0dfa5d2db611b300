//===- Spec.h - what a spec says, every default filled in -------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The result of reading one spec: plain values, no YAML, no MLIR. Every layer
// is resolved: defaults are filled in, overrides applied, a reader's inherited
// keys copied from its owner. docs/spec.md documents the keys.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_SPEC_SPEC_H
#define KVC_COMPILER_SPEC_SPEC_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kvc::spec {

/// A place in the spec's file, 1-based; 0 where a value is a default.
struct Location {
  unsigned line = 0;
  unsigned column = 0;
};

enum class FloatType { F32, F16, BF16 };

/// Defaults that depend on what a spec is compiled for.
struct Defaults {
  std::string arithmetic = "i16"; ///< of layers that have codes
};

/// One plane's precision (keys or values).
struct Precision {
  bool coded = false;
  FloatType type = FloatType::F32; ///< of the plane where it is not coded
  // The rest counts only where `coded`.
  int64_t bits = 8;
  std::string per = "channel"; ///< "channel" or "token"
  bool groupAll = false;       ///< `group: all` (per channel only)
  int64_t group = 0; ///< tokens (per channel) or channels (per token) a scale
  int64_t residual = 0; ///< newest tokens kept as originals
  int64_t flush = 1;    ///< tokens coded at a time
  FloatType scales = FloatType::F16;
  Location at;
};

/// Scaling of the rotary frequencies; `type` is empty where there is none.
struct RopeScaling {
  std::string type; ///< "linear", "ntk", "llama3", "yarn"
  double factor = 1;
  double low = 1, high = 4;                                ///< llama3
  double originalContext = 0;                              ///< llama3, yarn
  double betaFast = 32, betaSlow = 1, attentionFactor = 1; ///< yarn
  bool truncate = true;                                    ///< yarn
  Location at;
};

struct Rope {
  double theta = 10000;
  int64_t dims = 0;             ///< rotated dimensions, even
  std::string pairing = "half"; ///< "half" or "interleaved"
  RopeScaling scaling;
  Location at;
};

/// One layer, resolved.
struct Layer {
  // The model's keys.
  int64_t heads = 0, kvHeads = 0, headDim = 0, valueDim = 0;
  double scale = 0;
  std::optional<double> softcap;
  bool learnedSinks = false;
  bool alibi = false;
  std::vector<double> alibiSlopes; ///< one a head where `alibi`
  std::optional<Rope> rope;

  // The cache's keys.
  Precision keys, values;
  FloatType residualType = FloatType::F32; ///< of tokens not yet coded
  /// Of sinks, by plane: the default is the plane's own float type.
  FloatType keySinkType = FloatType::F32, valueSinkType = FloatType::F32;
  int64_t sink = 0;
  std::optional<int64_t> window; ///< none: all
  int64_t context = 0; ///< most tokens stored; 0 where a window bounds them
  std::string positions = "absolute"; ///< "absolute" or "cache"
  int64_t rollback = 0;
  std::string arithmetic = "f32"; ///< "f32", "i16", "i8"; f32 without codes

  std::optional<int64_t> share; ///< the owner's layer, for a reader
  Location at; ///< where the layer's last entry stands, else `model`
};

/// The slopes of the ALiBi paper.
std::vector<double> paperSlopes(int64_t heads);

struct Spec {
  std::string file;
  std::string name;
  FloatType io = FloatType::F32;
  std::vector<Layer> layers;
  /// The spec in canonical YAML: the same meaning gives the same text.
  std::string canonical;
};

/// The same model with a cache that keeps `tokens` tokens in f32: what others
/// are measured against. Who reads whose cache is as it was; the name is not.
Spec withFullCache(const Spec &spec, int64_t tokens);

} // namespace kvc::spec

#endif // KVC_COMPILER_SPEC_SPEC_H
