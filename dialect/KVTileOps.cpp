//===- KVTileOps.cpp - the tile level: how --------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVLayout.h"
#include "dialect/KVOps.h"

using namespace mlir;

namespace kvc::kv {

/// The page's layout; an error where it has none yet.
static FailureOr<PageLayout> layoutOf(Operation *op, Value page) {
  StreamAttr stream = cast<PageType>(page.getType()).getStream();
  if (!stream.getLayout())
    return op->emitOpError("needs a stream whose layout is chosen");
  return PageLayout(stream);
}

static TileType tileOf(Value value) { return cast<TileType>(value.getType()); }

LogicalResult PageOp::verify() {
  const auto stream = static_cast<int64_t>(getStream());
  if (stream < 0 || stream >= maxStreams)
    return emitOpError("takes a stream's number, 0 to ")
           << maxStreams - 1 << ", not " << stream;
  return layoutOf(*this, getPage());
}

LogicalResult RowsOp::verify() {
  auto buffer = cast<MemRefType>(getBuffer().getType());
  TileType tile = getTile().getType();
  if (buffer.getRank() != 2 || buffer.getDimSize(1) != tile.getColumns())
    return emitOpError("takes rows of ")
           << tile.getColumns() << " from a buffer of " << buffer;
  return success();
}

LogicalResult RotateOp::verify() {
  auto position = dyn_cast<PositionAttrInterface>(getPosition());
  if (!position)
    return emitOpError("takes a point of the position axis, not ")
           << getPosition();
  auto angles = cast<MemRefType>(getAngles().getType());
  if (angles.getShape() != ArrayRef<int64_t>{2, position.getPairs()})
    return emitOpError("takes angles of 2x")
           << position.getPairs() << ", not " << angles;
  for (int64_t pair = 0; pair < position.getPairs(); ++pair) {
    auto [first, second] = position.getPairDims(pair);
    if (std::max(first, second) >= tileOf(getTile()).getColumns())
      return emitOpError("rotates column ") << std::max(first, second) << " of "
                                            << tileOf(getTile()).getColumns();
  }
  return success();
}

LogicalResult ArrangeOp::verify() {
  if (!getStream().getLayout())
    return emitOpError("needs a stream whose layout is chosen");
  PageLayout layout(getStream());
  if (getOperand().getType().getColumns() != layout.columns)
    return emitOpError("gives ") << layout.columns << " columns, not "
                                 << getOperand().getType().getColumns();
  if (getSums() && getSums().getType().getColumns() != layout.channelBlocks())
    return emitOpError("gives ") << layout.channelBlocks() << " sums, not "
                                 << getSums().getType().getColumns();
  return success();
}

LogicalResult FoldOp::verify() {
  auto layout = layoutOf(*this, getPage());
  if (failed(layout))
    return failure();
  if (getScales() == "none" || getScales() != scalesOf(layout->stream))
    return emitOpError("folds scales into \"")
           << getScales() << "\", the stream's go into \""
           << scalesOf(layout->stream) << "\"";
  return success();
}

/// Checks what kv.contract and kv.accumulate have in common.
static LogicalResult verifyContraction(Operation *op, Value page,
                                       std::optional<StringRef> scales,
                                       Plane plane) {
  auto layout = layoutOf(op, page);
  if (failed(layout))
    return failure();
  if (layout->stream.getPlane() != plane)
    return op->emitOpError("takes a page of ")
           << (plane == Plane::Keys ? "keys" : "values");
  if (scales && *scales != scalesOf(layout->stream))
    return op->emitOpError("has scales in \"")
           << *scales << "\", the stream's go into \""
           << scalesOf(layout->stream) << "\"";
  return success();
}

LogicalResult ContractOp::verify() {
  return verifyContraction(*this, getPage(), getScales(), Plane::Keys);
}

LogicalResult AccumulateOp::verify() {
  if (getNext().getType() != getState().getType())
    return emitOpError("gives ")
           << getNext().getType() << " of " << getState().getType();
  return verifyContraction(*this, getPage(), getScales(), Plane::Values);
}

LogicalResult LogitOp::verify() {
  if (!isa<ScoreAttrInterface>(getScore()))
    return emitOpError("takes a point of the score axis, not ") << getScore();
  return success();
}

LogicalResult FinishOp::verify() {
  auto out = cast<MemRefType>(getOut().getType());
  StateType state = getState().getType();
  if (out.getRank() != 2 || out.getDimSize(1) != state.getColumns())
    return emitOpError("writes rows of ")
           << state.getColumns() << " to a buffer of " << out;
  return success();
}

LogicalResult EncodeOp::verify() {
  auto layout = layoutOf(*this, getPage());
  if (failed(layout))
    return failure();
  if (layout->block)
    return emitOpError("writes to an encoding that has scales, which "
                       "kv.quantize makes");
  if (getTile().getType().getRows() != 1 ||
      getTile().getType().getColumns() != layout->layout.getChannels())
    return emitOpError("writes one row of ")
           << layout->layout.getChannels() << " channels, not "
           << getTile().getType();
  return success();
}

LogicalResult QuantizeOp::verify() {
  auto from = layoutOf(*this, getOriginals());
  auto to = layoutOf(*this, getCodes());
  if (failed(from) || failed(to))
    return failure();
  if (from->block)
    return emitOpError("takes originals, which have no scales, not ")
           << from->stream.getEncoding();
  LayoutAttr a = from->layout, b = to->layout;
  if (a.getTokens() != b.getTokens() || a.getChannels() != b.getChannels() ||
      a.getBlock() != b.getBlock() || a.getLanesOn() != b.getLanesOn() ||
      a.getLanes() != b.getLanes() || a.getHeads() != b.getHeads())
    return emitOpError("needs originals and codes of the same tokens, channels "
                       "and lanes a page");
  return success();
}

LogicalResult DecodeOp::verify() { return layoutOf(*this, getPage()); }

} // namespace kvc::kv
