//===- LowerEncode.cpp - one token's channels into its page ---------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"

using namespace mlir;

namespace kvc {

namespace {

/// One token's channels, which go to as many words or lanes. They are encoded a
/// vector at a time; where codes share a word with others, the others stay.
struct LowerEncode : TilePattern<kv::EncodeOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::EncodeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    Record record(at, adaptor.getPage(), op.getPage().getType(),
                  adaptor.getHead());
    Value offset = record.offsetOf(adaptor.getToken());
    const int64_t channels = record.layout.layout.getChannels();
    // A vector's channels lie in one block.
    const bool inBlocks = record.layout.channelBlocks() == 1 ||
                          record.layout.layout.getBlock() % lanes == 0;
    const int64_t whole = inBlocks ? channels / lanes * lanes : 0;
    Value count = vectors(at, record, adaptor.getTile(), offset, whole);
    count = rest(at, record, adaptor.getTile(), offset, whole, channels, count);
    rewriter.replaceOp(op, count);
    return success();
  }

  /// Channels [0, end), whole vectors. Gives how many saturated.
  Value vectors(Lanes &at, Record &record, Value tile, Value offset,
                int64_t end) const {
    bool saturates = false;
    Value none = kv::splatInt(at.builder, at.loc, 0, at.i32());
    auto counts =
        at.loop(at.index(0), at.index(end), lanes, none,
                [&](Value channel, ValueRange carried) {
                  Value saturated;
                  Value codes = record.layout.stream.getEncoding().buildEncode(
                      at.builder, at.loc, at.load(tile, at.index(0), channel),
                      {}, &saturated);
                  put(at, record, codes, offset, channel);
                  if (!saturated)
                    return SmallVector<Value>(carried);
                  saturates = true;
                  return SmallVector<Value>{arith::AddIOp::create(
                      at.builder, at.loc, carried[0], saturated)};
                });
    if (!saturates)
      return at.index(0);
    Value count = vector::ReductionOp::create(
        at.builder, at.loc, vector::CombiningKind::ADD, counts[0]);
    return arith::IndexCastOp::create(at.builder, at.loc,
                                      at.builder.getIndexType(), count);
  }

  /// Channels lie on the lanes, or each has a word of its own.
  static void put(Lanes &at, Record &record, Value codes, Value offset,
                  Value channel) {
    if (!record.layout.tokensOnLanes()) {
      Value vector = at.divide(record.columnOf(channel), at.lanes);
      record.putCodes(codes, vector, offset,
                      at.between(at.index(0), at.index(at.lanes)));
      return;
    }
    for (int64_t lane = 0; lane < at.lanes; ++lane) {
      Value code = vector::ExtractOp::create(at.builder, at.loc, codes, lane);
      record.putCode(code, record.placeOf(offset, at.add(channel, lane)));
    }
  }

  /// Channels [begin, end), one by one.
  static Value rest(Lanes &at, Record &record, Value tile, Value offset,
                    int64_t begin, int64_t end, Value count) {
    return at.loop(
        at.index(begin), at.index(end), count,
        [&](Value channel, ValueRange carried) {
          Value saturated;
          Value code = record.layout.stream.getEncoding().buildEncode(
              at.builder, at.loc, at.loadScalar(tile, at.index(0), channel), {},
              &saturated);
          record.putCode(code, record.placeOf(offset, channel));
          if (!saturated)
            return SmallVector<Value>(carried);
          Value one = arith::IndexCastOp::create(
              at.builder, at.loc, at.builder.getIndexType(), saturated);
          return SmallVector<Value>{at.add(carried[0], one)};
        })[0];
  }
};

} // namespace

void populateEncodePatterns(const TileTypeConverter &types,
                            RewritePatternSet &patterns) {
  patterns.add<LowerEncode>(types, patterns.getContext());
}

} // namespace kvc
