//===- LowerSnapshot.cpp - tokens as bits, and back -----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "compiler/lowering/Record.h"

using namespace mlir;

namespace kvc {

namespace {

/// Calls `body` with each word of the pairs that the token has, by its address
/// and its column.
void forPairWords(Lanes &at, Record &record, Value offset,
                  llvm::function_ref<void(Value, Value)> body) {
  const kv::PageLayout &layout = record.layout;
  const int64_t words = layout.stream.getEncoding().getPairWords();
  at.loop(at.index(0), at.index(layout.pairChannels()), {},
          [&](Value pair, ValueRange) {
            Value address = record.pairAddress(offset, pair);
            for (int64_t word = 0; word < words; ++word)
              body(at.add(address, word * layout.pairPlane),
                   at.add(at.multiply(pair, words), word));
            return SmallVector<Value>{};
          });
}

struct LowerSave : TilePattern<kv::SaveOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::SaveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    Record record(at, adaptor.getPage(), op.getPage().getType(),
                  adaptor.getHead());
    const kv::PageLayout &layout = record.layout;
    const int64_t ones = (int64_t(1) << (32 / layout.codesPerWord)) - 1;
    Value offset = record.offsetOf(adaptor.getToken());
    at.loop(at.index(0), at.index(layout.layout.getChannels()), {},
            [&](Value channel, ValueRange) {
              CodePlace place = record.placeOf(offset, channel);
              Value word = record.loadCode(place);
              if (place.shift) {
                Value mask =
                    kv::splatInt(rewriter, op.getLoc(), ones, word.getType());
                word = arith::AndIOp::create(rewriter, op.getLoc(), word, mask);
              }
              at.storeScalar(word, adaptor.getElements(),
                             ValueRange{adaptor.getHead(), channel});
              return SmallVector<Value>{};
            });
    if (Value pairs = adaptor.getPairs())
      forPairWords(at, record, offset, [&](Value address, Value column) {
        at.storeScalar(record.loadWord(address), pairs,
                       ValueRange{adaptor.getHead(), column});
      });
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerRestore : TilePattern<kv::RestoreOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::RestoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    Record record(at, adaptor.getPage(), op.getPage().getType(),
                  adaptor.getHead());
    const kv::PageLayout &layout = record.layout;
    Value offset = record.offsetOf(adaptor.getToken());
    at.loop(at.index(0), at.index(layout.layout.getChannels()), {},
            [&](Value channel, ValueRange) {
              Value word =
                  at.loadScalar(adaptor.getElements(),
                                ValueRange{adaptor.getHead(), channel});
              record.putCode(word, record.placeOf(offset, channel));
              return SmallVector<Value>{};
            });
    if (Value pairs = adaptor.getPairs())
      forPairWords(at, record, offset, [&](Value address, Value column) {
        record.storeWord(
            at.loadScalar(pairs, ValueRange{adaptor.getHead(), column}),
            address);
      });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateSnapshotPatterns(const TileTypeConverter &types,
                              RewritePatternSet &patterns) {
  patterns.add<LowerSave, LowerRestore>(types, patterns.getContext());
}

} // namespace kvc
