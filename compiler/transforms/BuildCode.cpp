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
/// those that are no longer stored never are. Adds to `count`.
static Value codePlane(TileBuilder &tiles, Value view, Value seen,
                       kv::Plane plane, Value count) {
  const int64_t codes = streamOf(tiles, plane, "code");
  if (codes < 0)
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
                                     from, to, head, run.token, run.stop);
          return SmallVector<Value>{tiles.add(carried[0], saturated)};
        });
      })[0];
}

void buildCode(TileBuilder &tiles) {
  auto function = tiles.function(
      "code",
      TypeRange{kv::ViewType::get(tiles.builder.getContext()), tiles.index()},
      tiles.index());
  Value count = tiles.constant(0);
  for (kv::Plane plane : {kv::Plane::Keys, kv::Plane::Values})
    count = codePlane(tiles, function.getArgument(0), function.getArgument(1),
                      plane, count);
  tiles.finish(count);
}

} // namespace kvc
