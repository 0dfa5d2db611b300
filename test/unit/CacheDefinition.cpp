//===- CacheDefinition.cpp - positions in the cache, the plain way --------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/CacheDefinition.h"

#include <algorithm>
#include <cmath>

using namespace kvc::harness;
using namespace llvm;

namespace kvc::test {

static constexpr double u = 0x1p-24;
/// An original is rounded to its type, and zero to the scales'.
static constexpr double grown = 1 + 0x1p-6;

void Definition::give(const TokenInput &input) {
  given.push_back(input.k);
  for (float x : input.k)
    largestKey = std::max(largestKey, std::fabs(double(x)));
  for (float x : input.v)
    largestValue = std::max(largestValue, std::fabs(double(x)));
}

std::pair<int64_t, int64_t> Definition::pairDims(size_t pair) const {
  const auto n = static_cast<int64_t>(pair);
  return rope.interleaved ? std::pair(2 * n, 2 * n + 1)
                          : std::pair(n, n + int64_t(rope.frequencies.size()));
}

/// The vector of one head rotated at `index`, which may be negative: back.
std::vector<double> Definition::turned(std::vector<double> x, int64_t index,
                                       double factor) const {
  for (size_t i = 0; i < rope.frequencies.size(); ++i) {
    auto [a, b] = pairDims(i);
    const double angle = double(index) * rope.frequencies[i];
    const double c = std::cos(angle) * factor, s = std::sin(angle) * factor;
    const double x0 = x[a], x1 = x[b];
    x[a] = x0 * c - x1 * s;
    x[b] = x0 * s + x1 * c;
  }
  return x;
}

/// The sum over rotated pairs of (|a0| + |a1|) * (|b0| + |b1|).
double Definition::pairSum(ArrayRef<double> x, ArrayRef<double> y) const {
  double sum = 0;
  for (size_t i = 0; i < rope.frequencies.size(); ++i) {
    auto [a, b] = pairDims(i);
    sum += (std::fabs(x[a]) + std::fabs(x[b])) *
           (std::fabs(y[a]) + std::fabs(y[b]));
  }
  return sum;
}

double Definition::logit(const Score &score, double dot, int64_t head,
                         int64_t distance) const {
  if (score.softcap > 0)
    dot = score.softcap * std::tanh(dot / score.softcap);
  if (!score.slopes.empty())
    dot -= score.slopes[head] * double(distance);
  return dot;
}

double Definition::scaleOf(int64_t layer) const {
  const double scale = scheme.scores[layer].scale;
  return scale != 0 ? scale : 1 / std::sqrt(double(layers[layer].headDim));
}

Definition::Scored Definition::scoreKey(Way way, int64_t layer,
                                        const Stored &stored,
                                        const std::vector<double> &q,
                                        int64_t head, int64_t j) const {
  const auto dim = static_cast<int64_t>(q.size()), n = stored.count;
  const int64_t kvHead = head * layers[layer].kvHeads / layers[layer].heads;
  const int64_t seenAt = stored.positions[j], newest = stored.positions.back();
  const double factor = rope.factor;
  const float *read = &stored.keys[(kvHead * n + j) * dim];
  const std::vector<double> kept(read, read + dim);
  std::vector<double> key = turned(kept, -seenAt, 1 / factor);
  if (way == Way::Given) {
    const float *x = &given[seenAt - first][kvHead * dim];
    key.assign(x, x + dim);
  }
  const bool absolute = way == Way::Absolute;
  const int64_t index = absolute ? seenAt : j;
  const int64_t queryIndex = absolute ? newest : n - 1;
  const std::vector<double> k = turned(key, index, factor);
  const std::vector<double> turnedQ = turned(q, queryIndex, factor);
  // For the bound: beside the key as it is stored, the query as far from it.
  const std::vector<double> near =
      turned(q, seenAt + queryIndex - index, factor);
  double dot = 0, magnitude = 0, lost = 0;
  for (int64_t d = 0; d < dim; ++d) {
    dot += turnedQ[d] * k[d];
    magnitude += std::fabs(near[d] * kept[d]);
    if (scheme.keyCodes)
      lost += std::fabs(near[d]) * u *
              (2 * std::fabs(kept[d]) + M_SQRT2 * factor * largestKey * grown);
    else if (way == Way::Given) // f16 has numbers below its normal ones
      lost += std::fabs(near[d]) * 0x1p-25;
  }
  const double angles = 0x1p-52 * double(newest);
  lost += factor * pairSum(q, kept) * (u + angles);
  if (way == Way::Given)
    lost += 2 * factor * factor * pairSum(q, key) * (3 * u + angles) +
            (j < scheme.sinks ? scheme.sinkUlp : scheme.bodyUlp) * magnitude;
  const double scale = scaleOf(layer);
  return {logit(scheme.scores[layer], scale * dot, head, queryIndex - index),
          std::fabs(scale) * magnitude, std::fabs(scale) * lost};
}

Row Definition::attend(Way way, int64_t layer, const Stored &stored,
                       ArrayRef<float> query, int64_t head) const {
  const LayerShape &shape = layers[layer];
  const int64_t n = stored.count, dim = shape.valueDim;
  const auto own = query.slice(head * shape.headDim, shape.headDim);
  const std::vector<double> q(own.begin(), own.end());
  std::vector<Scored> keys;
  double greatest = -INFINITY, most = 0, lost = 0; // most is A, lost is e
  for (int64_t j = 0; j < n; ++j) {
    keys.push_back(scoreKey(way, layer, stored, q, head, j));
    greatest = std::max(greatest, keys[j].logit);
    most = std::max(most, keys[j].magnitude);
    lost = std::max(lost, keys[j].lost);
  }
  double sum = 0, largest = 0;
  std::vector<double> out(dim), weighted(dim);
  for (int64_t j = 0; j < n; ++j) {
    const double weight = std::exp(keys[j].logit - greatest);
    const int64_t kvHead = head * shape.kvHeads / shape.heads;
    const float *v = &stored.values[(kvHead * n + j) * dim];
    sum += weight;
    for (int64_t d = 0; d < dim; ++d) {
      out[d] += weight * v[d];
      weighted[d] += weight * std::fabs(v[d]);
      largest = std::max(largest, std::fabs(double(v[d])));
    }
  }
  const double unit =
      std::max(*std::max_element(weighted.begin(), weighted.end()) / sum,
               0x1p-80 * largest);
  const double bound = 2e-5 + u * (4 + std::sqrt(double(shape.headDim))) * most;
  const double read =
      scheme.valueCodes ? u * (2 * largest + largestValue * grown) : 0;
  Row row;
  row.lse = greatest + std::log(sum);
  row.lseBound = bound + lost + 0x1p-22 * std::fabs(row.lse);
  for (double x : out) {
    row.out.push_back(x / sum);
    row.bounds.push_back((bound + 2 * lost) * unit + read +
                         halfUlp(io, x / sum));
  }
  return row;
}

bool Definition::anglesRight(const Stored &stored) const {
  const LayerShape &shape = layers[0];
  const int64_t dim = shape.headDim;
  for (int64_t head = 0; head < shape.kvHeads; ++head)
    for (int64_t j = 0; j < stored.count; ++j) {
      const int64_t seenAt = stored.positions[j];
      const float *x = &given[seenAt - first][head * dim];
      const std::vector<double> want =
          turned(std::vector<double>(x, x + dim), seenAt, rope.factor);
      for (int64_t d = 0; d < dim; ++d)
        if (std::fabs(stored.keys[(head * stored.count + j) * dim + d] -
                      want[d]) > 1e-6 * std::max(1.0, std::fabs(want[d])))
          return false;
    }
  return true;
}

} // namespace kvc::test
