//===- LowerSoftmax.cpp - logits, masks and the online softmax ------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"

#include <limits>

using namespace mlir;

namespace kvc {

static constexpr double Infinity = std::numeric_limits<double>::infinity();

/// Columns that a run of `count` is computed with: those behind it are masked,
/// up to where words of values and blocks of keys may reach.
static Value paddedColumns(Lanes &at, Value count, MemRefType tile) {
  const int64_t unit = 4 * at.lanes;
  return at.least(at.multiply(at.divideUp(count, unit), unit),
                  at.index(tile.getDimSize(1)));
}

/// The tile itself where nobody else reads it, else a copy.
static Value ownTile(Lanes &at, Value original, Value tile, MemRefType type) {
  if (original.hasOneUse())
    return tile;
  Value copy = at.allocate(type);
  at.loop(at.index(0), at.index(type.getDimSize(0)), {},
          [&](Value row, ValueRange) {
            at.loop(at.index(0), at.index(type.getDimSize(1)), at.lanes, {},
                    [&](Value column, ValueRange) {
                      at.store(at.load(tile, row, column), copy, row, column);
                      return SmallVector<Value>{};
                    });
            return SmallVector<Value>{};
          });
  return copy;
}

/// What a region yields for a token, built at the insertion point. The region
/// is used up.
static SmallVector<Value> inlineRegion(Region &region, Value token,
                                       ConversionPatternRewriter &rewriter) {
  Block *block = &region.front();
  Operation *yield = block->getTerminator();
  SmallVector<Value> results(yield->getOperands());
  rewriter.inlineBlockBefore(block, rewriter.getInsertionBlock(),
                             rewriter.getInsertionPoint(), token);
  rewriter.eraseOp(yield);
  return results;
}

namespace {

struct LowerMask : TilePattern<kv::MaskOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::MaskOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    kv::TileType type = op.getTile().getType();
    auto memref = types().convertTile(type);
    Value tile = ownTile(at, op.getTile(), adaptor.getTile(), memref);
    maskRun(at, adaptor, tile, type.getRows());
    if (!op.getBorders().empty()) {
      Value whole = adaptor.getWhole();
      auto branch = scf::IfOp::create(rewriter, op.getLoc(), whole,
                                      /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.elseBlock());
      maskRows(op, adaptor, at, tile, rewriter);
    }
    rewriter.replaceOp(op, tile);
    return success();
  }

  /// Columns before the run's first, and behind its last up to a whole vector.
  static void maskRun(Lanes &at, OpAdaptor adaptor, Value tile, int64_t rows) {
    auto memref = cast<MemRefType>(tile.getType());
    Value minus = arith::ConstantOp::create(
        at.builder, at.loc, at.builder.getF32FloatAttr(-Infinity));
    Value end = at.index(memref.getDimSize(1));
    at.loop(at.index(0), at.index(rows), {}, [&](Value row, ValueRange) {
      auto put = [&](Value column, ValueRange) {
        at.storeScalar(minus, tile, row, column);
        return SmallVector<Value>{};
      };
      at.loop(at.index(0), at.least(adaptor.getLead(), end), {}, put);
      at.loop(adaptor.getCount(), paddedColumns(at, adaptor.getCount(), memref),
              {}, put);
      return SmallVector<Value>{};
    });
  }

  /// Columns beyond the borders of each token that asks.
  static void maskRows(kv::MaskOp op, OpAdaptor adaptor, Lanes &at, Value tile,
                       ConversionPatternRewriter &rewriter) {
    const auto each = static_cast<int64_t>(*op.getEach());
    const int64_t tokens = op.getTile().getType().getRows() / each;
    Value base = at.subtract(adaptor.getToken(), adaptor.getLead());
    at.loop(at.index(0), at.index(tokens), {}, [&](Value token, ValueRange) {
      SmallVector<Value> borders =
          inlineRegion(op.getBorders(), token, rewriter);
      at.loop(at.index(0), at.index(each), {}, [&](Value h, ValueRange) {
        Value row = at.add(at.multiply(token, each), h);
        at.loop(at.index(0), adaptor.getCount(), at.lanes, {},
                [&](Value column, ValueRange) {
                  Value first = at.add(base, column);
                  Value inside = at.between(at.subtract(borders[0], first),
                                            at.subtract(borders[1], first));
                  Value x = at.select(inside, at.load(tile, row, column),
                                      at.number(-Infinity));
                  at.store(x, tile, row, column);
                  return SmallVector<Value>{};
                });
        return SmallVector<Value>{};
      });
      return SmallVector<Value>{};
    });
  }
};

