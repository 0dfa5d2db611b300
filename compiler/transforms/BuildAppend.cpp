//===- BuildAppend.cpp - a token enters its streams -----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/TileBuilder.h"

using namespace mlir;

namespace kvc {

namespace {
/// The arguments of the function that is being written.
struct Append {
  Value view, token, keys, values;
  Value angles; ///< null where nothing is rotated
};
} // namespace

/// Writes one plane's rows of the token to stream `number`; adds to `count`.
static Value writePlane(TileBuilder &tiles, const Append &args, int64_t number,
                        Value count) {
  OpBuilder &builder = tiles.builder;
  const kv::Plane plane = tiles.streams[number].getPlane();
  Value page = tiles.page(args.view, number, args.token);
  auto tileType =
      kv::TileType::get(builder.getContext(), 1, tiles.shape.getDim(plane));
  return tiles.forHeads(count, [&](Value head, ValueRange carried) {
    const bool isKey = plane == kv::Plane::Keys;
    Value tile = kv::RowsOp::create(builder, tiles.loc, tileType,
                                    isKey ? args.keys : args.values, head,
                                    Value(), IntegerAttr());
    if (isKey && args.angles)
      tile = kv::RotateOp::create(builder, tiles.loc, tileType, tile,
                                  args.angles, tiles.policy.getPosition(),
                                  /*exact=*/false);
    Value saturated = kv::EncodeOp::create(builder, tiles.loc, tiles.index(),
                                           tile, page, head, args.token);
    return SmallVector<Value>{tiles.add(carried[0], saturated)};
  })[0];
}

/// Writes the token to all streams of a kind.
static Value writeKind(TileBuilder &tiles, const Append &args, StringRef kind) {
  Value count = tiles.constant(0);
  for (auto [number, stream] : llvm::enumerate(tiles.streams))
    if (stream.getKind() == kind)
      count = writePlane(tiles, args, static_cast<int64_t>(number), count);
  return count;
}

/// A token is a sink or begins as an original; codes are made of originals.
void buildAppend(TileBuilder &tiles) {
  OpBuilder &builder = tiles.builder;
  SmallVector<Type> inputs{
      kv::ViewType::get(builder.getContext()), tiles.index(),
      tiles.ioType({tiles.shape.getKvHeads(), tiles.shape.getHeadDim()}),
      tiles.ioType({tiles.shape.getKvHeads(), tiles.shape.getValueDim()})};
  const bool rotates = tiles.policy.getPosition().getRotations() > 0;
  if (rotates)
    inputs.push_back(tiles.anglesType());
  auto function = tiles.function("append", inputs, tiles.index());
  Append args{function.getArgument(0), function.getArgument(1),
              function.getArgument(2), function.getArgument(3),
              rotates ? Value(function.getArgument(4)) : Value()};

  const int64_t sinks = tiles.policy.getTime().getSinks();
  if (sinks == 0) {
    tiles.finish(writeKind(tiles, args, "original"));
    return;
  }
  Value isSink =
      arith::CmpIOp::create(builder, tiles.loc, arith::CmpIPredicate::slt,
                            args.token, tiles.constant(sinks));
  auto branch = scf::IfOp::create(builder, tiles.loc, tiles.index(), isSink,
                                  /*withElseRegion=*/true);
  for (auto [block, kind] :
       {std::pair<Block *, StringRef>{branch.thenBlock(), "sink"},
        {branch.elseBlock(), "original"}}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(block);
    Value count = writeKind(tiles, args, kind);
    scf::YieldOp::create(builder, tiles.loc, count);
  }
  tiles.finish(branch.getResult(0));
}

} // namespace kvc
