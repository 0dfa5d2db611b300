//===- LowerFold.cpp - a run's scales and zeros in an operand -------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/IntegerDots.h"
#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace kvc {

namespace {

/// One kv.fold under way.
struct Fold {
  kv::FoldOp op;
  kv::FoldOp::Adaptor &adaptor;
  Lanes &at;
  Record &record;
  Value operand; ///< f32
  Value sums;
  Value centers = {};
  // Of an operand of whole numbers:
  std::optional<Rounding> rounding = {};
  double leastScale = 0;
  Value misfits = {}; ///< [0][0]: 1 where some row's numbers do not fit

  /// Where a block's zeros are among `sums`.
  Value sumOf(Value block) const {
    return rounding ? at.add(termsOf(at, block), kv::Terms::Sum) : block;
  }
  /// Codes count from the one nearest to 0, integers from 0.
  CenteredPair loadPair(Value address, bool vector) const {
    if (!rounding)
      return record.loadCentered(address, vector);
    kv::ScaleZero pair = record.loadPair(address, vector);
    return {pair.scale, Value(), pair.zero};
  }
  /// The largest |x| so far of blocks with the least scale.
  Value lowest(Value before, Value x, Value scale) const {
    if (leastScale == 0)
      return before;
    auto number = [&](double value) {
      return kv::splatFloat(at.builder, at.loc, value, scale.getType());
    };
    Value isLeast =
        arith::CmpFOp::create(at.builder, at.loc, arith::CmpFPredicate::OLE,
                              scale, number(leastScale));
    Value size = math::AbsFOp::create(at.builder, at.loc, x);
    return at.greatestF(before, at.select(isLeast, size, number(0.0)));
  }
  /// Whole numbers of rows that are folded. Their largest |x| must not exceed
  /// `limit`; `lows`, those of the least scale, must not make the steps, or lie
  /// below `slack`.
  void round(ArrayRef<Rounding::Row> rows, ArrayRef<Value> lows, Value end,
             double slack, double limit) {
    auto most = rounding->round(rows, at.index(0), end, /*inSum=*/true);
    if (!misfits)
      return;
    auto number = [&](double value) -> Value {
      return arith::ConstantOp::create(
          at.builder, at.loc,
          at.builder.getF32FloatAttr(static_cast<float>(value)));
    };
    Value zero = at.index(0), misfit = at.loadScalar(misfits, zero, zero);
    for (auto [low, greatest] : llvm::zip(lows, most)) {
      auto compare = [&](arith::CmpFPredicate predicate, Value a, Value b) {
        return arith::CmpFOp::create(at.builder, at.loc, predicate, a, b);
      };
      if (leastScale != 0) {
        Value isMost = compare(arith::CmpFPredicate::OGE, low, greatest);
        Value isLarge = compare(arith::CmpFPredicate::OGT, low, number(slack));
        Value isMade =
            arith::AndIOp::create(at.builder, at.loc, isMost, isLarge);
        misfit = at.select(isMade, number(1.0), misfit);
      }
      if (std::isfinite(limit)) {
        Value isCoarse =
            compare(arith::CmpFPredicate::OGT, greatest, number(limit));
        misfit = at.select(isCoarse, number(1.0), misfit);
      }
    }
    at.storeScalar(misfit, misfits, zero, zero);
  }
  /// A row of weights does not fit where one that is not 0 is too small beside
  /// the largest to be told in its numbers.
  void askWeights(Value least, Value most) const {
    auto number = [&](double value) -> Value {
      return arith::ConstantOp::create(
          at.builder, at.loc,
          at.builder.getF32FloatAttr(static_cast<float>(value)));
    };
    Value zero = at.index(0), misfit = at.loadScalar(misfits, zero, zero);
    Value smallest = arith::MulFOp::create(at.builder, at.loc, most,
                                           number(kv::Integers::LeastWeight));
    Value isSmall = arith::CmpFOp::create(
        at.builder, at.loc, arith::CmpFPredicate::OLT, least, smallest);
    at.storeScalar(at.select(isSmall, number(1.0), misfit), misfits, zero,
                   zero);
  }
};

struct LowerFold : TilePattern<kv::FoldOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::FoldOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    Record record(at, adaptor.getPage(), op.getPage().getType(),
                  adaptor.getHead());
    Value sums = at.allocate(types().convertTile(op.getSums().getType()));
    Fold fold{op, adaptor, at, record, adaptor.getTile(), sums};
    kv::TileType type = op.getOperand().getType();
    if (op.getScales() == "operand")
      fold.operand = at.allocate(types().convertTile(kv::TileType::get(
          op.getContext(), type.getRows(), type.getColumns())));
    if (op.getCenters())
      fold.centers =
          at.allocate(types().convertTile(op.getCenters().getType()));
    Value numbers;
    if (Type element = type.getElement()) {
      numbers = at.allocate(types().convertTile(type));
      fold.rounding.emplace(at, kv::Integers(record.layout.stream, element),
                            fold.operand, numbers, sums);
    }
    if (op.getFits())
      startMisfits(fold);
    if (record.layout.stream.getPlane() == kv::Plane::Keys)
      foldQuery(fold);
    else if (op.getScales() == "operand")
      foldWeights(fold);
    else
      sumWeights(fold);
    SmallVector<Value> results{numbers ? numbers : fold.operand, sums};
    if (fold.centers)
      results.push_back(fold.centers);
    if (op.getFits())
      results.push_back(fits(fold));
    rewriter.replaceOp(op, results);
    return success();
  }

  void startMisfits(Fold &fold) const {
    if (fold.op.getScales() == "operand") {
      fold.leastScale = fold.record.layout.stream.getEncoding().getLeastScale();
      if (fold.leastScale == 0 && !std::isfinite(limitOf(fold)))
        return;
    } else if (!fold.rounding->asksWeights()) {
      return;
    }
    Lanes &at = fold.at;
    fold.misfits = at.allocate(
        types().convertTile(kv::TileType::get(fold.op.getContext(), 1, 1)));
    at.store(at.number(0.0), fold.misfits, at.index(0), at.index(0));
  }

  static Value fits(Fold &fold) {
    Lanes &at = fold.at;
    if (!fold.misfits)
      return arith::ConstantOp::create(at.builder, at.loc,
                                       at.builder.getBoolAttr(true));
    Value misfit = at.loadScalar(fold.misfits, at.index(0), at.index(0));
    Value none = arith::ConstantOp::create(at.builder, at.loc,
                                           at.builder.getF32FloatAttr(0));
    return arith::CmpFOp::create(at.builder, at.loc, arith::CmpFPredicate::OEQ,
                                 misfit, none);
  }

  /// Rows that a scale is loaded for once; their sums are carried.
  static int64_t lockstep(const Fold &fold, int64_t rows) {
    return std::min<int64_t>(fold.rounding ? 4 : 8, rows);
  }

  /// operand[h][channel] = q[h][channel] * scale[channel],
  /// sums[h] = sum of q[h][channel] * rest[channel],
  /// centers[channel].
  static void foldQuery(Fold &fold) {
    Lanes &at = fold.at;
    const kv::PageLayout &layout = fold.record.layout;
    const int64_t rows = fold.op.getTile().getType().getRows();
    const int64_t dim = layout.layout.getChannels();
    // Whole vectors of channels, where each channel has a scale of its own and
    // columns are channels; the rest one by one.
    const bool vectors =
        layout.block->channels == 1 && layout.layout.getBlock() == dim;
    const int64_t whole = vectors ? dim / at.lanes * at.lanes : 0;
    if (layout.columns != whole)
      clearFrom(at, fold.operand, rows, whole, layout.columns);
    if (fold.centers && layout.columns != whole)
      clearFrom(at, fold.centers, 1, whole, layout.columns);
    at.lockstep(rows, lockstep(fold, rows), [&](Value first, int64_t count) {
      SmallVector<Value> which;
      for (int64_t row = 0; row < count; ++row)
        which.push_back(at.add(first, row));
      SmallVector<Value> lows = foldQueryRows(fold, which, whole);
      if (!fold.rounding)
        return;
      SmallVector<Rounding::Row> round;
      for (Value row : which)
        round.push_back({row, row, row, at.index(0)});
      fold.round(
          round, lows,
          at.index(llvm::alignTo(layout.columns, fold.rounding->group())),
          slackOf(fold), limitOf(fold));
    });
  }

  /// The largest |x| of an operand's row whose steps may make a logit lose
  /// `lost`.
  static double largestFor(const Fold &fold, double lost) {
    kv::FoldOp op = fold.op;
    kv::TileType type = op.getOperand().getType();
    const kv::Integers integers(fold.record.layout.stream, type.getElement());
    return lost * static_cast<double>(integers.most) /
           integers.lostBySteps(type.getColumns());
  }
  /// Steps of a query's numbers that are small enough as they are, as the
  /// largest |x|: what they lose is half of what the arithmetic may.
  static double slackOf(const Fold &fold) {
    return largestFor(fold, isPairs(fold) ? 1e-3 : 5e-2);
  }
  /// The largest |x| that whole numbers may stand for. Weights lose what they
  /// do relative to themselves, and i8 has a bound for random input alone.
  static double limitOf(const Fold &fold) {
    const bool isQuery =
        fold.record.layout.stream.getPlane() == kv::Plane::Keys;
    return isQuery && isPairs(fold) ? largestFor(fold, kv::Integers::MostLost)
                                    : std::numeric_limits<double>::infinity();
  }
  static bool isPairs(const Fold &fold) {
    kv::FoldOp op = fold.op;
    return op.getOperand().getType().getElement().isInteger(16);
  }

  /// The same of some rows; the first `whole` channels a vector at a time.
  /// Gives the largest |operand| of channels with the least scale.
  static SmallVector<Value> foldQueryRows(Fold &fold, ArrayRef<Value> rows,
                                          int64_t whole) {
    Lanes &at = fold.at;
    const kv::PageLayout &layout = fold.record.layout;
    const size_t count = rows.size();
    Value tile = fold.adaptor.getTile();
    Value offset = fold.record.offsetOf(fold.adaptor.getToken());
    auto place = [&](Value channel) {
      return fold.record.pairAddress(
          offset, at.divide(channel, layout.block->channels));
    };
    SmallVector<Value> none(2 * count, at.number(0.0));
    auto addVector = [&](Value channel, ValueRange carried) {
      CenteredPair pair = fold.loadPair(place(channel), true);
      if (fold.centers)
        at.store(pair.center, fold.centers, at.index(0), channel);
      SmallVector<Value> next(carried);
      for (auto [i, row] : llvm::enumerate(rows)) {
        Value q = at.load(tile, row, channel);
        Value x = at.multiplyF(q, pair.scale);
        at.store(x, fold.operand, row, channel);
        next[i] = at.fma(q, pair.rest, next[i]);
        next[count + i] = fold.lowest(next[count + i], x, pair.scale);
      }
      return next;
    };
    auto totals = at.inStretches(
        at.index(0), at.index(whole), Lanes::ChainTerms * at.lanes, none, count,
        [&](Value from, Value to, ValueRange start) {
          return at.loop(from, to, at.lanes, start, addVector);
        });
    for (auto [i, total] : llvm::enumerate(totals))
      total = i < count ? at.sum(total) : at.greatestOf(total);
    auto addChannel = [&](Value channel, ValueRange carried) {
      CenteredPair pair = fold.loadPair(place(channel), false);
      const int64_t block = layout.layout.getBlock();
      Value column =
          at.add(at.multiply(at.divide(channel, block), layout.blockColumns),
                 at.remainder(channel, block));
      if (fold.centers)
        at.storeScalar(pair.center, fold.centers, at.index(0), column);
      SmallVector<Value> next(carried);
      for (auto [i, row] : llvm::enumerate(rows)) {
        Value q = at.loadScalar(tile, row, channel);
        Value x = at.multiplyF(q, pair.scale);
        at.storeScalar(x, fold.operand, row, column);
        next[i] = at.addF(next[i], at.multiplyF(q, pair.rest));
        next[count + i] = fold.lowest(next[count + i], x, pair.scale);
      }
      return next;
    };
    auto rest =
        at.inStretches(at.index(whole), at.index(layout.layout.getChannels()),
                       Lanes::ChainTerms, totals, count,
                       [&](Value from, Value to, ValueRange start) {
                         return at.loop(from, to, start, addChannel);
                       });
    for (auto [i, row] : llvm::enumerate(rows))
      at.storeScalar(rest[i], fold.sums, row, fold.sumOf(at.index(0)));
    return {rest.begin() + count, rest.end()};
  }

  /// Zeros in columns [from, to), rounded to whole vectors within padding.
  static void clearFrom(Lanes &at, Value tile, int64_t rows, int64_t from,
                        int64_t to) {
    at.loop(at.index(0), at.index(rows), {}, [&](Value row, ValueRange) {
      at.loop(at.index(from), at.index(to), at.lanes, {},
              [&](Value column, ValueRange) {
                at.store(at.number(0.0), tile, row, column);
                return SmallVector<Value>{};
              });
      return SmallVector<Value>{};
    });
  }

  /// operand[h * blocks + b][token] = w[h][token] * scale[b][token],
  /// sums[h][b] = sum of w[h][token] * rest[b][token],
  /// centers[b][token].
  static void foldWeights(Fold &fold) {
    Lanes &at = fold.at;
    const int64_t rows = fold.op.getTile().getType().getRows();
    at.loop(at.index(0), at.index(fold.record.layout.channelBlocks()), {},
            [&](Value block, ValueRange) {
              at.lockstep(rows, lockstep(fold, rows),
                          [&](Value first, int64_t count) {
                            foldWeightRows(fold, block, first, count);
                          });
              return SmallVector<Value>{};
            });
  }

  /// The same of rows [first, first + count) and one block of channels.
  static void foldWeightRows(Fold &fold, Value block, Value first,
                             int64_t count) {
    Lanes &at = fold.at;
    Record &record = fold.record;
    Value columns = fold.adaptor.getCount();
    SmallVector<Value> from, to;
    for (int64_t row = 0; row < count; ++row) {
      from.push_back(at.add(first, row));
      to.push_back(at.add(
          at.multiply(from.back(), record.layout.channelBlocks()), block));
    }
    Value base = at.subtract(record.offsetOf(fold.adaptor.getToken()),
                             fold.adaptor.getLead());
    SmallVector<Value> none(2 * count, at.number(0.0));
    auto totals = at.loop(
        at.index(0), columns, at.lanes, none,
        [&](Value column, ValueRange carried) {
          Value address = record.pairAddress(at.add(base, column), block);
          CenteredPair pair = fold.loadPair(address, true);
          if (fold.centers)
            at.store(pair.center, fold.centers, block, column);
          SmallVector<Value> next(carried);
          for (auto [i, row] : llvm::enumerate(from)) {
            Value w = at.load(fold.adaptor.getTile(), row, column);
            Value x = at.multiplyF(w, pair.scale);
            at.store(x, fold.operand, to[i], column);
            next[i] = at.fma(w, pair.rest, next[i]);
            next[count + i] = fold.lowest(next[count + i], x, pair.scale);
          }
          return next;
        });
    // kv.accumulate reads whole words, which may hold more tokens than a
    // vector; pairs are not to be read behind the run.
    const int64_t unit =
        fold.rounding ? fold.rounding->group() : record.layout.codesPerWord;
    Value done = at.multiply(at.divideUp(columns, at.lanes), at.lanes);
    Value end = at.multiply(at.divideUp(columns, unit), unit);
    at.loop(done, end, at.lanes, {}, [&](Value column, ValueRange) {
      if (fold.centers)
        at.store(at.number(0.0), fold.centers, block, column);
      for (Value row : to)
        at.store(at.number(0.0), fold.operand, row, column);
      return SmallVector<Value>{};
    });
    SmallVector<Rounding::Row> round;
    SmallVector<Value> lows;
    for (auto [i, row] : llvm::enumerate(from)) {
      at.storeScalar(at.sum(totals[i]), fold.sums, row, fold.sumOf(block));
      lows.push_back(at.greatestOf(totals[count + i]));
      round.push_back({to[i], to[i], row, termsOf(at, block)});
    }
    if (fold.rounding)
      fold.round(round, lows, end, /*slack=*/0, limitOf(fold));
  }

  /// sums[h] = sum of w[h][token]; whole numbers of w.
  static void sumWeights(Fold &fold) {
    Lanes &at = fold.at;
    Value columns = fold.adaptor.getCount();
    const int64_t heads = fold.op.getTile().getType().getRows();
    const Value none = at.number(std::numeric_limits<float>::max());
    at.loop(at.index(0), at.index(heads), {}, [&](Value head, ValueRange) {
      SmallVector<Value> start{at.number(0.0)};
      if (fold.misfits)
        start.push_back(none);
      auto total = at.loop(
          at.index(0), columns, at.lanes, start,
          [&](Value column, ValueRange carried) {
            Value w = at.load(fold.adaptor.getTile(), head, column);
            SmallVector<Value> next{at.addF(carried[0], w)};
            if (fold.misfits) {
              Value is = arith::CmpFOp::create(at.builder, at.loc,
                                               arith::CmpFPredicate::OGT, w,
                                               at.number(0.0));
              next.push_back(at.leastF(carried[1], at.select(is, w, none)));
            }
            return next;
          });
      at.storeScalar(at.sum(total[0]), fold.sums, head,
                     fold.sumOf(at.index(0)));
      if (!fold.rounding)
        return SmallVector<Value>{};
      kv::TileType type = fold.op.getOperand().getType();
      const kv::Integers integers(fold.record.layout.stream, type.getElement());
      const int64_t unit = fold.rounding->group();
      auto most = fold.rounding->round(
          {{head, at.multiply(head, integers.rows), head, at.index(0)}},
          at.index(0), at.multiply(at.divideUp(columns, unit), unit),
          /*inSum=*/false);
      if (fold.misfits)
        fold.askWeights(at.leastOf(total[1]), most[0]);
      return SmallVector<Value>{};
    });
  }
};

} // namespace

void populateFoldPatterns(const TileTypeConverter &types,
                          RewritePatternSet &patterns) {
  patterns.add<LowerFold>(types, patterns.getContext());
}

} // namespace kvc
