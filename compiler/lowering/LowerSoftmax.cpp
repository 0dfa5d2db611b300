//===- LowerSoftmax.cpp - cpp ---------------------------------------------===//
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

namespace {

struct LowerMask : TilePattern<kv::MaskOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::MaskOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), lanes);
    kv::TileType type = op.getTile().getType();
    auto memref = types().convertTile(type);
    Value tile = ownTile(at, op.getTile(), adaptor.getTile(), memref);
    Value minus = arith::ConstantOp::create(
        rewriter, op.getLoc(), rewriter.getF32FloatAttr(-Infinity));
    Value end = at.index(memref.getDimSize(1));
    at.loop(at.index(0), at.index(type.getRows()), {},
            [&](Value row, ValueRange) {
              auto put = [&](Value column, ValueRange) {
                at.storeScalar(minus, tile, row, column);
                return SmallVector<Value>{};
              };
              at.loop(at.index(0), at.least(adaptor.getLead(), end), {}, put);
              at.loop(adaptor.getCount(),
                      paddedColumns(at, adaptor.getCount(), memref), {}, put);
              return SmallVector<Value>{};
            });
    rewriter.replaceOp(op, tile);
    return success();
  }
};

struct LowerLogit : TilePattern<kv::LogitOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::LogitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), lanes);
    kv::TileType type = op.getTile().getType();
    Value tile =
        ownTile(at, op.getTile(), adaptor.getTile(), types().convertTile(type));
    auto point = cast<kv::ScoreAttrInterface>(op.getScore());
    SmallVector<int32_t> numbers;
    for (int64_t lane = 0; lane < lanes; ++lane)
      numbers.push_back(static_cast<int32_t>(lane));
    Value lane = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        DenseElementsAttr::get(cast<VectorType>(at.i32()),
                               ArrayRef<int32_t>(numbers)));
    TypedValue<MemRefType> table = numbersOf(op, point, rewriter);
    Value base = at.subtract(adaptor.getToken(), adaptor.getLead());
    at.loop(
        at.index(0), at.index(type.getRows()), {}, [&](Value row, ValueRange) {
          SmallVector<Value> numbers;
          if (table)
            for (int64_t i : llvm::seq(table.getType().getDimSize(1)))
              numbers.push_back(at.broadcast(at.loadScalar(
                  table, at.add(adaptor.getHead(), row), at.index(i))));
          at.loop(at.index(0), adaptor.getCount(), lanes, {},
                  [&](Value column, ValueRange) {
                    Value first =
                        at.subtract(adaptor.getIndex(), at.add(base, column));
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
    rewriter.replaceOp(op, tile);
    return success();
  }

  /// The point's numbers as a constant of the module, [heads, numbers]; null
  /// where it has none. Like points share one.
  static TypedValue<MemRefType>
  numbersOf(kv::LogitOp op, kv::ScoreAttrInterface point, OpBuilder &builder) {
    SmallVector<float> numbers;
    const kv::HeadNumbers heads = point.getHeadNumbers();
    for (const auto &head : heads)
      for (double number : head)
        numbers.push_back(static_cast<float>(number));
    if (numbers.empty())
      return {};
    const SmallVector<int64_t> extents{
        static_cast<int64_t>(heads.size()),
        static_cast<int64_t>(numbers.size() / heads.size())};
    auto module = op->getParentOfType<ModuleOp>();
    auto type = MemRefType::get(extents, builder.getF32Type());
    auto value = DenseElementsAttr::get(
        RankedTensorType::get(extents, builder.getF32Type()),
        ArrayRef<float>(numbers));
    std::string name;
    for (int64_t i = 0; name.empty(); ++i) {
      std::string next = "kvc_numbers" + std::to_string(i);
      auto known = module.lookupSymbol<memref::GlobalOp>(next);
      if (!known) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(module.getBody());
        memref::GlobalOp::create(builder, op.getLoc(), next,
                                 builder.getStringAttr("private"), type, value,
                                 /*constant=*/true, IntegerAttr());
      } else if (known.getInitialValueAttr() != value) {
        continue;
      }
      name = next;
    }
    return memref::GetGlobalOp::create(builder, op.getLoc(), type, name);
  }
};

struct LowerInitState : TilePattern<kv::InitStateOp> {
  using TilePattern::TilePattern;

  /// m is the logit and l is 1, or 0 where the logit is minus infinity.
  static void startWith(Lanes &at, Value logits, Value head, Value state,
                        int64_t rows) {
    auto number = [&](double value) -> Value {
      return arith::ConstantOp::create(at.builder, at.loc,
                                       at.builder.getF32FloatAttr(value));
    };
    at.loop(at.index(0), at.index(rows), {}, [&](Value row, ValueRange) {
      Value logit = memref::LoadOp::create(at.builder, at.loc, logits,
                                           ValueRange{at.add(head, row)});
      Value some =
          arith::CmpFOp::create(at.builder, at.loc, arith::CmpFPredicate::OGT,
                                logit, number(-Infinity));
      at.storeScalar(logit, state, at.index(StateRows::Greatest), row);
      at.storeScalar(at.select(some, number(StateRows::Weight), number(0.0)),
                     state, at.index(StateRows::Sum), row);
      return SmallVector<Value>{};
    });
  }

  LogicalResult
  matchAndRewrite(kv::InitStateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), lanes);
    auto type = types().convertState(op.getState().getType());
    Value state = at.allocate(type);
    auto fill = [&](Value from, Value to, double value) {
      at.loop(from, to, {}, [&](Value row, ValueRange) {
        at.loop(at.index(0), at.index(type.getDimSize(1)), lanes, {},
                [&](Value column, ValueRange) {
                  at.store(at.number(value), state, row, column);
                  return SmallVector<Value>{};
                });
        return SmallVector<Value>{};
      });
    };
    fill(at.index(StateRows::Greatest), at.index(StateRows::Sum), -Infinity);
    fill(at.index(StateRows::Sum), at.index(type.getDimSize(0)), 0.0);
    if (adaptor.getLogits())
      startWith(at, adaptor.getLogits(), adaptor.getHead(), state,
                op.getState().getType().getRows());
    rewriter.replaceOp(op, state);
    return success();
  }
};

