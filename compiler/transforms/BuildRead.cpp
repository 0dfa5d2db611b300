//===- BuildRead.cpp - what is stored, as f32 -----------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/TileBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace kvc {

/// @<step>_read_keys and _read_values(view, seen, from, to, row, rows, buffer):
/// tokens [from, to), each from the stream that holds it at length `seen`, to
/// rows `row` on of a buffer [kv heads, rows, dim].
static void buildReadPlane(TileBuilder &tiles, kv::Plane plane) {
  OpBuilder &builder = tiles.builder;
  Type index = tiles.index();
  Type buffer = tiles.bufferType({ShapedType::kDynamic});
  auto function =
      tiles.function(plane == kv::Plane::Keys ? "read_keys" : "read_values",
                     TypeRange{kv::ViewType::get(builder.getContext()), index,
                               index, index, index, index, buffer},
                     {});
  Value view = function.getArgument(0), seen = function.getArgument(1),
        from = function.getArgument(2), to = function.getArgument(3),
        row = function.getArgument(4), rows = function.getArgument(5),
        out = function.getArgument(6);
  for (auto [number, stream] : llvm::enumerate(tiles.streams)) {
    if (stream.getPlane() != plane)
      continue;
    TokenRange held =
        tiles.intersect(tiles.range(stream, seen), TokenRange{from, to});
    tiles.forRuns(
        held, stream.getOrigin(), tiles.borders(stream, 0), {},
        [&](Run run, ValueRange) {
          Value page = tiles.page(view, number, run.token);
          Value first = tiles.add(row, tiles.subtract(run.token, from));
          tiles.forHeads({}, [&](Value head, ValueRange) {
            kv::DecodeOp::create(builder, tiles.loc, page, head, run.token,
                                 run.stop, out, first, rows);
            return SmallVector<Value>{};
          });
          return SmallVector<Value>{};
        });
  }
  tiles.finish();
}

void buildRead(TileBuilder &tiles) {
  buildReadPlane(tiles, kv::Plane::Keys);
  buildReadPlane(tiles, kv::Plane::Values);
}

} // namespace kvc
