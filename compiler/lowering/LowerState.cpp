//===- LowerState.cpp - softmaxes begin, join and end ---------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "dialect/KVFloats.h"

#include <limits>

using namespace mlir;

namespace kvc {

static constexpr double Infinity = std::numeric_limits<double>::infinity();

Value finiteGreatest(Lanes &at, Value greatest) {
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(at.builder, at.loc,
                                     at.builder.getF32FloatAttr(value));
  };
  Value some =
      arith::CmpFOp::create(at.builder, at.loc, arith::CmpFPredicate::OGT,
                            greatest, number(-Infinity));
  return at.select(some, greatest, number(0.0));
}

SmallVector<Value> StateRows::number(Lanes &at, int64_t from, Value row) const {
  if (rows <= width)
    return {at.index(from), row};
  return {at.add(at.divide(row, width), from), at.remainder(row, width)};
}

SmallVector<Value> StateRows::greatest(Lanes &at, Value row) const {
  return number(at, 0, row);
}
SmallVector<Value> StateRows::sum(Lanes &at, Value row) const {
  return number(at, sums(), row);
}
Value StateRows::accumulator(Lanes &at, Value row) const {
  return at.add(row, first());
}

namespace {

struct LowerInitState : TilePattern<kv::InitStateOp> {
  using TilePattern::TilePattern;

  /// m is the logit and l is 1, or 0 where the logit is minus infinity.
  static void startWith(Lanes &at, Value logits, Value head, Value state,
                        StateRows places, int64_t rows, int64_t each) {
    auto number = [&](double value) -> Value {
      return arith::ConstantOp::create(at.builder, at.loc,
                                       at.builder.getF32FloatAttr(value));
    };
    at.loop(at.index(0), at.index(rows), {}, [&](Value row, ValueRange) {
      Value logit = memref::LoadOp::create(
          at.builder, at.loc, logits,
          ValueRange{at.add(head, at.remainder(row, each))});
      Value some =
          arith::CmpFOp::create(at.builder, at.loc, arith::CmpFPredicate::OGT,
                                logit, number(-Infinity));
      at.storeScalar(logit, state, places.greatest(at, row));
      at.storeScalar(at.select(some, number(StateRows::Weight), number(0.0)),
                     state, places.sum(at, row));
      return SmallVector<Value>{};
    });
  }

  LogicalResult
  matchAndRewrite(kv::InitStateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    auto type = types().convertState(op.getState().getType());
    Value state = at.allocate(type);
    const StateRows places(op.getState().getType(), type);
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
    fill(at.index(0), at.index(places.sums()), -Infinity);
    fill(at.index(places.sums()), at.index(type.getDimSize(0)), 0.0);
    if (adaptor.getLogits())
      startWith(at, adaptor.getLogits(), adaptor.getHead(), state, places,
                op.getState().getType().getRows(),
                static_cast<int64_t>(*op.getEach()));
    rewriter.replaceOp(op, state);
    return success();
  }
};

/// Pointers of a part: out, then lse.
struct LowerLoadState : TilePattern<kv::LoadStateOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::LoadStateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Lanes at(rewriter, loc, form);
    kv::StateType type = op.getState().getType();
    Value state = at.allocate(types().convertState(type));
    const StateRows places(type, types().convertState(type));
    Value part =
        arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(),
                                   at.multiply(adaptor.getPart(), 2));
    Value out = pointerAt(at, adaptor.getParts(), part, 0);
    Value lse = pointerAt(at, adaptor.getParts(), part, 1);
    auto number = [&](double value) -> Value {
      return arith::ConstantOp::create(rewriter, loc,
                                       rewriter.getF32FloatAttr(value));
    };
    at.loop(
        at.index(0), at.index(type.getRows()), {}, [&](Value i, ValueRange) {
          Value row = at.add(adaptor.getRow(), i);
          Value most = loadFloat(at, lse, row);
          at.storeScalar(most, state, places.greatest(at, i));
          Value some =
              arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OGT,
                                    most, number(-Infinity));
          at.storeScalar(
              at.select(some, number(StateRows::Weight), number(0.0)), state,
              places.sum(at, i));
          Value base = at.multiply(row, type.getColumns());
          at.loop(
              at.index(0), at.index(type.getColumns()), {},
              [&](Value column, ValueRange) {
                Value x = at.multiplyF(loadFloat(at, out, at.add(base, column)),
                                       number(StateRows::Weight));
                // A part without tokens counts for nothing, whatever it
                // holds.
                Value kept = at.select(some, x, number(0.0));
                at.storeScalar(kept, state, places.accumulator(at, i), column);
                return SmallVector<Value>{};
              });
          return SmallVector<Value>{};
        });
    rewriter.replaceOp(op, state);
    return success();
  }

  static Value pointerAt(Lanes &at, Value table, Value entry, int32_t offset) {
    Type pointer = LLVM::LLVMPointerType::get(at.builder.getContext());
    Value place = LLVM::GEPOp::create(at.builder, at.loc, pointer, pointer,
                                      table, ArrayRef<LLVM::GEPArg>{entry});
    place = LLVM::GEPOp::create(at.builder, at.loc, pointer, pointer, place,
                                ArrayRef<LLVM::GEPArg>{offset});
    return LLVM::LoadOp::create(at.builder, at.loc, pointer, place);
  }
  static Value loadFloat(Lanes &at, Value base, Value index) {
    Type pointer = LLVM::LLVMPointerType::get(at.builder.getContext());
    Value number = arith::IndexCastOp::create(at.builder, at.loc,
                                              at.builder.getI64Type(), index);
    Value place = LLVM::GEPOp::create(at.builder, at.loc, pointer,
                                      at.builder.getF32Type(), base,
                                      ArrayRef<LLVM::GEPArg>{number});
    return LLVM::LoadOp::create(at.builder, at.loc, at.builder.getF32Type(),
                                place);
  }
};

