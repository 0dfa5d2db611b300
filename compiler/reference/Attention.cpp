//===- Attention.cpp - attention over what is stored, in fp64 -------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Attention.h"

#include <cmath>
#include <limits>

using namespace llvm;

namespace kvc::reference {

namespace {

/// A query in each of its rotations.
struct RotatedQuery {
  std::vector<double> values; ///< [heads, head_dim]
  int64_t index;              ///< where it was rotated, and distances start
};

/// One token's attention, head by head.
class Row {
public:
  Row(const Store &store, kv::PolicyAttr policy, kv::ShapeAttr shape,
      int64_t position, ArrayRef<float> q, ArrayRef<float> sinks, int64_t from,
      int64_t to);
  Attended run();

private:
  RotatedQuery rotate(unsigned rotation, ArrayRef<float> q) const;
  const RotatedQuery &queryFor(const Moment::Form &token) const;
  double logit(double dot, int64_t head, int64_t distance) const;
  void scoreHead(int64_t head);
  void weighHead(int64_t head);

  const Store &store;
  kv::PolicyAttr policy;
  kv::ShapeAttr shape;
  int64_t position, length;
  Moment moment;         ///< the tokens that are attended to
  ArrayRef<float> sinks; ///< [heads], learned; empty: none
  SmallVector<RotatedQuery, 2> queries;
  SmallVector<kv::ScoreAttrInterface, 4> score;
  double scale = 1;    ///< |the factors of the score points that are one|
  bool starts = false; ///< with a logit that `sinks` has
  std::vector<double> logits;
  Attended result;
};

} // namespace

Row::Row(const Store &store, kv::PolicyAttr policy, kv::ShapeAttr shape,
         int64_t position, ArrayRef<float> q, ArrayRef<float> sinks,
         int64_t from, int64_t to)
    : store(store), policy(policy), shape(shape), position(position),
      length(position - store.firstPosition() + 1),
      moment(store.getMoment(length)), sinks(sinks) {
  std::erase_if(moment.tokens, [&](const Moment::Form &token) {
    return token.index < from || token.index >= to;
  });
  const unsigned indices = policy.getPosition().getIndices();
  for (unsigned i = 0; i < indices; ++i)
    queries.push_back(rotate(i, q));
  for (mlir::Attribute point : policy.getScore()) {
    score.push_back(cast<kv::ScoreAttrInterface>(point));
    starts = starts || score.back().startsWithLogit();
    scale *= std::fabs(score.back().getQueryFactor().value_or(1.0));
  }
}

RotatedQuery Row::rotate(unsigned rotation, ArrayRef<float> q) const {
  auto axis = policy.getPosition();
  RotatedQuery query{{q.begin(), q.end()}, position};
  query.index = axis.queryIndex(rotation, position,
                                length - policy.getTime().stored(length));
  // A reader's rotation is its owner's.
  if (axis.getRotations() == 0)
    return query;
  const int64_t dim = shape.getHeadDim();
  for (auto [a, b, c, s] : store.rotation().at(query.index))
    for (int64_t head = 0; head < shape.getHeads(); ++head) {
      double &x0 = query.values[head * dim + a];
      double &x1 = query.values[head * dim + b];
      const double y0 = x0 * c - x1 * s, y1 = x0 * s + x1 * c;
      x0 = y0, x1 = y1;
    }
  return query;
}

const RotatedQuery &Row::queryFor(const Moment::Form &token) const {
  const bool sink = token.index < policy.getTime().getSinks();
  return queries[policy.getPosition().rotationFor(sink)];
}

double Row::logit(double dot, int64_t head, int64_t distance) const {
  for (kv::ScoreAttrInterface point : score)
    dot = point.logit(dot, {head, distance});
  return dot;
}

/// The head's logits, and the largest sum of magnitudes among its products.
void Row::scoreHead(int64_t head) {
  const int64_t dim = shape.getHeadDim();
  const int64_t kvHead = head / shape.getGroup();
  double most = 0, spread = 0;
  logits.clear();
  for (const Moment::Form &token : moment.tokens) {
    const RotatedQuery &query = queryFor(token);
    const double *q = query.values.data() + head * dim;
    const PlaneToken &keys = *token.planes[size_t(kv::Plane::Keys)];
    const double *k = keys.exact.data() + kvHead * dim;
    double dot = 0, sum = 0;
    for (int64_t d = 0; d < dim; ++d) {
      const double product = q[d] * k[d];
      dot += product;
      sum += std::fabs(product);
    }
    for (int64_t d = 0; keys.coded && d < dim; ++d)
      spread =
          std::max(spread, std::fabs(q[d]) * keys.spread[kvHead * dim + d]);
    most = std::max(most, sum);
    const int64_t keyPosition = store.firstPosition() + token.index;
    logits.push_back(logit(dot, head, query.index - keyPosition));
  }
  result.magnitude.push_back(scale * most);
  result.spread.push_back(scale * spread);
}

/// Softmax of the logits, and the values weighed by it.
void Row::weighHead(int64_t head) {
  const int64_t dim = shape.getValueDim();
  const int64_t kvHead = head / shape.getGroup();
  double greatest = -std::numeric_limits<double>::infinity();
  for (double logit : logits)
    greatest = std::max(greatest, logit);
  std::vector<double> out(dim), magnitudes(dim);
  double sum = 0, largest = 0;
  // One logit more, without a value.
  if (starts && !sinks.empty()) {
    greatest = std::max(greatest, double(sinks[head]));
    sum = std::exp(sinks[head] - greatest);
  }
  for (auto [token, logit] : zip(moment.tokens, logits)) {
    const double weight = std::exp(logit - greatest);
    const PlaneToken &values = *token.planes[size_t(kv::Plane::Values)];
    const double *v = values.exact.data() + kvHead * dim;
    sum += weight;
    for (int64_t d = 0; d < dim; ++d) {
      out[d] += weight * v[d];
      magnitudes[d] += weight * std::fabs(v[d]);
      largest = std::max(largest, std::fabs(v[d]));
    }
  }
  double weighted = 0;
  for (int64_t d = 0; d < dim; ++d) {
    result.out.push_back(sum > 0 ? out[d] / sum : 0.0);
    weighted = std::max(weighted, sum > 0 ? magnitudes[d] / sum : 0.0);
  }
  result.lse.push_back(sum > 0 ? greatest + std::log(sum) : greatest);
  result.weighted.push_back(weighted);
  result.largest.push_back(largest);
}

Attended Row::run() {
  for (int64_t head = 0; head < shape.getHeads(); ++head) {
    scoreHead(head);
    weighHead(head);
  }
  return std::move(result);
}

Attended attend(const Store &store, kv::PolicyAttr policy, kv::ShapeAttr shape,
                int64_t position, ArrayRef<float> q, ArrayRef<float> sinks,
                int64_t from, int64_t to) {
  return Row(store, policy, shape, position, q, sinks, from, to).run();
}

} // namespace kvc::reference
