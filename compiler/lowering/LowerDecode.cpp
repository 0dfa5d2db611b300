//===- LowerDecode.cpp - tokens of a page as f32 --------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"

using namespace mlir;

namespace kvc {

namespace {

/// For reading back, not for attention: one code after another.
struct LowerDecode : TilePattern<kv::DecodeOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::DecodeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    Record record(at, adaptor.getPage(), op.getPage().getType(),
                  adaptor.getHead());
    const int64_t dim = record.layout.layout.getChannels();
    // Row of (head, token) in [heads, rows, dim].
    Value first = at.add(at.multiply(adaptor.getHead(), adaptor.getRows()),
                         adaptor.getRow());
    at.loop(adaptor.getFrom(), adaptor.getTo(), {},
            [&](Value token, ValueRange) {
              Value row = at.add(first, at.subtract(token, adaptor.getFrom()));
              Value offset = record.offsetOf(token);
              at.loop(at.index(0), at.index(dim), {},
                      [&](Value channel, ValueRange) {
                        Value x = decode(at, record, offset, channel);
                        memref::StoreOp::create(
                            rewriter, op.getLoc(), x, adaptor.getBuffer(),
                            ValueRange{at.add(at.multiply(row, dim), channel)});
                        return SmallVector<Value>{};
                      });
              return SmallVector<Value>{};
            });
    rewriter.eraseOp(op);
    return success();
  }

  static Value decode(Lanes &at, Record &record, Value offset, Value channel) {
    const kv::PageLayout &layout = record.layout;
    Value word = record.loadCode(record.placeOf(offset, channel));
    Value x = layout.stream.getEncoding().buildDecode(at.builder, at.loc, word,
                                                      /*slot=*/0);
    if (!layout.block)
      return x;
    Value pairChannel = at.divide(channel, layout.block->channels);
    kv::ScaleZero pair =
        record.loadPair(record.pairAddress(offset, pairChannel), false);
    return at.addF(at.multiplyF(x, pair.scale), pair.zero);
  }
};

} // namespace

void populateDecodePatterns(const TileTypeConverter &types,
                            RewritePatternSet &patterns) {
  patterns.add<LowerDecode>(types, patterns.getContext());
}

} // namespace kvc