struct LowerLogit : TilePattern<kv::LogitOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::LogitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    kv::TileType type = op.getTile().getType();
    Value tile =
        ownTile(at, op.getTile(), adaptor.getTile(), types().convertTile(type));
    auto point = cast<kv::ScoreAttrInterface>(op.getScore());
    const auto each = static_cast<int64_t>(op.getEach());
    Value lane = at.numbers();
    Value table;
    int64_t width = 0; // numbers of a head
    if (auto numbers = numbersOf(point, rewriter)) {
      table = form.table(at, op, *numbers);
      width = numbers->getType().getShape()[1];
    }
    Value base = at.subtract(adaptor.getToken(), adaptor.getLead());
    at.loop(
        at.index(0), at.index(type.getRows() / each), {},
        [&](Value token, ValueRange) {
          Value index = inlineRegion(op.getIndex(), token, rewriter)[0];
          at.loop(at.index(0), at.index(each), {}, [&](Value h, ValueRange) {
            Value row = at.add(at.multiply(token, each), h);
            SmallVector<Value> numbers;
            for (int64_t i = 0; i < width; ++i)
              numbers.push_back(at.broadcast(at.loadScalar(
                  table, at.add(adaptor.getHead(), h), at.index(i))));
            at.loop(at.index(0), adaptor.getCount(), lanes, {},
                    [&](Value column, ValueRange) {
                      // Distances are i32, and count no further.
                      Value first =
                          at.least(at.subtract(index, at.add(base, column)),
                                   at.index(INT32_MAX));
                      Value distance = arith::SubIOp::create(
                          rewriter, op.getLoc(), at.broadcast(at.word(first)),
                          lane);
                      Value logit = point.buildLogit(rewriter, op.getLoc(),
                                                     at.load(tile, row, column),
                                                     numbers, distance);
                      at.store(logit, tile, row, column);
                      return SmallVector<Value>{};
                    });
            return SmallVector<Value>{};
          });
          return SmallVector<Value>{};
        });
    rewriter.replaceOp(op, tile);
    return success();
  }

  /// The point's numbers, [heads, numbers]; none where it has none.
  static std::optional<DenseElementsAttr>
  numbersOf(kv::ScoreAttrInterface point, Builder &builder) {
    SmallVector<float> numbers;
    const kv::HeadNumbers heads = point.getHeadNumbers();
    for (const auto &head : heads)
      for (double number : head)
        numbers.push_back(static_cast<float>(number));
    if (numbers.empty())
      return std::nullopt;
    const SmallVector<int64_t> extents{
        static_cast<int64_t>(heads.size()),
        static_cast<int64_t>(numbers.size() / heads.size())};
    return DenseElementsAttr::get(
        RankedTensorType::get(extents, builder.getF32Type()),
        ArrayRef<float>(numbers));
  }
};

struct LowerSoftmaxUpdate : TilePattern<kv::SoftmaxUpdateOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::SoftmaxUpdateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    kv::TileType type = op.getTile().getType();
    auto memref = types().convertTile(type);
    Value tile = ownTile(at, op.getTile(), adaptor.getTile(), memref);
    Value alpha = at.allocate(types().convertTile(op.getAlpha().getType()));
    kv::StateType stateType = op.getState().getType();
    const StateRows places(stateType, types().convertState(stateType));
    Value state = adaptor.getState();
    Value columns = paddedColumns(at, adaptor.getCount(), memref);
    at.loop(at.index(0), at.index(type.getRows()), {},
            [&](Value row, ValueRange) {
              updateRow(at, tile, state, places, alpha, row, columns);
              return SmallVector<Value>{};
            });
    rewriter.replaceOp(op, {tile, alpha, state});
    return success();
  }

  static void updateRow(Lanes &at, Value tile, Value state, StateRows places,
                        Value alpha, Value row, Value columns) {
    Value zero = at.index(0);
    auto most =
        at.loop(zero, columns, at.lanes, at.number(-Infinity),
                [&](Value column, ValueRange carried) {
                  Value x = at.load(tile, row, column);
                  return SmallVector<Value>{at.greatestF(carried[0], x)};
                });
    SmallVector<Value> greatest = places.greatest(at, row);
    Value old = at.loadScalar(state, greatest);
    Value next = at.greatestF(old, at.greatestOf(most[0]));
    at.storeScalar(next, state, greatest);
    next = finiteGreatest(at, next);
    Value factor = at.exp(
        at.broadcast(arith::SubFOp::create(at.builder, at.loc, old, next)));
    factor = at.first(factor);
    at.storeScalar(factor, alpha, row, zero);

    Value all = at.broadcast(next);
    auto sums =
        at.loop(zero, columns, at.lanes, at.number(0.0),
                [&](Value column, ValueRange carried) {
                  Value x = at.load(tile, row, column);
                  Value w =
                      at.exp(arith::SubFOp::create(at.builder, at.loc, x, all));
                  w = at.multiplyF(w, at.number(StateRows::Weight));
                  at.store(w, tile, row, column);
                  return SmallVector<Value>{at.addF(carried[0], w)};
                });
    SmallVector<Value> sum = places.sum(at, row);
    Value before = at.multiplyF(at.loadScalar(state, sum), factor);
    at.storeScalar(at.addF(before, at.sum(sums[0])), state, sum);
  }
};

} // namespace

void populateSoftmaxPatterns(const TileTypeConverter &types,
                             RewritePatternSet &patterns) {
  patterns.add<LowerMask, LowerLogit, LowerSoftmaxUpdate>(
      types, patterns.getContext());
}

} // namespace kvc
