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

/// One token's channels go to as many words or lanes: one by one. Where codes
/// share a word with others, the others stay.
struct LowerEncode : TilePattern<kv::EncodeOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::EncodeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    Record record(at, adaptor.getPage(), op.getPage().getType(),
                  adaptor.getHead());
    const kv::PageLayout &layout = record.layout;
    Value offset = record.offsetOf(adaptor.getToken());
    auto counts = at.loop(
        at.index(0), at.index(layout.layout.getChannels()), at.index(0),
        [&](Value channel, ValueRange carried) {
          Value x = at.loadScalar(adaptor.getTile(), at.index(0), channel);
          Value saturated;
          Value code = layout.stream.getEncoding().buildEncode(
              rewriter, op.getLoc(), x, {}, &saturated);
          CodePlace place = record.placeOf(offset, channel);
          record.putCode(code, place);
          if (!saturated)
            return SmallVector<Value>(carried);
          Value one = arith::IndexCastOp::create(
              rewriter, op.getLoc(), rewriter.getIndexType(), saturated);
          return SmallVector<Value>{at.add(carried[0], one)};
        });
    rewriter.replaceOp(op, counts[0]);
    return success();
  }
};

} // namespace

void populateEncodePatterns(const TileTypeConverter &types,
                            RewritePatternSet &patterns) {
  patterns.add<LowerEncode>(types, patterns.getContext());
}

} // namespace kvc
