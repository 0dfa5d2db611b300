//===- KVTileOps.cpp - the tile level: how --------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVFloats.h"
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

/// A buffer of tokens, `each` rows a token, and a tile of whole tokens.
static LogicalResult verifyTokens(Operation *op, MemRefType buffer,
                                  int64_t each, int64_t rows, int64_t columns) {
  if (buffer.getRank() != 3 || buffer.getDimSize(2) != columns)
    return op->emitOpError("meets rows of ")
           << columns << " in a buffer of tokens, not in " << buffer;
  if (!isFloatType(buffer.getElementType()))
    return op->emitOpError("meets rows of f32, f16 or bf16, not of ")
           << buffer.getElementType();
  if (each < 1 || rows % each != 0)
    return op->emitOpError("has ")
           << rows << " rows, which is no multiple of " << each << " a token";
  return success();
}

LogicalResult RowsOp::verify() {
  auto buffer = cast<MemRefType>(getBuffer().getType());
  TileType tile = getTile().getType();
  if (auto each = getEach())
    return verifyTokens(*this, buffer, static_cast<int64_t>(*each),
                        tile.getRows(), tile.getColumns());
  if (buffer.getRank() != 2 || buffer.getDimSize(1) != tile.getColumns())
    return emitOpError("takes rows of ")
           << tile.getColumns() << " from a buffer of " << buffer;
  if (!isFloatType(buffer.getElementType()))
    return emitOpError("takes rows of f32, f16 or bf16, not of ")
           << buffer.getElementType();
  return success();
}

LogicalResult RotateOp::verify() {
  auto position = dyn_cast<PositionAttrInterface>(getPosition());
  if (!position)
    return emitOpError("takes a point of the position axis, not ")
           << getPosition();
  const TileType tile = tileOf(getTile());
  auto angles = cast<MemRefType>(getAngles().getType());
  const bool byToken = angles.getRank() == 3;
  if (angles.getRank() < 2 || angles.getRank() > 3 ||
      angles.getShape().take_back(2) !=
          ArrayRef<int64_t>{2, position.getPairs()})
    return emitOpError("takes angles of 2x")
           << position.getPairs() << ", not " << angles;
  if (byToken && angles.isDynamicDim(0))
    return emitOpError("takes angles of a known number of tokens, not ")
           << angles;
  if (byToken &&
      (angles.getDimSize(0) < 1 || tile.getRows() % angles.getDimSize(0) != 0))
    return emitOpError("has ") << tile.getRows() << " rows for the angles of "
                               << angles.getDimSize(0) << " tokens";
  for (int64_t pair = 0; pair < position.getPairs(); ++pair) {
    auto [first, second] = position.getPairDims(pair);
    if (std::max(first, second) >= tile.getColumns())
      return emitOpError("rotates column ")
             << std::max(first, second) << " of " << tile.getColumns();
  }
  return success();
}

/// An operand of whole numbers, where `operand` is one.
static LogicalResult verifyIntegers(Operation *op, StreamAttr stream,
                                    TileType operand) {
  Type element = operand.getElement();
  if (element && !Integers::of(stream, element, operand.getColumns()))
    return op->emitOpError("has an operand of ")
           << element << ", which codes of " << stream.getEncoding()
           << " are not multiplied with";
  return success();
}

LogicalResult ArrangeOp::verify() {
  if (!getStream().getLayout())
    return emitOpError("needs a stream whose layout is chosen");
  PageLayout layout(getStream());
  if (getOperand().getType().getColumns() != layout.columns)
    return emitOpError("gives ") << layout.columns << " columns, not "
                                 << getOperand().getType().getColumns();
  Type element = getOperand().getType().getElement();
  if (failed(verifyIntegers(*this, getStream(), getOperand().getType())))
    return failure();
  const int64_t sums = layout.channelBlocks() * (element ? Terms::Columns : 1);
  if (getSums() && getSums().getType().getColumns() != sums)
    return emitOpError("gives ")
           << sums << " sums, not " << getSums().getType().getColumns();
  return success();
}