struct LowerMergeState : TilePattern<kv::MergeStateOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::MergeStateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    kv::StateType type = op.getState().getType();
    const StateRows places(type, types().convertState(type));
    Value a = adaptor.getState(), b = adaptor.getOther();
    at.loop(at.index(0), at.index(type.getRows()), {},
            [&](Value row, ValueRange) {
              SmallVector<Value> greatest = places.greatest(at, row);
              SmallVector<Value> sum = places.sum(at, row);
              Value ma = at.loadScalar(a, greatest);
              Value mb = at.loadScalar(b, greatest);
              Value m = at.greatestF(ma, mb);
              at.storeScalar(m, a, greatest);
              m = finiteGreatest(at, m);
              auto factor = [&](Value from) {
                return at.exp(at.broadcast(at.subtractF(from, m)));
              };
              Value fa = factor(ma), fb = factor(mb);
              Value la = at.loadScalar(a, sum);
              la = at.multiplyF(la, at.first(fa));
              Value lb = at.loadScalar(b, sum);
              lb = at.multiplyF(lb, at.first(fb));
              at.storeScalar(at.addF(la, lb), a, sum);
              Value line = places.accumulator(at, row);
              at.loop(at.index(0), at.index(type.getColumns()), at.lanes, {},
                      [&](Value column, ValueRange) {
                        Value xa = at.multiplyF(at.load(a, line, column), fa);
                        Value xb = at.multiplyF(at.load(b, line, column), fb);
                        at.store(at.addF(xa, xb), a, line, column);
                        return SmallVector<Value>{};
                      });
              return SmallVector<Value>{};
            });
    rewriter.replaceOp(op, a);
    return success();
  }
};

struct LowerFinish : TilePattern<kv::FinishOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::FinishOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    const auto each = static_cast<int64_t>(op.getEach());
    kv::StateType type = op.getState().getType();
    const StateRows places(type, types().convertState(type));
    at.loop(at.index(0), adaptor.getCount(), {}, [&](Value token, ValueRange) {
      at.loop(at.index(0), at.index(each), {}, [&](Value h, ValueRange) {
        Value line = at.add(at.multiply(token, each), h);
        finishRow(at, adaptor, places, line,
                  {token, at.add(adaptor.getRow(), h)}, type.getColumns());
        return SmallVector<Value>{};
      });
      return SmallVector<Value>{};
    });
    rewriter.eraseOp(op);
    return success();
  }

  /// Row `line` of the state to row `to` (token, head) of the buffers.
  static void finishRow(Lanes &at, OpAdaptor adaptor, StateRows places,
                        Value line, ArrayRef<Value> to, int64_t columns) {
    auto number = [&](double value) -> Value {
      return arith::ConstantOp::create(at.builder, at.loc,
                                       at.builder.getF32FloatAttr(value));
    };
    Value state = adaptor.getState();
    Value sum = at.loadScalar(state, places.sum(at, line));
    Value most = at.loadScalar(state, places.greatest(at, line));
    Value some = arith::CmpFOp::create(
        at.builder, at.loc, arith::CmpFPredicate::OGT, sum, number(0.0));
    Value divisor = at.select(some, sum, number(1.0));
    divideRow(at, state, places.accumulator(at, line), divisor,
              adaptor.getOut(), to, columns);
    Value weights = at.multiplyF(divisor, number(1 / StateRows::Weight));
    Value lse =
        at.select(some, at.addF(most, at.log(weights)), number(-Infinity));
    at.storeScalar(lse, adaptor.getLse(), to);
  }

  /// out[to] = state[from] / divisor, rounded to out's type: whole vectors,
  /// then one by one, since the buffer ends at its last column.
  static void divideRow(Lanes &at, Value state, Value from, Value divisor,
                        Value out, ArrayRef<Value> to, int64_t columns) {
    Type element = cast<MemRefType>(out.getType()).getElementType();
    auto divide = [&](Value x, Value y) -> Value {
      Value quotient = arith::DivFOp::create(at.builder, at.loc, x, y);
      return kv::buildNarrow(at.builder, at.loc, quotient, element);
    };
    Value all = at.broadcast(divisor);
    Value whole = at.index(columns / at.lanes * at.lanes);
    at.loop(at.index(0), whole, at.lanes, {}, [&](Value column, ValueRange) {
      at.store(divide(at.load(state, from, column), all), out,
               {to[0], to[1], column});
      return SmallVector<Value>{};
    });
    at.loop(whole, at.index(columns), {}, [&](Value column, ValueRange) {
      Value x = divide(at.loadScalar(state, from, column), divisor);
      at.storeScalar(x, out, {to[0], to[1], column});
      return SmallVector<Value>{};
    });
  }
};

} // namespace

void populateStatePatterns(const TileTypeConverter &types,
                           RewritePatternSet &patterns) {
  patterns.add<LowerInitState, LowerLoadState, LowerMergeState, LowerFinish>(
      types, patterns.getContext());
}

} // namespace kvc
