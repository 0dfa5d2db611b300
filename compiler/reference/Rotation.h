//===- Rotation.h - cosines and sines of rotary angles ----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_REFERENCE_ROTATION_H
#define KVC_COMPILER_REFERENCE_ROTATION_H

#include "dialect/KVAttributes.h"

#include <vector>

namespace kvc::reference {

/// How one position policy turns keys and queries.
class Rotation {
public:
  /// Turns dimensions `a` and `b` of a head.
  struct Turn {
    int64_t a, b;
    float c, s; ///< cosine and sine times the factor, rounded once to f32
  };

  explicit Rotation(kv::PositionAttrInterface position);
  /// One turn a rotated pair; none where nothing is rotated.
  std::vector<Turn> at(int64_t index) const;

private:
  std::vector<double> frequencies;
  std::vector<std::pair<int64_t, int64_t>> dims;
  double factor = 1;
};

} // namespace kvc::reference

#endif // KVC_COMPILER_REFERENCE_ROTATION_H
