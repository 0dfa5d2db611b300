//===- ChooseLayout.cpp - how long pages are, and how they lie ------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/Passes.h"
#include "compiler/transforms/TileBuilder.h"
#include "dialect/KVLayout.h"

#include <numeric>

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_CHOOSELAYOUT
#include "compiler/transforms/Passes.h.inc"

namespace {

/// Tokens of a page, where nothing asks for another number: long enough to
/// keep headers and page tables small, short enough to free memory soon.
constexpr int64_t PageTokens = 64;

/// Vectors of lanes that are read together, two at the least: as many as have
/// sums of four heads in half of the registers, and no more than a cache line.
/// A layout depends on nothing but what is stored: readers with other heads
/// read the same pages.
static int64_t vectorsTogether(kv::TargetAttr target) {
  constexpr int64_t line = 16, heads = 4;
  return std::max<int64_t>(
      2, std::min(line / target.getLanes(), target.getRegisters() / 2 / heads));
}

struct ChooseLayout : impl::ChooseLayoutBase<ChooseLayout> {
  void runOnOperation() override {
    kv::StepOp step = getOperation();
    auto target = targetOf(step);
    if (!target) {
      step.emitOpError("needs a target: a module attribute kv.target");
      return signalPassFailure();
    }
    lanes = target.getLanes();
    most = vectorsTogether(target);
    unit = unitOf(step);
    SmallVector<Attribute> streams;
    for (kv::StreamAttr stream : step.getStreamList())
      streams.push_back(kv::StreamAttr::get(
          stream.getContext(), stream.getPlaneName(), stream.getKind(),
          stream.getOrigin(), stream.getEncoding(), layoutOf(step, stream)));
    step.setStreamsAttr(ArrayAttr::get(step.getContext(), streams));
  }

  /// Vectors of channels that are read together: as of tokens, as far as that
  /// pads nothing.
  int64_t valueVectors(int64_t block) const {
    int64_t vectors = most;
    while (vectors > 1 &&
           llvm::alignTo(block, lanes * vectors) != llvm::alignTo(block, lanes))
      vectors /= 2;
    return vectors;
  }

  /// Pages have whole vectors and whole words of tokens in every stream.
  int64_t unitOf(kv::StepOp step) const {
    int64_t unit = lanes * most;
    for (kv::StreamAttr stream : step.getStreamList())
      unit =
          std::lcm<int64_t>(unit, 32 / stream.getEncoding().getElementBits());
    return unit;
  }

  kv::LayoutAttr layoutOf(kv::StepOp step, kv::StreamAttr stream) const {
    kv::ShapeAttr shape = step.getShape();
    kv::PolicyAttr policy = step.getPolicy();
    const kv::Plane plane = stream.getPlane();
    const int64_t dim = shape.getDim(plane);
    const bool keys = plane == kv::Plane::Keys;
    const bool sink = stream.getKind() == "sink";
    // Originals lie as the codes do that are made from them.
    auto precision = sink ? stream.getEncoding() : policy.getPlane(plane);
    const int64_t block = kv::channelBlockOf(precision, plane, dim);
    const int64_t tokens = pageTokens(policy, precision, dim, sink);
    return kv::LayoutAttr::get(step.getContext(), shape.getKvHeads(), tokens,
                               dim, block, keys ? "tokens" : "channels", lanes,
                               keys ? most : valueVectors(block),
                               pagesAtOnce(policy, stream, tokens));
  }

  /// Whole blocks of scales, whole vectors, and else about PageTokens.
  int64_t pageTokens(kv::PolicyAttr policy,
                     kv::PrecisionAttrInterface precision, int64_t dim,
                     bool sink) const {
    auto scales = precision.getBlock(dim);
    const bool whole = scales && !scales->spansAllTokens();
    const int64_t least = std::lcm(unit, whole ? scales->tokens : 1);
    const int64_t stored =
        sink ? policy.getTime().getSinks() : policy.getTime().getCapacity();
    const int64_t wanted =
        std::min<int64_t>(PageTokens, llvm::alignTo(stored, least));
    return least * std::max<int64_t>(1, wanted / least);
  }

  /// Tokens that a step or a piece of a prefill needs at once, the new ones
  /// and those that rollback holds included, in pages.
  static int64_t pagesAtOnce(kv::PolicyAttr policy, kv::StreamAttr stream,
                             int64_t tokens) {
    if (stream.getKind() == "sink")
      return llvm::divideCeil(policy.getTime().getSinks(), tokens);
    const int64_t more = PieceTokens + policy.getRollback();
    int64_t most = policy.getTime().getCapacity() + more;
    auto precision = policy.getPlane(stream.getPlane());
    if (stream.getKind() == "original" && precision.keepsOriginals() &&
        !precision.remakesCodes())
      most = std::min(most, precision.mostOriginals() + more);
    return (most - 1) / tokens + 2;
  }

  int64_t lanes = 0;
  int64_t most = 0; ///< vectors that are read together, at the most
  int64_t unit = 0;
};
} // namespace
} // namespace kvc
