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

/// The point's numbers, [heads, numbers]; none where it has none.
std::optional<DenseElementsAttr> numbersOf(kv::ScoreAttrInterface point,
                                           Builder &builder) {
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

/// How far tokens lie before an index, in lanes of i32; no further than these
/// count. Where they are counted from a distance, that is taken off, and what
/// they count to as well.
class Distances {
public:
  /// `given`: the index, and the distance that they are counted from, if any.
  Distances(Lanes &at, ArrayRef<Value> given) : index(given[0]) {
    if (given.size() < 2)
      return;
    Value from = at.least(given[1], at.index(INT32_MAX));
    index = at.subtract(index, from);
    most = at.subtract(at.index(INT32_MAX), from);
  }

  /// Of the token on each lane, `token` on the first.
  Value of(Lanes &at, Value token, Value lane) const {
    Value first = at.least(at.subtract(index, token), at.index(INT32_MAX));
    // Lanes behind the first count as far. An index may have 32 bits.
    if (most)
      first =
          at.least(first, at.add(at.least(most, at.index(INT32_MAX - at.lanes)),
                                 at.lanes));
    Value distance = arith::SubIOp::create(at.builder, at.loc,
                                           at.broadcast(at.word(first)), lane);
    if (!most)
      return distance;
    return arith::MinSIOp::create(at.builder, at.loc, distance,
                                  at.broadcast(at.word(most)));
  }

private:
  Value index, most;
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
          const Distances distances(
              at, inlineRegion(op.getIndex(), token, rewriter));
          at.loop(at.index(0), at.index(each), {}, [&](Value h, ValueRange) {
            Value row = at.add(at.multiply(token, each), h);
            SmallVector<Value> numbers;
            for (int64_t i = 0; i < width; ++i)
              numbers.push_back(at.broadcast(at.loadScalar(
                  table, at.add(adaptor.getHead(), h), at.index(i))));
            at.loop(at.index(0), adaptor.getCount(), lanes, {},
                    [&](Value column, ValueRange) {
                      Value distance =
                          distances.of(at, at.add(base, column), lane);
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
};

/// Row by row: the learned logit is joined where tokens' logits are counted
/// from, and m of the result is the logit as it was given, or the tokens' m
/// with what it lost by distance.
struct LowerSettleState : TilePattern<kv::SettleStateOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::SettleStateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    kv::StateType type = op.getState().getType();
    const StateRows places(type, types().convertState(type));
    const auto each = static_cast<int64_t>(op.getEach());
    auto point = cast<kv::ScoreAttrInterface>(op.getScore());
    const DenseElementsAttr numbers = *numbersOf(point, rewriter);
    const int64_t width = numbers.getType().getShape()[1];
    Value table = form.table(at, op, numbers);
    at.loop(
        at.index(0), at.index(type.getRows() / each), {},
        [&](Value token, ValueRange) {
          Value distance = inlineRegion(op.getDistance(), token, rewriter)[0];
          distance = at.word(at.least(distance, at.index(INT32_MAX)));
          at.loop(at.index(0), at.index(each), {}, [&](Value h, ValueRange) {
            Value head = at.add(adaptor.getHead(), h);
            SmallVector<Value> ofHead;
            for (int64_t i = 0; i < width; ++i)
              ofHead.push_back(at.loadScalar(table, head, at.index(i)));
            auto logitAt = [&](Value x, Value distance) -> Value {
              Value logit =
                  point.buildLogit(rewriter, op.getLoc(), x, ofHead, distance);
              return at.select(isSome(at, x), logit, x);
            };
            Value row = at.add(at.multiply(token, each), h);
            const SmallVector<Value> greatest = places.greatest(at, row);
            Value most = at.loadScalar(adaptor.getState(), greatest);
            Value settled = logitAt(most, distance);
            if (Value logits = adaptor.getLogits()) {
              Value logit = at.loadScalar(logits, ValueRange{head});
              Value zero =
                  kv::splatInt(rewriter, op.getLoc(), 0, rewriter.getI32Type());
              Value nearer =
                  arith::SubIOp::create(rewriter, op.getLoc(), zero, distance);
              Value joined = logitAt(logit, nearer);
              join(at, adaptor.getState(), places, row, most, joined,
                   type.getColumns());
              Value isMost = arith::CmpFOp::create(rewriter, op.getLoc(),
                                                   arith::CmpFPredicate::OGE,
                                                   joined, most);
              settled = at.select(isMost, logit, settled);
            }
            at.storeScalar(settled, adaptor.getState(), greatest);
            return SmallVector<Value>{};
          });
          return SmallVector<Value>{};
        });
    rewriter.replaceOp(op, adaptor.getState());
    return success();
  }

  static Value isSome(Lanes &at, Value logit) {
    Value minus = arith::ConstantOp::create(
        at.builder, at.loc, at.builder.getF32FloatAttr(-Infinity));
    return arith::CmpFOp::create(at.builder, at.loc, arith::CmpFPredicate::OGT,
                                 logit, minus);
  }

  /// l and acc of the row with one logit more.
  static void join(Lanes &at, Value state, StateRows places, Value row,
                   Value most, Value logit, int64_t columns) {
    Value next = finiteGreatest(at, at.greatestF(most, logit));
    auto factor = [&](Value from) {
      return at.exp(
          at.broadcast(arith::SubFOp::create(at.builder, at.loc, from, next)));
    };
    Value kept = factor(most), more = factor(logit);
    more = at.first(at.multiplyF(more, at.number(StateRows::Weight)));
    const SmallVector<Value> sum = places.sum(at, row);
    Value before = at.multiplyF(at.loadScalar(state, sum), at.first(kept));
    at.storeScalar(at.addF(before, more), state, sum);
    Value line = places.accumulator(at, row);
    at.loop(at.index(0), at.index(columns), at.lanes, {},
            [&](Value column, ValueRange) {
              Value x = at.multiplyF(at.load(state, line, column), kept);
              at.store(x, state, line, column);
              return SmallVector<Value>{};
            });
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
  patterns.add<LowerMask, LowerLogit, LowerSettleState, LowerSoftmaxUpdate>(
      types, patterns.getContext());
}

} // namespace kvc
