//===- BuildQueries.cpp - functions of the length alone -------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of a sequence's length alone: what each stream holds, which
// indices the query takes, how many bytes that is. The runtime calls them, so
// that it needs to know no policy.
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/TileBuilder.h"

using namespace mlir;

namespace kvc {

static Value stored(TileBuilder &tiles, Value seen) {
  Value sinks =
      tiles.least(seen, tiles.constant(tiles.policy.getTime().getSinks()));
  Value rest = tiles.greatest(tiles.subtract(seen, tiles.firstLive(seen)),
                              tiles.constant(0));
  return tiles.add(sinks, rest);
}

static void buildRanges(TileBuilder &tiles) {
  SmallVector<Type> results(2 * tiles.streams.size(), tiles.index());
  Value seen = tiles.function("ranges", tiles.index(), results).getArgument(0);
  SmallVector<Value> values;
  for (kv::StreamAttr stream : tiles.streams) {
    TokenRange range = tiles.range(stream, seen);
    values.append({range.begin, range.end});
  }
  tiles.finish(values);
}

static void buildHeld(TileBuilder &tiles) {
  SmallVector<Type> results(2 * tiles.streams.size(), tiles.index());
  auto function =
      tiles.function("held", TypeRange{tiles.index(), tiles.index()}, results);
  SmallVector<Value> values;
  for (kv::StreamAttr stream : tiles.streams) {
    TokenRange range = tiles.heldRange(stream, function.getArgument(0),
                                       function.getArgument(1));
    values.append({range.begin, range.end});
  }
  tiles.finish(values);
}

static void buildIndices(TileBuilder &tiles) {
  const unsigned rotations = tiles.policy.getPosition().getRotations();
  SmallVector<Type> results(rotations, tiles.index());
  Value seen = tiles.function("indices", tiles.index(), results).getArgument(0);
  Value position = tiles.subtract(seen, tiles.constant(1));
  Value evicted = tiles.evicted(seen);
  SmallVector<Value> values;
  for (unsigned rotation = 0; rotation < rotations; ++rotation)
    values.push_back(tiles.policy.getPosition().buildQueryIndex(
        tiles.builder, tiles.loc, rotation, position, evicted));
  tiles.finish(values);
}

static void buildLive(TileBuilder &tiles) {
  SmallVector<Type> results(2, tiles.index());
  Value seen = tiles.function("live", tiles.index(), results).getArgument(0);
  Value sinks =
      tiles.least(seen, tiles.constant(tiles.policy.getTime().getSinks()));
  tiles.finish({sinks, tiles.least(seen, tiles.firstLive(seen))});
}

/// Blocks of scales with a token in `range`, times blocks of channels.
static Value pairsIn(TileBuilder &tiles, kv::StreamAttr stream,
                     kv::ScaleBlock block, TokenRange range) {
  const int64_t dim = stream.getLayout().getChannels();
  Value origin = tiles.constant(stream.getOrigin());
  Value blocks = tiles.constant(1);
  if (!block.spansAllTokens()) {
    Value last = tiles.add(tiles.subtract(range.end, origin),
                           tiles.constant(block.tokens - 1));
    blocks = tiles.subtract(
        tiles.divide(last, block.tokens),
        tiles.divide(tiles.subtract(range.begin, origin), block.tokens));
  }
  Value some =
      arith::CmpIOp::create(tiles.builder, tiles.loc, arith::CmpIPredicate::slt,
                            range.begin, range.end);
  blocks = arith::SelectOp::create(tiles.builder, tiles.loc, some, blocks,
                                   tiles.constant(0));
  return tiles.multiply(blocks, llvm::divideCeil(dim, block.channels) *
                                    tiles.shape.getKvHeads());
}

/// Bytes of a stream's tokens in a range: codes or floats, then pairs.
static std::pair<Value, Value>
bytesOf(TileBuilder &tiles, kv::StreamAttr stream, TokenRange range) {
  const int64_t dim = stream.getLayout().getChannels();
  const int64_t bits = stream.getEncoding().getElementBits();
  Value tokens =
      tiles.greatest(tiles.subtract(range.end, range.begin), tiles.constant(0));
  Value bytes = tiles.multiply(tokens, tiles.shape.getKvHeads() * dim * bits);
  bytes = tiles.divide(tiles.add(bytes, tiles.constant(7)), 8);
  Value pairs = tiles.constant(0);
  if (auto block = stream.getEncoding().getBlock(dim))
    pairs = tiles.multiply(pairsIn(tiles, stream, *block, range),
                           stream.getEncoding().getPairBytes());
  return {bytes, pairs};
}

/// What a stream keeps beyond `range`, where the longest length was `reached`.
static Value rollbackOf(TileBuilder &tiles, kv::StreamAttr stream,
                        TokenRange range, Value seen, Value reached) {
  TokenRange held = tiles.heldRange(stream, seen, reached);
  auto [bytes, pairs] = bytesOf(tiles, stream, range);
  auto [heldBytes, heldPairs] = bytesOf(tiles, stream, held);
  return tiles.add(tiles.subtract(heldBytes, bytes),
                   tiles.subtract(heldPairs, pairs));
}

/// stored, then bytes: codes, scales, residual, sinks, originals, rollback.
static void buildPlan(TileBuilder &tiles) {
  SmallVector<Type> results(7, tiles.index());
  auto function =
      tiles.function("plan", TypeRange{tiles.index(), tiles.index()}, results);
  Value seen = function.getArgument(0), reached = function.getArgument(1);
  Value codes = tiles.constant(0), scales = codes, residual = codes,
        sinks = codes, originals = codes, rollback = codes;
  for (kv::StreamAttr stream : tiles.streams) {
    TokenRange range = tiles.range(stream, seen);
    auto [bytes, pairs] = bytesOf(tiles, stream, range);
    scales = tiles.add(scales, pairs);
    if (stream.getKind() == "code")
      codes = tiles.add(codes, bytes);
    else if (stream.getKind() == "sink")
      sinks = tiles.add(sinks, bytes);
    else if (tiles.policy.getPlane(stream.getPlane()).remakesCodes())
      originals = tiles.add(originals, bytes);
    else
      residual = tiles.add(residual, bytes);
    if (stream.getKind() != "sink" && tiles.policy.getRollback() > 0)
      rollback =
          tiles.add(rollback, rollbackOf(tiles, stream, range, seen, reached));
  }
  tiles.finish({stored(tiles, seen), codes, scales, residual, sinks, originals,
                rollback});
}

void buildQueries(TileBuilder &tiles) {
  buildRanges(tiles);
  buildHeld(tiles);
  buildIndices(tiles);
  buildLive(tiles);
  buildPlan(tiles);
}

} // namespace kvc
