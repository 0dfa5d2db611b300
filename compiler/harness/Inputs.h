//===- Inputs.h - queries, keys and values made up for tests ----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_INPUTS_H
#define KVC_COMPILER_HARNESS_INPUTS_H

#include "compiler/harness/LoadedLibrary.h"
#include "compiler/harness/Random.h"

namespace kvc::harness {

/// What input may look like. Each has found a mistake of its kind somewhere.
enum class InputKind {
  Gaussian,
  Outliers,    ///< a few channels carry most of the magnitude, as in models
  Biased,      ///< far from zero beside its spread
  Narrow,      ///< the same, in all channels: mean 300, deviation 0.3
  Ties,        ///< on a grid, so that codes are halves
  Constant,    ///< max = min: the least scale
  Alike,       ///< a number for all channels of a token, 1 to 32
  Zero,        ///< +0 and -0
  Alternating, ///< the sign changes from token to token
  OneOutlier,  ///< one value in many is huge beside the rest
  Saturating,  ///< around the largest f16
  Huge,        ///< up to 2^56 or io's limit, the largest that is allowed
  Tiny,        ///< subnormal, in f32 or in f16
};
llvm::ArrayRef<InputKind> allInputKinds();
llvm::StringRef inputName(InputKind kind);

/// One token's input of one layer.
struct TokenInput {
  std::vector<float> q, k, v;
};

/// The input of `layer` at `token`: the same arguments give the same numbers.
/// A reader (`stores` is false) gets q alone.
TokenInput makeInput(InputKind kind, uint64_t seed, int64_t layer,
                     int64_t token, const LayerShape &shape, bool stores,
                     Element io);

/// Learned sinks for all layers that take them: around 0, some far above or
/// below any logit that a random token has.
LearnedSinks makeSinks(uint64_t seed, llvm::ArrayRef<LayerShape> layers);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_INPUTS_H
