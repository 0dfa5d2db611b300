//===- LowerContract.cpp - queries meet keys ------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens lie on the lanes; the sums are over channels.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Contraction.h"
#include "compiler/lowering/Lowering.h"

using namespace mlir;

namespace kvc {

namespace {

struct LowerContract : TilePattern<kv::ContractOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::ContractOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getScales())
      return rewriter.notifyMatchFailure(op, "scales are not folded");
    Lanes at(rewriter, op.getLoc(), form);
    Record record(at, adaptor.getPage(), op.getPage().getType(),
                  adaptor.getHead());
    const int64_t width = record.wordStride(); // tokens of a block
    Value tile = at.allocate(types().convertTile(op.getResult().getType()));
    Value base =
        at.subtract(record.offsetOf(adaptor.getToken()), adaptor.getLead());
    Value first = at.divide(base, width);
    if (adaptor.getAhead()) {
      Value next = at.divide(record.offsetOf(adaptor.getAheadToken()), width);
      record.lookAhead(
          adaptor.getAhead(),
          at.subtract(record.blockAddress(next), record.blockAddress(first)));
    }
    Value blocks = at.divideUp(adaptor.getCount(), width);
    at.loop(at.index(0), blocks, {}, [&](Value number, ValueRange) {
      Value block = at.add(first, number);
      at.lockstep(
          op.getOperand().getType().getRows(), lockstepOf(op),
          [&](Value head, int64_t heads) {
            auto dots =
                dotProducts(op, adaptor, at, record, block, head, heads);
            for (auto [i, dot] : llvm::enumerate(dots)) {
              const int64_t vector = i % record.layout.vectors();
              Value column = at.add(at.multiply(number, width), vector * lanes);
              at.store(dot, tile, at.add(head, i / record.layout.vectors()),
                       column);
            }
          });
      return SmallVector<Value>{};
    });
    rewriter.replaceOp(op, tile);
    return success();
  }

  /// For heads in lockstep, a block of tokens.
  SmallVector<Value> dotProducts(kv::ContractOp op, OpAdaptor adaptor,
                                 Lanes &at, Record &record, Value block,
                                 Value head, int64_t heads) const {
    SmallVector<Value> rows;
    for (int64_t h = 0; h < heads; ++h)
      rows.push_back(at.add(head, h));
    if (Type element = op.getOperand().getType().getElement())
      return integerProducts(op, adaptor, at, record, block, rows, element);
    Contraction contraction{at,    record, adaptor.getOperand(),
                            block, rows,   at.index(0)};
    if (adaptor.getCenters()) {
      contraction.centers = adaptor.getCenters();
      contraction.centerRow = at.index(0);
    }
    const int64_t vectors = record.layout.vectors();
    if (*op.getScales() != "result") {
      auto sums =
          contraction.buildInStretches(at.index(0), record.layout.words);
      if (adaptor.getSums())
        for (auto [i, sum] : llvm::enumerate(sums)) {
          Value zero = at.loadScalar(adaptor.getSums(),
                                     at.add(head, i / vectors), at.index(0));
          sum = at.addF(sum, at.broadcast(zero));
        }
      return sums;
    }
    // A scale for each token and block of channels: block by block.
    const int64_t words =
        record.layout.blockColumns / record.layout.codesPerWord;
    return overBlocks(
        at, record.layout, heads, [&](Value channelBlock, ValueRange carried) {
          contraction.column =
              at.multiply(channelBlock, record.layout.blockColumns);
          Value from = at.multiply(channelBlock, words);
          Value token = at.multiply(block, record.wordStride());
          SmallVector<CenteredPair> pairs;
          contraction.laneCenters.clear();
          for (int64_t vector = 0; vector < vectors; ++vector) {
            Value address =
                record.pairAddress(at.add(token, vector * lanes), channelBlock);
            pairs.push_back(record.loadCentered(address, /*vector=*/true));
            contraction.laneCenters.push_back(pairs.back().center);
          }
          auto parts = contraction.buildInStretches(from, words);
          SmallVector<Value> sums(carried);
          for (int64_t vector = 0; vector < vectors; ++vector)
            for (int64_t h = 0; h < heads; ++h) {
              Value &sum = sums[h * vectors + vector];
              sum =
                  at.fma(parts[h * vectors + vector], pairs[vector].scale, sum);
              if (!adaptor.getSums())
                continue;
              Value total = at.loadScalar(adaptor.getSums(), at.add(head, h),
                                          channelBlock);
              sum = at.fma(at.broadcast(total), pairs[vector].rest, sum);
            }
          return sums;
        });
  }

  /// Sums over blocks of channels, of which each adds codes and zeros.
  static SmallVector<Value> overBlocks(Lanes &at, const kv::PageLayout &layout,
                                       size_t heads, Lanes::Body body) {
    SmallVector<Value> zeros(heads * layout.vectors(), at.number(0.0));
    return at.inStretches(at.index(0), at.index(layout.channelBlocks()),
                          Lanes::ChainTerms / 2, zeros, zeros.size(),
                          [&](Value begin, Value end, ValueRange start) {
                            return at.loop(begin, end, start, body);
                          });
  }

  /// The same of whole numbers.
  SmallVector<Value> integerProducts(kv::ContractOp op, OpAdaptor adaptor,
                                     Lanes &at, Record &record, Value block,
                                     ArrayRef<Value> rows, Type element) const {
    const kv::PageLayout &layout = record.layout;
    const int64_t vectors = layout.vectors();
    const kv::Integers integers(layout.stream, element);
    IntegerContraction contraction{at,
                                   record,
                                   IntegerDots(at, integers, types().dot),
                                   adaptor.getOperand(),
                                   block,
                                   SmallVector<Value>(rows),
                                   at.index(0)};
    Value terms = adaptor.getSums();
    auto term = [&](Value row, Value channelBlock, int64_t which) {
      return at.broadcast(loadTerm(at, terms, row, channelBlock, which));
    };
    if (*op.getScales() == "operand") {
      auto sums = contraction.numbers(at.index(0), at.index(layout.words),
                                      layout.words);
      for (auto [i, sum] : llvm::enumerate(sums)) {
        Value row = rows[i / vectors];
        Value step = term(row, at.index(0), kv::Terms::Step);
        sum = at.fma(sum, step, term(row, at.index(0), kv::Terms::Sum));
      }
      return sums;
    }
    // A scale for each token and block of channels. Where it is the least there
    // is, codes are few and near 0, not around the middle.
    const int64_t words = layout.blockColumns / layout.codesPerWord;
    const double least = layout.stream.getEncoding().getLeastScale();
    Value middle = at.number(0.5 * static_cast<double>(integers.top));
    return overBlocks(
        at, layout, rows.size(), [&](Value channelBlock, ValueRange carried) {
          Value from = at.multiply(channelBlock, words);
          Value token = at.multiply(block, record.wordStride());
          auto parts = contraction.numbers(from, at.add(from, words), words);
          SmallVector<Value> sums(carried);
          for (int64_t vector = 0; vector < vectors; ++vector) {
            kv::ScaleZero pair = record.loadPair(
                record.pairAddress(at.add(token, vector * lanes), channelBlock),
                /*vector=*/true);
            Value isLeast = arith::CmpFOp::create(at.builder, at.loc,
                                                  arith::CmpFPredicate::OLE,
                                                  pair.scale, at.number(least));
            Value center = at.select(isLeast, at.number(0.0), middle);
            for (auto [h, row] : llvm::enumerate(rows)) {
              Value rest = at.multiplyF(
                  center, term(row, channelBlock, kv::Terms::Rest));
              Value part =
                  at.fma(parts[h * vectors + vector],
                         term(row, channelBlock, kv::Terms::Step), rest);
              Value &sum = sums[h * vectors + vector];
              sum = at.fma(part, pair.scale, sum);
              sum = at.fma(term(row, channelBlock, kv::Terms::Sum), pair.zero,
                           sum);
            }
          }
          return sums;
        });
  }
};

} // namespace

void populateContractPatterns(const TileTypeConverter &types,
                              RewritePatternSet &patterns) {
  patterns.add<LowerContract>(types, patterns.getContext());
}

} // namespace kvc
