//===- LowerSoftmax.cpp - logits, masks and the online softmax ------------===//
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
    Lanes at(rewriter, op.getLoc(), lanes);
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
    at.loop(
        at.index(0), at.index(tokens), {}, [&](Value token, ValueRange) {
          SmallVector<Value> borders =
              inlineRegion(op.getBorders(), token, rewriter);
          at.loop(at.index(0), at.index(each), {}, [&](Value h, ValueRange) {
            Value row = at.add(at.multiply(token, each), h);
            at.loop(at.index(0), adaptor.getCount(), at.lanes, {},
                    [&](Value column, ValueRange) {
                      Value first = at.add(base, column);
                      Value inside =
                          at.between(at.subtract(borders[0], first),
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
    Lanes at(rewriter, op.getLoc(), lanes);
    kv::TileType type = op.getTile().getType();
    Value tile =
        ownTile(at, op.getTile(), adaptor.getTile(), types().convertTile(type));
    auto point = cast<kv::ScoreAttrInterface>(op.getScore());
    const auto each = static_cast<int64_t>(op.getEach());
    Value lane = laneNumbers(at);
    TypedValue<MemRefType> table = numbersOf(op, point, rewriter);
    Value base = at.subtract(adaptor.getToken(), adaptor.getLead());
    at.loop(
        at.index(0), at.index(type.getRows() / each), {},
        [&](Value token, ValueRange) {
          Value index = inlineRegion(op.getIndex(), token, rewriter)[0];
          at.loop(at.index(0), at.index(each), {}, [&](Value h, ValueRange) {
            Value row = at.add(at.multiply(token, each), h);
            SmallVector<Value> numbers;
            if (table)
              for (int64_t i : llvm::seq(table.getType().getDimSize(1)))
                numbers.push_back(at.broadcast(at.loadScalar(
                    table, at.add(adaptor.getHead(), h), at.index(i))));
            at.loop(at.index(0), adaptor.getCount(), lanes, {},
                    [&](Value column, ValueRange) {
                      Value first = at.subtract(index, at.add(base, column));
                      Value distance = arith::SubIOp::create(
                          rewriter, op.getLoc(), at.broadcast(at.word(first)),
                          lane);
                      Value logit = point.buildLogit(
                          rewriter, op.getLoc(), at.load(tile, row, column),
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

  static Value laneNumbers(Lanes &at) {
    SmallVector<int32_t> numbers;
    for (int64_t lane = 0; lane < at.lanes; ++lane)
      numbers.push_back(static_cast<int32_t>(lane));
    return arith::ConstantOp::create(
        at.builder, at.loc,
        DenseElementsAttr::get(cast<VectorType>(at.i32()),
                               ArrayRef<int32_t>(numbers)));
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
                        int64_t rows, int64_t each) {
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
                op.getState().getType().getRows(),
                static_cast<int64_t>(*op.getEach()));
    rewriter.replaceOp(op, state);
    return success();
  }
};

/// The largest logit to subtract from others; 0 where there is none yet, so
/// that what is minus infinity stays it.
static Value finite(Lanes &at, Value greatest) {
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(at.builder, at.loc,
                                     at.builder.getF32FloatAttr(value));
  };
  Value some = arith::CmpFOp::create(at.builder, at.loc,
                                     arith::CmpFPredicate::OGT, greatest,
                                     number(-Infinity));
  return at.select(some, greatest, number(0.0));
}

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
    next = finite(at, next);
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

/// Pointers of a part: out, then lse.
struct LowerLoadState : TilePattern<kv::LoadStateOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::LoadStateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Lanes at(rewriter, loc, lanes);
    kv::StateType type = op.getState().getType();
    Value state = at.allocate(types().convertState(type));
    Value part = arith::IndexCastOp::create(rewriter, loc,
                                            rewriter.getI64Type(),
                                            at.multiply(adaptor.getPart(), 2));
    Value out = pointerAt(at, adaptor.getParts(), part, 0);
    Value lse = pointerAt(at, adaptor.getParts(), part, 1);
    auto number = [&](double value) -> Value {
      return arith::ConstantOp::create(rewriter, loc,
                                       rewriter.getF32FloatAttr(value));
    };
    at.loop(at.index(0), at.index(type.getRows()), {}, [&](Value i,
                                                           ValueRange) {
      Value row = at.add(adaptor.getRow(), i);
      Value most = loadFloat(at, lse, row);
      at.storeScalar(most, state, at.index(StateRows::Greatest), i);
      Value some =
          arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OGT, most,
                                number(-Infinity));
      at.storeScalar(at.select(some, number(StateRows::Weight), number(0.0)),
                     state, at.index(StateRows::Sum), i);
      Value base = at.multiply(row, type.getColumns());
      at.loop(at.index(0), at.index(type.getColumns()), {},
              [&](Value column, ValueRange) {
                Value x = at.multiplyF(loadFloat(at, out, at.add(base, column)),
                                       number(StateRows::Weight));
                // A part without tokens counts for nothing, whatever it holds.
                at.storeScalar(at.select(some, x, number(0.0)), state,
                               at.add(i, StateRows::Accumulator), column);
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
    Value number = arith::IndexCastOp::create(
        at.builder, at.loc, at.builder.getI64Type(), index);
    Value place =
        LLVM::GEPOp::create(at.builder, at.loc, pointer, at.builder.getF32Type(),
                            base, ArrayRef<LLVM::GEPArg>{number});
    return LLVM::LoadOp::create(at.builder, at.loc, at.builder.getF32Type(),
                                place);
  }
};

struct LowerMergeState : TilePattern<kv::MergeStateOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::MergeStateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), lanes);
    kv::StateType type = op.getState().getType();
    Value a = adaptor.getState(), b = adaptor.getOther();
    at.loop(at.index(0), at.index(type.getRows()), {}, [&](Value row,
                                                           ValueRange) {
      Value greatest = at.index(StateRows::Greatest);
      Value sum = at.index(StateRows::Sum);
      Value ma = at.loadScalar(a, greatest, row);
      Value mb = at.loadScalar(b, greatest, row);
      Value m = at.greatestF(ma, mb);
      at.storeScalar(m, a, greatest, row);
      m = finite(at, m);
      auto factor = [&](Value from) {
        return at.exp(at.broadcast(at.subtractF(from, m)));
      };
      Value fa = factor(ma), fb = factor(mb);
      auto scalar = [&](Value vector) -> Value {
        return vector::ExtractOp::create(at.builder, at.loc, vector, 0);
      };
      Value la = at.multiplyF(at.loadScalar(a, sum, row), scalar(fa));
      Value lb = at.multiplyF(at.loadScalar(b, sum, row), scalar(fb));
      at.storeScalar(at.addF(la, lb), a, sum, row);
      Value line = at.add(row, StateRows::Accumulator);
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
    Lanes at(rewriter, op.getLoc(), lanes);
    const auto each = static_cast<int64_t>(op.getEach());
    const int64_t columns = op.getState().getType().getColumns();
    at.loop(at.index(0), adaptor.getCount(), {}, [&](Value token, ValueRange) {
      at.loop(at.index(0), at.index(each), {}, [&](Value h, ValueRange) {
        Value line = at.add(at.multiply(token, each), h);
        finishRow(at, adaptor, line, {token, at.add(adaptor.getRow(), h)},
                  columns);
        return SmallVector<Value>{};
      });
      return SmallVector<Value>{};
    });
    rewriter.eraseOp(op);
    return success();
  }

  /// Row `line` of the state to row `to` (token, head) of the buffers.
  static void finishRow(Lanes &at, OpAdaptor adaptor, Value line,
                        ArrayRef<Value> to, int64_t columns) {
    auto number = [&](double value) -> Value {
      return arith::ConstantOp::create(at.builder, at.loc,
                                       at.builder.getF32FloatAttr(value));
    };
    Value state = adaptor.getState();
    Value sum = at.loadScalar(state, at.index(StateRows::Sum), line);
    Value most = at.loadScalar(state, at.index(StateRows::Greatest), line);
    Value some =
        arith::CmpFOp::create(at.builder, at.loc, arith::CmpFPredicate::OGT,
                              sum, number(0.0));
    Value divisor = at.select(some, sum, number(1.0));
    divideRow(at, state, at.add(line, StateRows::Accumulator), divisor,
              adaptor.getOut(), to, columns);
    Value weights = at.multiplyF(divisor, number(1 / StateRows::Weight));
    Value lse =
        at.select(some, at.addF(most, at.log(weights)), number(-Infinity));
    memref::StoreOp::create(at.builder, at.loc, lse, adaptor.getLse(), to);
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
      vector::StoreOp::create(at.builder, at.loc,
                              divide(at.load(state, from, column), all), out,
                              ValueRange{to[0], to[1], column});
      return SmallVector<Value>{};
    });
    at.loop(whole, at.index(columns), {}, [&](Value column, ValueRange) {
      Value x = divide(at.loadScalar(state, from, column), divisor);
      memref::StoreOp::create(at.builder, at.loc, x, out,
                              ValueRange{to[0], to[1], column});
      return SmallVector<Value>{};
    });
  }
};

} // namespace

void populateSoftmaxPatterns(const TileTypeConverter &types,
                             RewritePatternSet &patterns) {
  patterns.add<LowerMask, LowerLogit, LowerInitState, LowerSoftmaxUpdate,
               LowerLoadState, LowerMergeState, LowerFinish>(types, patterns.getContext());
}

} // namespace kvc
