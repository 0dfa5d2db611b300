//===- BytePlan.cpp - what a layer's cache takes, in bytes ----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/BytePlan.h"

#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace kvc::reference {

/// Bytes of `tokens` tokens of `channels` codes each, packed.
static int64_t packed(int64_t tokens, int64_t channels,
                      kv::PrecisionAttrInterface encoding) {
  return divideCeil(tokens * channels * encoding.getElementBits(), 8);
}

/// Adds one plane; the tokens beyond the sinks that are stored are
/// [live, count), counted from the first that is no sink.
static void addPlane(BytePlan &plan, kv::PolicyAttr policy, kv::ShapeAttr shape,
                     kv::Plane plane, int64_t sinks, int64_t live,
                     int64_t count) {
  auto precision = policy.getPlane(plane);
  const int64_t dim = shape.getDim(plane);
  const int64_t channels = shape.getKvHeads() * dim;
  plan.sinks += packed(sinks, channels, policy.getSinks(plane));
  const int64_t border =
      precision.keepsOriginals() ? precision.codedTokens(count) : 0;
  const int64_t originals = count - std::max(live, border);
  plan.residual +=
      packed(originals, channels,
             precision.keepsOriginals() ? policy.getResidual() : precision);
  if (border <= live)
    return;
  plan.codes += packed(border - live, channels, precision);
  if (auto block = precision.getBlock(dim)) {
    const int64_t blocks =
        (border - 1) / block->tokens - live / block->tokens + 1;
    plan.scales += blocks * divideCeil(dim, block->channels) *
                   shape.getKvHeads() * precision.getPairBytes();
  }
}

BytePlan planBytes(kv::PolicyAttr policy, kv::ShapeAttr shape, int64_t seen) {
  BytePlan plan;
  if (!policy.getDepth().stores())
    return plan;
  auto time = policy.getTime();
  const int64_t sinks = time.getSinks();
  const int64_t count = std::max<int64_t>(0, seen - sinks);
  const int64_t live =
      std::min(count, std::max<int64_t>(0, time.firstLive(seen) - sinks));
  for (kv::Plane plane : {kv::Plane::Keys, kv::Plane::Values})
    addPlane(plan, policy, shape, plane, std::min(seen, sinks), live, count);
  return plan;
}

} // namespace kvc::reference
