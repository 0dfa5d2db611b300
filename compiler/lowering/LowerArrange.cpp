//===- LowerArrange.cpp - a query made ready for codes -----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/IntegerDots.h"
#include "compiler/lowering/Lowering.h"
#include "compiler/lowering/Record.h"

using namespace mlir;

namespace kvc {

/// Runs `body` on every channel, with its column in storage order.
static void forChannels(Lanes &at, const kv::PageLayout &layout,
                        llvm::function_ref<void(Value, Value)> body) {
  const int64_t block = layout.layout.getBlock();
  at.loop(at.index(0), at.index(layout.layout.getChannels()), {},
          [&](Value channel, ValueRange) {
            Value number = at.divide(channel, block);
            Value start = at.multiply(number, layout.blockColumns);
            Value column = at.add(start, at.remainder(channel, block));
            body(channel, column);
            return SmallVector<Value>{};
          });
}

/// Zeros in all of a tile, padding included.
static void clear(Lanes &at, Value tile) {
  auto type = cast<MemRefType>(tile.getType());
  at.loop(at.index(0), at.index(type.getDimSize(0)), {},
          [&](Value row, ValueRange) {
            at.loop(at.index(0), at.index(type.getDimSize(1)), at.lanes, {},
                    [&](Value column, ValueRange) {
                      at.store(at.number(0.0), tile, row, column);
                      return SmallVector<Value>{};
                    });
            return SmallVector<Value>{};
          });
}

namespace {

struct LowerArrange : TilePattern<kv::ArrangeOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::ArrangeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    kv::PageLayout layout(op.getStream());
    const bool integers = bool(op.getOperand().getType().getElement());
    if (!op.getSums() && layout.columns == layout.layout.getChannels()) {
      rewriter.replaceOp(op, {adaptor.getTile(), Value()});
      return success();
    }
    const int64_t rows = op.getTile().getType().getRows();
    Value operand = at.allocate(types().convertTile(kv::TileType::get(
        op.getContext(), rows, op.getOperand().getType().getColumns())));
    Value sums;
    if (op.getSums())
      sums = at.allocate(types().convertTile(op.getSums().getType()));
    clear(at, operand);
    at.loop(at.index(0), at.index(rows), {}, [&](Value row, ValueRange) {
      forChannels(at, layout, [&](Value channel, Value column) {
        Value x = at.loadScalar(adaptor.getTile(), row, channel);
        at.storeScalar(x, operand, row, column);
      });
      if (sums)
        sumBlocks(at, layout, operand, row, sums, integers);
      return SmallVector<Value>{};
    });
    if (integers)
      operand = roundBlocks(op, at, layout, operand, sums);
    SmallVector<Value> results{operand};
    if (sums)
      results.push_back(sums);
    rewriter.replaceOp(op, results);
    return success();
  }

  /// What a row holds of each block of channels; its padding is zero.
  static void sumBlocks(Lanes &at, const kv::PageLayout &layout, Value operand,
                        Value row, Value sums, bool integers) {
    at.loop(at.index(0), at.index(layout.channelBlocks()), {},
            [&](Value block, ValueRange) {
              Value begin = at.multiply(block, layout.blockColumns);
              Value none = arith::ConstantOp::create(
                  at.builder, at.loc, at.builder.getF32FloatAttr(0));
              auto add = [&](Value column, ValueRange carried) {
                Value x = at.loadScalar(operand, row, at.add(begin, column));
                return SmallVector<Value>{at.addF(carried[0], x)};
              };
              auto sum = at.inStretches(
                  at.index(0), at.index(layout.blockColumns), Lanes::ChainTerms,
                  none, 1, [&](Value from, Value to, ValueRange start) {
                    return at.loop(from, to, start, add);
                  });
              at.storeScalar(sum[0], sums, row,
                             integers ? termsOf(at, block) : block);
              return SmallVector<Value>{};
            });
  }