LogicalResult FitsOp::verify() {
  auto layout = layoutOf(*this, getPage());
  if (failed(layout))
    return failure();
  if (layout->stream.getPlane() != Plane::Keys ||
      scalesOf(layout->stream) != "result")
    return emitOpError("asks for keys whose scales go into the result");
  const int64_t terms = layout->channelBlocks() * Terms::Columns;
  if (getTerms().getType().getColumns() != terms)
    return emitOpError("takes ")
           << terms << " terms, not " << getTerms().getType().getColumns();
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
  Type element = getOperand().getType().getElement();
  if (failed(verifyIntegers(*this, layout->stream, getOperand().getType())))
    return failure();
  if (bool(element) != bool(getFits()))
    return emitOpError(
        "tells whether numbers fit just where it makes whole numbers");
  if (element && getCenters())
    return emitOpError("has no centers of whole numbers");
  if (!element)
    return success();
  // A run's weights are a row a head; those of channels' blocks one a block.
  const int64_t blocks =
      layout->stream.getPlane() == Plane::Values && getScales() == "operand"
          ? layout->channelBlocks()
          : 1;
  const int64_t rows = getTile().getType().getRows() * blocks *
                       Integers(layout->stream, element).rows;
  if (getOperand().getType().getRows() != rows)
    return emitOpError("gives ") << rows << " rows of whole numbers, not "
                                 << getOperand().getType().getRows();
  if (getSums().getType().getColumns() != blocks * Terms::Columns)
    return emitOpError("gives ") << blocks * Terms::Columns << " terms, not "
                                 << getSums().getType().getColumns();
  return success();
}

/// Checks what kv.contract and kv.accumulate have in common.
template <typename Op>
static LogicalResult verifyContraction(Op op, Plane plane, int64_t rows) {
  auto layout = layoutOf(op, op.getPage());
  if (failed(layout))
    return failure();
  StreamAttr stream = layout->stream;
  if (stream.getPlane() != plane)
    return op.emitOpError("takes a page of ")
           << (plane == Plane::Keys ? "keys" : "values");
  if (op.getScales() && *op.getScales() != scalesOf(stream))
    return op.emitOpError("has scales in \"")
           << *op.getScales() << "\", the stream's go into \""
           << scalesOf(stream) << "\"";
  if (bool(op.getAhead()) != bool(op.getAheadToken()))
    return op->emitOpError("has a page ahead just where it has a token ahead");
  if (op.getAhead() && op.getAhead().getType() != op.getPage().getType())
    return op->emitOpError("asks ahead for ")
           << op.getAhead().getType() << " and reads "
           << op.getPage().getType();
  TileType operand = op.getOperand().getType();
  if (!operand.getElement())
    return success();
  if (failed(verifyIntegers(op, stream, operand)))
    return failure();
  // Keys' scales in the operand, and values' in the result, leave one term.
  const bool byBlock =
      (plane == Plane::Keys) != (scalesOf(stream) == "operand");
  const int64_t terms =
      (byBlock ? layout->channelBlocks() : 1) * Terms::Columns;
  if (!op.getScales() || !op.getSums() || op.getCenters() ||
      op.getSums().getType().getColumns() != terms ||
      op.getSums().getType().getRows() != rows)
    return op.emitOpError("takes whole numbers with ")
           << rows << "x" << terms << " terms, no centers, and scales";
  return success();
}

LogicalResult ContractOp::verify() {
  return verifyContraction(*this, Plane::Keys,
                           getOperand().getType().getRows());
}

LogicalResult AccumulateOp::verify() {
  if (getNext().getType() != getState().getType())
    return emitOpError("gives ")
           << getNext().getType() << " of " << getState().getType();
  return verifyContraction(*this, Plane::Values,
                           getState().getType().getRows());
}

/// A region that is given a token's number and yields `results` indices.
static LogicalResult verifyRegion(Operation *op, Region &region, int64_t each,
                                  int64_t rows, size_t results) {
  if (each < 1 || rows % each != 0)
    return op->emitOpError("has ")
           << rows << " rows, which is no multiple of " << each << " a token";
  Block &block = region.front();
  auto areIndices = [](TypeRange types, size_t count) {
    return types.size() == count &&
           llvm::all_of(types, [](Type type) { return type.isIndex(); });
  };
  if (!areIndices(block.getArgumentTypes(), 1))
    return op->emitOpError("has a region that is not given one index");
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || !areIndices(yield.getOperandTypes(), results))
    return op->emitOpError("has a region that does not yield ")
           << results << (results == 1 ? " index" : " indices");
  return success();
}

LogicalResult LogitOp::verify() {
  auto point = dyn_cast<ScoreAttrInterface>(getScore());
  if (!point)
    return emitOpError("takes a point of the score axis, not ") << getScore();
  // Where distance is felt, what it is counted from may come with the index.
  Block &block = getIndex().front();
  const bool counts = point.getSteepestFall() > 0 && !block.empty() &&
                      block.back().getNumOperands() == 2;
  return verifyRegion(*this, getIndex(), static_cast<int64_t>(getEach()),
                      getTile().getType().getRows(), counts ? 2 : 1);
}

