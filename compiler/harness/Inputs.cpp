//===- Inputs.cpp - queries, keys and values made up for tests ------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Inputs.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace kvc::harness {

ArrayRef<InputKind> allInputKinds() {
  static const InputKind kinds[] = {
      InputKind::Gaussian,   InputKind::Outliers,   InputKind::Biased,
      InputKind::Narrow,     InputKind::Ties,       InputKind::Constant,
      InputKind::Alike,      InputKind::Zero,       InputKind::Alternating,
      InputKind::OneOutlier, InputKind::Saturating, InputKind::Huge,
      InputKind::Tiny};
  return kinds;
}

StringRef inputName(InputKind kind) {
  switch (kind) {
  case InputKind::Gaussian:
    return "gaussian";
  case InputKind::Outliers:
    return "outlier channels";
  case InputKind::Biased:
    return "biased";
  case InputKind::Narrow:
    return "narrow";
  case InputKind::Ties:
    return "ties";
  case InputKind::Constant:
    return "constant";
  case InputKind::Alike:
    return "alike";
  case InputKind::Zero:
    return "zero";
  case InputKind::Alternating:
    return "alternating";
  case InputKind::OneOutlier:
    return "one outlier";
  case InputKind::Saturating:
    return "saturating";
  case InputKind::Huge:
    return "huge";
  case InputKind::Tiny:
    return "tiny";
  }
  llvm_unreachable("no such kind");
}

/// The value of one channel of one token. `place` is the channel's number,
/// mixed, so that the same channels stand out at every token. `alike` is the
/// token's own number. `most`: the largest magnitude that is allowed.
static double makeValue(InputKind kind, Random &random, uint64_t place,
                        int64_t channel, int64_t token, double alike,
                        double most) {
  switch (kind) {
  case InputKind::Gaussian:
    return random.gaussian();
  case InputKind::Outliers:
    return random.gaussian() * (place % 8 == 0 ? 20.0 : 0.5);
  case InputKind::Biased:
    return 100.0 * (place % 2 ? 1 : -1) + random.gaussian();
  case InputKind::Narrow:
    return 300.0 + 0.3 * random.gaussian();
  case InputKind::Ties:
    return 0.5 * static_cast<double>(random.between(-30, 30));
  case InputKind::Constant:
    return 0.7;
  case InputKind::Alike:
    return alike;
  case InputKind::Zero:
    return channel % 2 ? -0.0 : 0.0;
  case InputKind::Alternating:
    return (token % 2 ? -1.0 : 1.0) * (1.0 + 0.125 * random.uniform());
  case InputKind::OneOutlier:
    return random.oneIn(97) ? 1000.0 : 0.01 * random.gaussian();
  case InputKind::Saturating:
    return 65504.0 * random.gaussian();
  case InputKind::Huge:
    return (random.oneIn(2) ? -1 : 1) * most *
           (random.oneIn(3) ? 1.0 : random.uniform());
  case InputKind::Tiny:
    // Of f32, and in every second token of f16.
    return std::ldexp(random.gaussian(), token % 2
                                             ? (random.oneIn(2) ? -130 : -140)
                                             : (random.oneIn(2) ? -16 : -22));
  }
  llvm_unreachable("no such kind");
}

static std::vector<float> makePlane(InputKind kind, uint64_t seed,
                                    uint64_t plane, int64_t layer,
                                    int64_t token, int64_t channels,
                                    Element io) {
  const uint64_t planeSeed = Random::mix(Random::mix(seed, layer), plane);
  Random random(Random::mix(planeSeed, token));
  const double alike =
      1.0 + 31.0 * Random(Random::mix(planeSeed, ~token)).uniform();
  const double most = std::min(0x1p56, largestFinite(io));
  std::vector<float> values;
  for (int64_t channel = 0; channel < channels; ++channel) {
    const double value =
        makeValue(kind, random, Random::mix(planeSeed, ~channel), channel,
                  token, alike, most);
    values.push_back(static_cast<float>(std::clamp(value, -most, most)));
  }
  roundTo(io, values);
  return values;
}

TokenInput makeInput(InputKind kind, uint64_t seed, int64_t layer,
                     int64_t token, const LayerShape &shape, bool stores,
                     Element io) {
  TokenInput input;
  input.q =
      makePlane(kind, seed, 0, layer, token, shape.heads * shape.headDim, io);
  if (!stores)
    return input;
  input.k =
      makePlane(kind, seed, 1, layer, token, shape.kvHeads * shape.headDim, io);
  input.v = makePlane(kind, seed, 2, layer, token,
                      shape.kvHeads * shape.valueDim, io);
  return input;
}

LearnedSinks makeSinks(uint64_t seed, ArrayRef<LayerShape> layers) {
  LearnedSinks sinks(layers.size());
  for (auto [number, layer] : enumerate(layers)) {
    Random random(Random::mix(Random::mix(seed, number), 3));
    for (int64_t head = 0; layer.learnedSinks && head < layer.heads; ++head)
      sinks[number].push_back(static_cast<float>(
          random.oneIn(8) ? (random.oneIn(2) ? 1 : -1) * 100.0
                          : 3.0 * random.gaussian()));
  }
  return sinks;
}

} // namespace kvc::harness
