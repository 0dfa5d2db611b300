//===- BuildCode.cpp - originals that are due become codes ----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/TileBuilder.h"

using namespace mlir;

namespace kvc {

/// The number of a plane's stream of a kind; -1: it has none.
static int64_t streamOf(TileBuilder &tiles, kv::Plane plane, StringRef kind) {
  for (auto [number, stream] : llvm::enumerate(tiles.streams))
    if (stream.getPlane() == plane && stream.getKind() == kind)
      return static_cast<int64_t>(number);
  return -1;
}

/// Codes the tokens of a plane that are codes at `seen` and were not before;
/// those that are no longer stored never are. Adds to `count`. Codes that are
/// made anew at each length are `recode`'s.
static Value codePlane(TileBuilder &tiles, Value view, Value seen,
                       kv::Plane plane, Value count) {
  const int64_t codes = streamOf(tiles, plane, "code");
  if (codes < 0 || tiles.policy.getPlane(plane).remakesCodes())
    return count;
  const int64_t originals = streamOf(tiles, plane, "original");
  const kv::StreamAttr stream = tiles.streams[codes];
  Value origin = tiles.constant(stream.getOrigin());
  Value before = tiles.subtract(seen, tiles.constant(1));
  TokenRange due{
      tiles.greatest(tiles.firstLive(seen),
                     tiles.add(origin, tiles.codedTokens(plane, before))),
      tiles.add(origin, tiles.codedTokens(plane, seen))};
  return tiles.forRuns(
      due, stream.getOrigin(), tiles.borders(stream, 0), count,
      [&](Run run, ValueRange carried) {
        Value from = tiles.page(view, originals, run.token);
        Value to = tiles.page(view, codes, run.token);
        return tiles.forHeads(carried, [&](Value head, ValueRange carried) {
          Value saturated =
              kv::QuantizeOp::create(tiles.builder, tiles.loc, tiles.index(),
                                     from, to, head, run.token, run.stop,
                                     /*extremes=*/Value());
          return SmallVector<Value>{tiles.add(carried[0], saturated)};
        });
      })[0];
}

/// Codes all tokens of a plane that are stored at `seen`, with the scales that
/// follow from them. Adds to `count`.
static Value recodePlane(TileBuilder &tiles, Value view, Value seen,
                         kv::Plane plane, Value count) {
  if (!tiles.policy.getPlane(plane).remakesCodes())
    return count;
  OpBuilder &builder = tiles.builder;
  Location loc = tiles.loc;
  const int64_t codes = streamOf(tiles, plane, "code");
  const int64_t originals = streamOf(tiles, plane, "original");
  const kv::StreamAttr stream = tiles.streams[codes];
  const TokenRange stored = tiles.range(stream, seen);
  const auto borders = tiles.borders(stream, 0);
  auto type =
      kv::TileType::get(builder.getContext(), 2, tiles.shape.getDim(plane));
  return tiles.forHeads(count, [&](Value head, ValueRange carried) {
    Value extremes = kv::InitExtremesOp::create(builder, loc, type);
    extremes = tiles.forRuns(
        stored, stream.getOrigin(), borders, extremes,
        [&](Run run, ValueRange carried) {
          Value from = tiles.page(view, originals, run.token);
          Value next = kv::ExtremesOp::create(builder, loc, type, carried[0],
                                              from, head, run.token, run.stop);
          return SmallVector<Value>{next};
        })[0];
    // Each page is given the same pairs: what saturates counts once.
    Value saturated =
        tiles.forRuns(stored, stream.getOrigin(), borders, tiles.constant(0),
                      [&](Run run, ValueRange) {
                        Value from = tiles.page(view, originals, run.token);
                        Value to = tiles.page(view, codes, run.token);
                        Value count = kv::QuantizeOp::create(
                            builder, loc, tiles.index(), from, to, head,
                            run.token, run.stop, extremes);
                        return SmallVector<Value>{count};
                      })[0];
    return SmallVector<Value>{tiles.add(carried[0], saturated)};
  })[0];
}

/// Writes a function of the view and a length: what `plane` does for each
/// plane, and how many scales and zeros saturated.
static void
buildPlanes(TileBuilder &tiles, StringRef name,
            llvm::function_ref<Value(Value, Value, kv::Plane, Value)> plane) {
  auto function = tiles.function(
      name,
      TypeRange{kv::ViewType::get(tiles.builder.getContext()), tiles.index()},
      tiles.index());
  Value count = tiles.constant(0);
  for (kv::Plane which : {kv::Plane::Keys, kv::Plane::Values})
    count =
        plane(function.getArgument(0), function.getArgument(1), which, count);
  tiles.finish(count);
}

void buildCode(TileBuilder &tiles) {
  auto code = [&](Value view, Value seen, kv::Plane plane, Value count) {
    return codePlane(tiles, view, seen, plane, count);
  };
  buildPlanes(tiles, "code", code);
  if (!tiles.policy.getKeys().remakesCodes() &&
      !tiles.policy.getValues().remakesCodes())
    return;
  auto recode = [&](Value view, Value seen, kv::Plane plane, Value count) {
    return recodePlane(tiles, view, seen, plane, count);
  };
  buildPlanes(tiles, "recode", recode);
}

} // namespace kvc