  /// Each block of channels in steps of its own: its scale is its own.
  Value roundBlocks(kv::ArrangeOp op, Lanes &lanesOf,
                    const kv::PageLayout &layout, Value operand,
                    Value sums) const {
    kv::TileType type = op.getOperand().getType();
    const kv::Integers integers(op.getStream(), type.getElement());
    Value numbers = lanesOf.allocate(types().convertTile(type));
    // Blocks are whole words, and maybe half vectors.
    int64_t width = lanesOf.lanes;
    while (layout.blockColumns % std::max(width, integers.codes) != 0)
      width /= 2;
    auto narrow = createVectorLanes(width, /*byLane=*/false);
    Lanes at(lanesOf.builder, lanesOf.loc, *narrow);
    Rounding rounding(at, integers, operand, numbers, sums);
    at.loop(
        at.index(0), at.index(type.getRows()), {}, [&](Value row, ValueRange) {
          at.loop(at.index(0), at.index(layout.channelBlocks()), {},
                  [&](Value block, ValueRange) {
                    Value begin = at.multiply(block, layout.blockColumns);
                    rounding.round({{row, row, row, termsOf(at, block)}}, begin,
                                   at.add(begin, layout.blockColumns),
                                   /*inSum=*/false);
                    return SmallVector<Value>{};
                  });
          return SmallVector<Value>{};
        });
    return numbers;
  }
};

/// The largest step of the rows, for each block of channels, times a token's
/// scales: the largest sum of these is what some token may lose.
struct LowerFits : TilePattern<kv::FitsOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::FitsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    Record record(at, adaptor.getPage(), op.getPage().getType(),
                  adaptor.getHead());
    const kv::PageLayout &layout = record.layout;
    Value steps =
        largestSteps(at, adaptor.getTerms(), op.getTerms().getType().getRows(),
                     layout.channelBlocks());
    Value base =
        at.subtract(record.offsetOf(adaptor.getToken()), adaptor.getLead());
    auto most = at.loop(
        at.index(0), adaptor.getCount(), at.lanes, {at.number(0.0)},
        [&](Value column, ValueRange carried) {
          auto sum = at.loop(
              at.index(0), at.index(layout.channelBlocks()), {at.number(0.0)},
              [&](Value block, ValueRange carried) {
                Value address = record.pairAddress(at.add(base, column), block);
                Value scale = record.loadPair(address, /*vector=*/true).scale;
                Value step =
                    at.broadcast(at.loadScalar(steps, at.index(0), block));
                return SmallVector<Value>{at.fma(step, scale, carried[0])};
              });
          // Other lanes' tokens are not the run's, or none.
          Value inside = at.between(at.subtract(adaptor.getLead(), column),
                                    at.subtract(adaptor.getCount(), column));
          Value lost = at.select(inside, sum[0], at.number(0.0));
          return SmallVector<Value>{at.greatestF(carried[0], lost)};
        });
    const kv::Integers integers(layout.stream, rewriter.getI16Type());
    const double limit =
        kv::Integers::MostLost / integers.lostBySteps(layout.layout.getBlock());
    Value bound = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        rewriter.getF32FloatAttr(static_cast<float>(limit)));
    rewriter.replaceOpWithNewOp<arith::CmpFOp>(op, arith::CmpFPredicate::OLE,
                                               at.greatestOf(most[0]), bound);
    return success();
  }

  Value largestSteps(Lanes &at, Value terms, int64_t rows,
                     int64_t blocks) const {
    Value steps = at.allocate(types().convertTile(
        kv::TileType::get(at.builder.getContext(), 1, blocks)));
    at.loop(at.index(0), at.index(blocks), {}, [&](Value block, ValueRange) {
      Value column = at.add(termsOf(at, block), kv::Terms::Step);
      Value none = arith::ConstantOp::create(at.builder, at.loc,
                                             at.builder.getF32FloatAttr(0));
      auto most =
          at.loop(at.index(0), at.index(rows), {none},
                  [&](Value row, ValueRange carried) {
                    Value step = at.loadScalar(terms, row, column);
                    return SmallVector<Value>{at.greatestF(carried[0], step)};
                  });
      at.storeScalar(most[0], steps, at.index(0), block);
      return SmallVector<Value>{};
    });
    return steps;
  }
};

} // namespace

void populateArrangePatterns(const TileTypeConverter &types,
                             RewritePatternSet &patterns) {
  patterns.add<LowerArrange, LowerFits>(types, patterns.getContext());
}

} // namespace kvc