struct LowerSoftmaxUpdate : TilePattern<kv::SoftmaxUpdateOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::SoftmaxUpdateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), lanes);
    kv::TileType type = op.getTile().getType();
    auto memref = types().convertTile(type);
    Value tile = ownTile(at, op.getTile(), adaptor.getTile(), memref);
    Value alpha = at.allocate(types().convertTile(op.getAlpha().getType()));
    Value state = adaptor.getState();
    Value columns = paddedColumns(at, adaptor.getCount(), memref);
    at.loop(at.index(0), at.index(type.getRows()), {},
            [&](Value row, ValueRange) {
              updateRow(at, tile, state, alpha, row, columns);
              return SmallVector<Value>{};
            });
    rewriter.replaceOp(op, {tile, alpha, state});
    return success();
  }

  static void updateRow(Lanes &at, Value tile, Value state, Value alpha,
                        Value row, Value columns) {
    Value zero = at.index(0);
    auto most =
        at.loop(zero, columns, at.lanes, at.number(-Infinity),
                [&](Value column, ValueRange carried) {
                  Value x = at.load(tile, row, column);
                  return SmallVector<Value>{at.greatestF(carried[0], x)};
                });
    Value greatest = at.index(StateRows::Greatest);
    Value old = at.loadScalar(state, greatest, row);
    Value next = at.greatestF(old, at.greatestOf(most[0]));
    at.storeScalar(next, state, greatest, row);
    Value factor = at.exp(
        at.broadcast(arith::SubFOp::create(at.builder, at.loc, old, next)));
    factor = vector::ExtractOp::create(at.builder, at.loc, factor, 0);
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
    Value sum = at.index(StateRows::Sum);
    Value before = at.multiplyF(at.loadScalar(state, sum, row), factor);
    at.storeScalar(at.addF(before, at.sum(sums[0])), state, sum, row);
  }
};

struct LowerFinish : TilePattern<kv::FinishOp> {
  using TilePattern::TilePattern;

  /// out[row] = state[from] / divisor: whole vectors, then one by one, since
  /// the buffer ends at its last column.
  static void divideRow(Lanes &at, Value state, Value from, Value divisor,
                        Value out, Value row, int64_t columns) {
    auto divide = [&](Value x, Value y) -> Value {
      return arith::DivFOp::create(at.builder, at.loc, x, y);
    };
    Value all = at.broadcast(divisor);
    Value whole = at.index(columns / at.lanes * at.lanes);
    at.loop(at.index(0), whole, at.lanes, {}, [&](Value column, ValueRange) {
      at.store(divide(at.load(state, from, column), all), out, row, column);
      return SmallVector<Value>{};
    });
    at.loop(whole, at.index(columns), {}, [&](Value column, ValueRange) {
      at.storeScalar(divide(at.loadScalar(state, from, column), divisor), out,
                     row, column);
      return SmallVector<Value>{};
    });
  }

  LogicalResult
  matchAndRewrite(kv::FinishOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), lanes);
    kv::StateType type = op.getState().getType();
    Value state = adaptor.getState();
    auto number = [&](double value) -> Value {
      return arith::ConstantOp::create(rewriter, op.getLoc(),
                                       rewriter.getF32FloatAttr(value));
    };
    at.loop(
        at.index(0), at.index(type.getRows()), {}, [&](Value head, ValueRange) {
          Value sum = at.loadScalar(state, at.index(StateRows::Sum), head);
          Value most =
              at.loadScalar(state, at.index(StateRows::Greatest), head);
          Value some = arith::CmpFOp::create(rewriter, op.getLoc(),
                                             arith::CmpFPredicate::OGT, sum,
                                             number(0.0));
          Value divisor = at.select(some, sum, number(1.0));
          Value row = at.add(adaptor.getRow(), head);
          divideRow(at, state, at.add(head, StateRows::Accumulator), divisor,
                    adaptor.getOut(), row, type.getColumns());
          Value weights = at.multiplyF(divisor, number(1 / StateRows::Weight));
          Value lse = at.select(some, at.addF(most, at.log(weights)),
                                number(-Infinity));
          memref::StoreOp::create(rewriter, op.getLoc(), lse, adaptor.getLse(),
                                  ValueRange{row});
          return SmallVector<Value>{};
        });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateSoftmaxPatterns(const TileTypeConverter &types,
                             RewritePatternSet &patterns) {
  patterns.add<LowerMask, LowerLogit, LowerInitState, LowerSoftmaxUpdate,
               LowerFinish>(types, patterns.getContext());
}

} // namespace kvc
