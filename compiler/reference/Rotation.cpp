//===- Rotation.cpp - cosines and sines of rotary angles ------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Rotation.h"

#include <cmath>

namespace kvc::reference {

Rotation::Rotation(kv::PositionAttrInterface position) {
  if (position.getPairs() == 0)
    return;
  for (double frequency : position.getFrequencies()) {
    dims.push_back(
        position.getPairDims(static_cast<int64_t>(frequencies.size())));
    frequencies.push_back(frequency);
  }
  factor = position.getFactor();
}

std::vector<Rotation::Turn> Rotation::at(int64_t index) const {
  std::vector<Turn> turns;
  for (size_t pair = 0; pair < frequencies.size(); ++pair) {
    const double angle = static_cast<double>(index) * frequencies[pair];
    turns.push_back({dims[pair].first, dims[pair].second,
                     static_cast<float>(std::cos(angle) * factor),
                     static_cast<float>(std::sin(angle) * factor)});
  }
  return turns;
}

} // namespace kvc::reference
