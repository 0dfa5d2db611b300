//===- AssignStreams.cpp - which streams and segments a step has ----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/Passes.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_ASSIGNSTREAMS
#include "compiler/transforms/Passes.h.inc"

namespace {
struct AssignStreams : impl::AssignStreamsBase<AssignStreams> {
  void runOnOperation() override {
    kv::StepOp step = getOperation();
    SmallVector<Attribute> streams = streamsOf(step.getPolicy());
    OpBuilder builder(step);
    step.setStreamsAttr(builder.getArrayAttr(streams));
    step.setSegmentsAttr(
        builder.getArrayAttr(segmentsOf(step.getPolicy(), streams)));
  }

  static SmallVector<Attribute> streamsOf(kv::PolicyAttr policy) {
    SmallVector<Attribute> streams;
    const int64_t sinks = policy.getTime().getSinks();
    for (kv::Plane plane : {kv::Plane::Keys, kv::Plane::Values}) {
      auto add = [&](StringRef kind, int64_t origin,
                     kv::PrecisionAttrInterface encoding) {
        streams.push_back(kv::StreamAttr::get(
            policy.getContext(), plane == kv::Plane::Keys ? "keys" : "values",
            kind, origin, encoding, kv::LayoutAttr()));
      };
      kv::PrecisionAttrInterface precision = policy.getPlane(plane);
      if (sinks > 0)
        add("sink", 0, policy.getSinks(plane));
      add("original", sinks,
          precision.keepsOriginals() ? policy.getResidual() : precision);
      if (precision.keepsOriginals())
        add("code", sinks, precision);
    }
    return streams;
  }

  /// Whether a stream is there for codes to be made of, and none attends to it.
  static bool isSource(kv::PolicyAttr policy, kv::StreamAttr stream) {
    return stream.getKind() == "original" &&
           policy.getPlane(stream.getPlane()).remakesCodes();
  }

  /// Sinks meet sinks, all else meets all else: oldest tokens first.
  static SmallVector<Attribute> segmentsOf(kv::PolicyAttr policy,
                                           ArrayRef<Attribute> streams) {
    auto segments = [&](StringRef kindOfKeys, StringRef kindOfValues) {
      SmallVector<Attribute> found;
      for (auto [k, keys] : llvm::enumerate(streams))
        for (auto [v, values] : llvm::enumerate(streams)) {
          auto a = cast<kv::StreamAttr>(keys), b = cast<kv::StreamAttr>(values);
          if (a.getPlane() != kv::Plane::Keys ||
              b.getPlane() != kv::Plane::Values || a.getKind() != kindOfKeys ||
              b.getKind() != kindOfValues || isSource(policy, a) ||
              isSource(policy, b))
            continue;
          found.push_back(kv::SegmentAttr::get(
              policy.getContext(), k, v,
              policy.getPosition().rotationFor(kindOfKeys == "sink")));
        }
      return found;
    };
    SmallVector<Attribute> all;
    for (auto [keys, values] : {std::pair<StringRef, StringRef>{"sink", "sink"},
                                {"code", "code"},
                                {"code", "original"},
                                {"original", "code"},
                                {"original", "original"}})
      llvm::append_range(all, segments(keys, values));
    return all;
  }
};
} // namespace
} // namespace kvc