LogicalResult MaskOp::verify() {
  if (getBorders().empty() != !getEach() || getBorders().empty() != !getWhole())
    return emitOpError("has a region of borders just where it has rows a token "
                       "and what tells whole runs");
  if (getBorders().empty())
    return success();
  return verifyRegion(*this, getBorders(), static_cast<int64_t>(*getEach()),
                      getTile().getType().getRows(), 2);
}

/// A logit a head.
static LogicalResult verifyLogits(Operation *op, Value logits) {
  auto type = cast<MemRefType>(logits.getType());
  if (type.getRank() != 1 || !type.getElementType().isF32())
    return op->emitOpError("starts from a buffer of f32, one a head, not ")
           << type;
  return success();
}

LogicalResult SettleStateOp::verify() {
  auto point = dyn_cast<ScoreAttrInterface>(getScore());
  if (!point || point.getSteepestFall() == 0)
    return emitOpError("takes a point of the score axis that falls with "
                       "distance, not ")
           << getScore();
  if (getLogits() && failed(verifyLogits(*this, getLogits())))
    return failure();
  return verifyRegion(*this, getDistance(), static_cast<int64_t>(getEach()),
                      getState().getType().getRows(), 1);
}

LogicalResult InitStateOp::verify() {
  if (!getLogits())
    return success();
  const int64_t rows = getState().getType().getRows();
  const auto each = static_cast<int64_t>(getEach().value_or(0));
  if (each < 1 || rows % each != 0)
    return emitOpError("has ")
           << rows << " rows, which is no multiple of " << each << " a token";
  return verifyLogits(*this, getLogits());
}

LogicalResult FinishOp::verify() {
  StateType state = getState().getType();
  auto lse = cast<MemRefType>(getLse().getType());
  if (lse.getRank() != 2)
    return emitOpError("writes lse by token and head, not to ") << lse;
  return verifyTokens(*this, cast<MemRefType>(getOut().getType()),
                      static_cast<int64_t>(getEach()), state.getRows(),
                      state.getColumns());
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

/// Row 0 is the least, row 1 the greatest.
static LogicalResult verifyExtremes(Operation *op, TileType tile) {
  if (tile.getRows() != 2)
    return op->emitOpError("has 2 rows of extremes, not ") << tile.getRows();
  return success();
}

/// Extremes of the channels of a page.
static LogicalResult verifyExtremes(Operation *op, TileType tile,
                                    const PageLayout &layout) {
  if (failed(verifyExtremes(op, tile)))
    return failure();
  if (tile.getColumns() != layout.layout.getChannels())
    return op->emitOpError("has extremes of ")
           << tile.getColumns() << " channels, not "
           << layout.layout.getChannels();
  return success();
}

LogicalResult InitExtremesOp::verify() {
  return verifyExtremes(*this, getExtremes().getType());
}

LogicalResult ExtremesOp::verify() {
  auto layout = layoutOf(*this, getPage());
  if (failed(layout))
    return failure();
  if (layout->block)
    return emitOpError("looks at originals, which have no scales, not ")
           << layout->stream.getEncoding();
  return verifyExtremes(*this, getExtremes().getType(), *layout);
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
  const bool remakes = to->stream.getEncoding().remakesCodes();
  if (remakes != bool(getExtremes()))
    return emitOpError(remakes ? "needs the extremes of all tokens, which are "
                                 "one block of scales"
                               : "makes scales of its own tokens, without "
                                 "extremes of others");
  return remakes ? verifyExtremes(*this, getExtremes().getType(), *to)
                 : success();
}

LogicalResult DecodeOp::verify() { return layoutOf(*this, getPage()); }

static LogicalResult verifyBits(Operation *op, StringRef name, Value buffer,
                                int64_t rows, int64_t columns) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getElementType().isInteger(32) &&
      type.getShape() == ArrayRef<int64_t>{rows, columns})
    return success();
  return op->emitOpError("takes ")
         << name << " of " << rows << "x" << columns << "xi32, not " << type;
}

/// Checks what kv.save and kv.restore have in common.
template <typename Op> static LogicalResult verifySnapshot(Op op) {
  auto layout = layoutOf(op, op.getPage());
  if (failed(layout))
    return failure();
  const int64_t heads = layout->layout.getHeads();
  if (failed(verifyBits(op, "elements", op.getElements(), heads,
                        layout->layout.getChannels())))
    return failure();
  if (bool(op.getPairs()) != bool(layout->block))
    return op.emitOpError("takes pairs just where the stream has scales");
  if (!op.getPairs())
    return success();
  return verifyBits(op, "pairs", op.getPairs(), heads,
                    layout->pairChannels() *
                        layout->stream.getEncoding().getPairWords());
}

LogicalResult SaveOp::verify() { return verifySnapshot(*this); }
LogicalResult RestoreOp::verify() { return verifySnapshot(*this); }

} // namespace kvc::kv
