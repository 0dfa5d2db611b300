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

/// A length, in tokens beyond the sinks, and the first of them stored then.
struct Length {
  Length(kv::TimeAttrInterface time, int64_t seen)
      : count(std::max<int64_t>(0, seen - time.getSinks())),
        live(std::min(count, std::max<int64_t>(0, time.firstLive(seen) -
                                                      time.getSinks()))) {}
  int64_t count, live;
};

namespace {
/// One plane of one layer.
struct Plane {
  kv::PrecisionAttrInterface precision, original;
  int64_t heads, dim;

  int64_t coded(int64_t count) const {
    return precision.keepsOriginals() ? precision.codedTokens(count) : 0;
  }
  /// The first token whose original is there.
  int64_t firstOriginal(const Length &at) const {
    return precision.remakesCodes() ? at.live
                                    : std::max(at.live, coded(at.count));
  }
  int64_t floats(int64_t tokens, kv::PrecisionAttrInterface type) const {
    return packed(tokens, heads * dim, type);
  }
  int64_t originals(int64_t begin, int64_t end) const {
    return floats(end - begin, original);
  }
  int64_t codes(int64_t begin, int64_t end) const {
    return end > begin ? floats(end - begin, precision) : 0;
  }
  int64_t scales(int64_t begin, int64_t end) const {
    auto block = precision.getBlock(dim);
    if (!block || end <= begin)
      return 0;
    const int64_t blocks =
        block->spansAllTokens()
            ? 1
            : (end - 1) / block->tokens - begin / block->tokens + 1;
    return blocks * static_cast<int64_t>(divideCeil(dim, block->channels)) *
           heads * precision.getPairBytes();
  }
};
} // namespace

/// Adds one plane: what is stored, and what has been since `back`.
static void addPlane(BytePlan &plan, const Plane &plane, const Length &now,
                     const Length &back) {
  const int64_t border = plane.coded(now.count);
  const int64_t first = plane.firstOriginal(now);
  (plane.precision.remakesCodes() ? plan.originals : plan.residual) +=
      plane.originals(first, now.count);
  plan.codes += plane.codes(now.live, border);
  plan.scales += plane.scales(now.live, border);
  const int64_t heldFirst = std::min(first, plane.firstOriginal(back));
  const int64_t heldLive = std::min(now.live, back.live);
  plan.rollback +=
      plane.originals(heldFirst, now.count) -
      plane.originals(first, now.count) + plane.codes(heldLive, border) -
      plane.codes(now.live, border) + plane.scales(heldLive, border) -
      plane.scales(now.live, border);
}

BytePlan planBytes(kv::PolicyAttr policy, kv::ShapeAttr shape, int64_t seen,
                   int64_t reached) {
  BytePlan plan;
  if (!policy.getDepth().stores())
    return plan;
  auto time = policy.getTime();
  const Length now(time, seen);
  const Length back(time, std::max<int64_t>(0, reached - policy.getRollback()));
  for (kv::Plane which : {kv::Plane::Keys, kv::Plane::Values}) {
    auto precision = policy.getPlane(which);
    const Plane plane{precision,
                      precision.keepsOriginals() ? policy.getResidual()
                                                 : precision,
                      shape.getKvHeads(), shape.getDim(which)};
    plan.sinks +=
        plane.floats(std::min(seen, time.getSinks()), policy.getSinks(which));
    addPlane(plan, plane, now, back);
  }
  return plan;
}

} // namespace kvc::reference
