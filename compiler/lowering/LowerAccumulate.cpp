//===- LowerAccumulate.cpp - weights meet values --------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Channels lie on the lanes; the sums are over tokens.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Contraction.h"
#include "compiler/lowering/Lowering.h"

using namespace mlir;

namespace kvc {

namespace {

struct LowerAccumulate : TilePattern<kv::AccumulateOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::AccumulateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getScales())
      return rewriter.notifyMatchFailure(op, "scales are not folded");
    Lanes at(rewriter, op.getLoc(), form);
    Record record(at, adaptor.getPage(), op.getPage().getType(),
                  adaptor.getHead());
    const int64_t vectors = record.layout.vectors();
    if (adaptor.getAhead()) {
      auto word = [&](Value token) {
        return at.divide(record.offsetOf(token), record.layout.codesPerWord);
      };
      Value words =
          at.subtract(word(adaptor.getAheadToken()), word(adaptor.getToken()));
      record.lookAhead(adaptor.getAhead(),
                       at.multiply(words, record.wordStride()));
    }
    at.loop(at.index(0), at.index(record.layout.vectorCount / vectors), {},
            [&](Value block, ValueRange) {
              at.lockstep(op.getState().getType().getRows(), lockstepOf(op),
                          [&](Value head, int64_t heads) {
                            addBlock(op, adaptor, at, record, block, head,
                                     heads);
                          });
              return SmallVector<Value>{};
            });
    rewriter.replaceOp(op, adaptor.getState());
    return success();
  }

  /// A block of channels, for heads in lockstep.
  void addBlock(kv::AccumulateOp op, OpAdaptor adaptor, Lanes &at,
                Record &record, Value block, Value head, int64_t heads) const {
    const kv::PageLayout &layout = record.layout;
    const int64_t vectors = layout.vectors();
    const int64_t blocksPerChannelBlock =
        layout.blockColumns / (vectors * lanes);
    Value channelBlock = at.divide(block, blocksPerChannelBlock);
    const bool inOperand = *op.getScales() == "operand";
    // With scales in the operand a head has a row for each block of channels.
    int64_t rowsPerHead = inOperand ? layout.channelBlocks() : 1;
    Type element = op.getOperand().getType().getElement();
    if (element)
      rowsPerHead *= kv::Integers(layout.stream, element).rows;
    Value offset = record.offsetOf(adaptor.getToken());
    Value base = at.subtract(offset, adaptor.getLead());
    Value from = at.divide(base, layout.codesPerWord);
    Value words = at.divideUp(adaptor.getCount(), layout.codesPerWord);
    SmallVector<Value> rows;
    for (int64_t h = 0; h < heads; ++h) {
      Value row = at.multiply(at.add(head, h), rowsPerHead);
      rows.push_back(inOperand ? at.add(row, channelBlock) : row);
    }
    SmallVector<Value> channels;
    SmallVector<CenteredPair> pairs;
    for (int64_t vector = 0; vector < vectors; ++vector) {
      Value number = at.add(at.multiply(block, vectors), vector);
      channels.push_back(
          at.add(at.multiply(channelBlock, layout.layout.getBlock()),
                 at.multiply(at.remainder(number, layout.blockColumns / lanes),
                             lanes)));
      if (*op.getScales() == "result")
        pairs.push_back(
            pairOf(at, record, offset, channelBlock, channels.back()));
    }
    SmallVector<Value> sums;
    if (element) {
      const kv::Integers integers(layout.stream, element);
      IntegerContraction contraction{at,
                                     record,
                                     IntegerDots(at, integers, types().dot),
                                     adaptor.getOperand(),
                                     block,
                                     rows,
                                     from};
      sums = integerSums(contraction, adaptor.getSums(), head, channelBlock,
                         pairs, at.add(from, words));
    } else {
      Contraction contraction{at,    record, adaptor.getOperand(),
                              block, rows,   at.index(0)};
      if (adaptor.getCenters()) {
        contraction.centers = adaptor.getCenters();
        contraction.centerRow = channelBlock;
      }
      for (const CenteredPair &pair : pairs)
        contraction.laneCenters.push_back(pair.center);
      sums = contraction.build(from, at.add(from, words));
      addZeros(at, adaptor.getSums(), head,
               inOperand ? channelBlock : at.index(0), pairs, vectors, sums);
    }
    kv::StateType type = op.getState().getType();
    const StateRows places(type, types().convertState(type));
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value row = at.add(head, i / vectors);
      Value factor;
      if (adaptor.getRescale())
        factor =
            at.broadcast(at.loadScalar(adaptor.getRescale(), row, at.index(0)));
      addTo(at, adaptor.getState(), places.accumulator(at, row), layout,
            channelBlock, channels[i % vectors], factor, sum);
    }
  }

  /// sums[h * vectors + vector] with zeros, and scales where there are pairs.
  static void addZeros(Lanes &at, Value totals, Value head, Value block,
                       ArrayRef<CenteredPair> pairs, int64_t vectors,
                       SmallVector<Value> &sums) {
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value total;
      if (totals)
        total = at.broadcast(
            at.loadScalar(totals, at.add(head, i / vectors), block));
      if (!pairs.empty()) {
        sum = at.multiplyF(sum, pairs[i % vectors].scale);
        if (total)
          sum = at.fma(total, pairs[i % vectors].rest, sum);
      } else if (total) {
        sum = at.addF(sum, total);
      }
    }
  }

  /// The sums of whole numbers, with what their terms say. With scales in the
  /// result codes count from their centers, in integers: a group's least value
  /// may have left.
  static SmallVector<Value>
  integerSums(IntegerContraction &contraction, Value terms, Value head,
              Value channelBlock, ArrayRef<CenteredPair> pairs, Value to) {
    Lanes &at = contraction.at;
    const kv::Integers &integers = contraction.dots.integers;
    const int64_t vectors = contraction.record.layout.vectors();
    const Value from = contraction.origin;
    auto term = [&](size_t i, int64_t which) {
      return loadTerm(at, terms, at.add(head, i / vectors),
                      pairs.empty() ? channelBlock : at.index(0), which);
    };
    SmallVector<Value> sums = contraction.build(from, to);
    if (pairs.empty()) {
      for (auto [i, sum] : llvm::enumerate(sums)) {
        sum = arith::SIToFPOp::create(at.builder, at.loc, at.f32(), sum);
        Value step = at.broadcast(term(i, kv::Terms::Step));
        sum = at.fma(sum, step, at.broadcast(term(i, kv::Terms::Sum)));
      }
      return sums;
    }
    // (sum(n code) - center sum(n)) of integers, as f32.
    auto centered = [&](size_t i, Value sum, int64_t count) -> Value {
      Value center = arith::FPToSIOp::create(at.builder, at.loc, at.i32(),
                                             pairs[i % vectors].center);
      Value number = arith::FPToSIOp::create(
          at.builder, at.loc, at.builder.getI32Type(), term(i, count));
      Value away = arith::MulIOp::create(at.builder, at.loc, center,
                                         at.broadcast(number));
      sum = arith::SubIOp::create(at.builder, at.loc, sum, away);
      return arith::SIToFPOp::create(at.builder, at.loc, at.f32(), sum);
    };
    SmallVector<Value> more;
    if (integers.rows == 2) {
      for (Value &row : contraction.rows)
        row = at.add(row, 1);
      more = contraction.build(from, to);
    }
    const double least =
        contraction.record.layout.stream.getEncoding().getLeastScale();
    for (auto [i, sum] : llvm::enumerate(sums)) {
      const CenteredPair &pair = pairs[i % vectors];
      Value step = at.broadcast(term(i, kv::Terms::Step));
      sum = at.multiplyF(centered(i, sum, kv::Terms::Count), step);
      if (!more.empty())
        sum = at.fma(centered(i, more[i], kv::Terms::Low),
                     at.multiplyF(step, at.number(kv::Integers::LowStep)), sum);
      // What weights leave may meet a center in all codes but one, whose weight
      // is next to nothing: two numbers leave so little that nothing is said of
      // it. One number leaves more, which is as if it met the middle code;
      // where the scale is the least there is, codes are not spread around
      // that.
      if (integers.rows == 1) {
        Value isLeast =
            arith::CmpFOp::create(at.builder, at.loc, arith::CmpFPredicate::OLE,
                                  pair.scale, at.number(least));
        Value middle = at.subtractF(
            at.number(0.5 * static_cast<double>(integers.top)), pair.center);
        middle = at.select(isLeast, at.number(0.0), middle);
        sum = at.fma(middle, at.broadcast(term(i, kv::Terms::Rest)), sum);
      }
      sum = at.multiplyF(sum, pair.scale);
      sum = at.fma(at.broadcast(term(i, kv::Terms::Sum)), pair.rest, sum);
    }
    return sums;
  }

  /// The scales that a vector of channels has in this run.
  static CenteredPair pairOf(Lanes &at, Record &record, Value offset,
                             Value channelBlock, Value channel) {
    if (record.layout.block->channels == 1)
      return record.loadCentered(record.pairAddress(offset, channel),
                                 /*vector=*/true);
    CenteredPair one = record.loadCentered(
        record.pairAddress(offset, channelBlock), /*vector=*/false);
    return {at.broadcast(one.scale), at.broadcast(one.center),
            at.broadcast(one.rest)};
  }

  /// acc = acc * factor + sum in those lanes that are channels of this block.
  static void addTo(Lanes &at, Value state, Value row,
                    const kv::PageLayout &layout, Value channelBlock,
                    Value channel, Value factor, Value sum) {
    const int64_t dim = layout.layout.getChannels();
    auto next = [&](Value old) {
      return factor ? at.fma(old, factor, sum) : at.addF(old, sum);
    };
    // One block: lanes beyond it fall into the row's padding.
    assert(layout.channelBlocks() > 1 ||
           layout.vectorCount * at.lanes <=
               cast<MemRefType>(state.getType()).getDimSize(1));
    const bool whole = layout.channelBlocks() == 1 ||
                       (layout.layout.getBlock() % at.lanes == 0 &&
                        layout.blockColumns == layout.layout.getBlock() &&
                        dim % layout.layout.getBlock() == 0);
    if (whole) {
      at.store(next(at.load(state, row, channel)), state, row, channel);
      return;
    }
    Value begin = at.multiply(channelBlock, layout.layout.getBlock());
    Value end =
        at.least(at.add(begin, layout.layout.getBlock()), at.index(dim));
    Value mask = at.between(at.index(0), at.subtract(end, channel));
    Value old = at.loadMasked(state, {row, channel}, mask);
    at.storeMasked(next(old), state, {row, channel}, mask);
  }
};

} // namespace

void populateAccumulatePatterns(const TileTypeConverter &types,
                                RewritePatternSet &patterns) {
  patterns.add<LowerAccumulate>(types, patterns.getContext());
}

} // namespace kvc
