//===- Tolerance.cpp - how far a library may lie from the reference -------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kvc::harness {

Tolerance::Tolerance(const reference::Attended &row, int64_t head,
                     int64_t headDim, Element io, mlir::Type arithmetic,
                     bool isRandom)
    : relativeTo(std::max(row.weighted[head], 0x1p-80 * row.largest[head])),
      io(io) {
  const double rounding = 0x1p-24 *
                          (4 + std::sqrt(static_cast<double>(headDim))) *
                          row.magnitude[head];
  logits = 2e-5 + rounding;
  // f32 does not tell such logits apart: out is some mean of values.
  if (rounding > 1)
    relativeTo = row.largest[head];
  if (!arithmetic)
    return;
  if (arithmetic.isInteger(16))
    logits += 2e-3 + 0x1p-17 * static_cast<double>(headDim) * row.spread[head];
  else
    logits = isRandom ? 0.1 : std::numeric_limits<double>::infinity();
}

void Tolerance::allowMerging(const reference::Attended &row, int64_t head) {
  const double lse = std::fabs(row.lse[head]);
  if (std::isfinite(lse))
    logits += 0x1p-22 * std::max(0.0, lse - row.magnitude[head]);
}

double Tolerance::wanted(double exact) const {
  const double limit = largestFinite(io);
  return std::clamp(exact, -limit, limit);
}

double Tolerance::out(double want) const {
  // What is not judged is finite all the same.
  if (std::isinf(logits))
    return logits;
  return logits * relativeTo + halfUlp(io, want);
}

double Tolerance::lse(double want) const {
  return logits + 0x1p-22 * std::fabs(want);
}

} // namespace kvc::harness
