//===- LowerFold.cpp - operands made ready for a contraction --------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"

using namespace mlir;

namespace kvc {

/// Runs `body` on every channel, with its block and its column in storage
/// order.
static void forChannels(Lanes &at, const kv::PageLayout &layout,
                        llvm::function_ref<void(Value, Value, Value)> body) {
  const int64_t block = layout.layout.getBlock();
  at.loop(at.index(0), at.index(layout.layout.getChannels()), {},
          [&](Value channel, ValueRange) {
            Value number = at.divide(channel, block);
            Value column = at.add(at.multiply(number, layout.blockColumns),
                                  at.remainder(channel, block));
            body(channel, number, column);
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
    if (!op.getSums() && layout.columns == layout.layout.getChannels()) {
      rewriter.replaceOp(op, {adaptor.getTile(), Value()});
      return success();
    }
    Value operand = at.allocate(types().convertTile(op.getOperand().getType()));
    Value sums;
    if (op.getSums())
      sums = at.allocate(types().convertTile(op.getSums().getType()));
    clear(at, operand);
    if (sums)
      clear(at, sums);
    at.loop(at.index(0), at.index(op.getTile().getType().getRows()), {},
            [&](Value row, ValueRange) {
              forChannels(
                  at, layout, [&](Value channel, Value block, Value column) {
                    Value x = at.loadScalar(adaptor.getTile(), row, channel);
                    at.storeScalar(x, operand, row, column);
                    if (!sums)
                      return;
                    Value sum = at.loadScalar(sums, row, block);
                    at.storeScalar(at.addF(sum, x), sums, row, block);
                  });
              return SmallVector<Value>{};
            });
    SmallVector<Value> results{operand};
    if (sums)
      results.push_back(sums);
    rewriter.replaceOp(op, results);
    return success();
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
    Value operand = adaptor.getTile();
    Value centers;
    if (op.getScales() == "operand")
      operand = at.allocate(types().convertTile(op.getOperand().getType()));
    if (op.getCenters())
      centers = at.allocate(types().convertTile(op.getCenters().getType()));
    if (record.layout.stream.getPlane() == kv::Plane::Keys)
      foldQuery(op, adaptor, at, record, operand, sums, centers);
    else if (op.getScales() == "operand")
      foldWeights(op, adaptor, at, record, operand, sums, centers);
    else
      sumWeights(op, adaptor, at, sums);
    SmallVector<Value> results{operand, sums};
    if (centers)
      results.push_back(centers);
    rewriter.replaceOp(op, results);
    return success();
  }

  /// Rows that a scale is loaded for once; their sums are carried.
  static constexpr int64_t Lockstep = 8;

  /// operand[h][channel] = q[h][channel] * scale[channel],
  /// sums[h] = sum of q[h][channel] * rest[channel],
  /// centers[channel].
  static void foldQuery(kv::FoldOp op, OpAdaptor adaptor, Lanes &at,
                        Record &record, Value operand, Value sums,
                        Value centers) {
    const kv::PageLayout &layout = record.layout;
    const int64_t rows = op.getTile().getType().getRows();
    const int64_t dim = layout.layout.getChannels();
    // Whole vectors of channels, where each channel has a scale of its own and
    // columns are channels; the rest one by one.
    const bool vectors =
        layout.block->channels == 1 && layout.layout.getBlock() == dim;
    const int64_t whole = vectors ? dim / at.lanes * at.lanes : 0;
    if (layout.columns != whole)
      clearFrom(at, operand, rows, whole, layout.columns);
    if (centers && layout.columns != whole)
      clearFrom(at, centers, 1, whole, layout.columns);
    at.lockstep(rows, std::min(Lockstep, rows),
                [&](Value first, int64_t count) {
                  SmallVector<Value> which;
                  for (int64_t row = 0; row < count; ++row)
                    which.push_back(at.add(first, row));
                  foldQueryRows(adaptor, at, record, operand, sums, centers,
                                which, whole);
                });
  }

  /// The same of some rows; the first `whole` channels a vector at a time.
  static void foldQueryRows(OpAdaptor adaptor, Lanes &at, Record &record,
                            Value operand, Value sums, Value centers,
                            ArrayRef<Value> rows, int64_t whole) {
    const kv::PageLayout &layout = record.layout;
    Value offset = record.offsetOf(adaptor.getToken());
    auto place = [&](Value channel) {
      return record.pairAddress(offset,
                                at.divide(channel, layout.block->channels));
    };
    SmallVector<Value> none(rows.size(), at.number(0.0));
    auto totals = at.loop(
        at.index(0), at.index(whole), at.lanes, none,
        [&](Value channel, ValueRange carried) {
          CenteredPair pair = record.loadCentered(place(channel), true);
          if (centers)
            at.store(pair.center, centers, at.index(0), channel);
          SmallVector<Value> next(carried);
          for (auto [row, sum] : llvm::zip(rows, next)) {
            Value q = at.load(adaptor.getTile(), row, channel);
            at.store(at.multiplyF(q, pair.scale), operand, row, channel);
            sum = at.fma(q, pair.rest, sum);
          }
          return next;
        });
    for (Value &total : totals)
      total = at.sum(total);
    auto rest = at.loop(
        at.index(whole), at.index(layout.layout.getChannels()), totals,
        [&](Value channel, ValueRange carried) {
          CenteredPair pair = record.loadCentered(place(channel), false);
          const int64_t block = layout.layout.getBlock();
          Value column = at.add(
              at.multiply(at.divide(channel, block), layout.blockColumns),
              at.remainder(channel, block));
          if (centers)
            at.storeScalar(pair.center, centers, at.index(0), column);
          SmallVector<Value> next(carried);
          for (auto [row, sum] : llvm::zip(rows, next)) {
            Value q = at.loadScalar(adaptor.getTile(), row, channel);
            at.storeScalar(at.multiplyF(q, pair.scale), operand, row, column);
            sum = at.addF(sum, at.multiplyF(q, pair.rest));
          }
          return next;
        });
    for (auto [row, total] : llvm::zip(rows, rest))
      at.storeScalar(total, sums, row, at.index(0));
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
  static void foldWeights(kv::FoldOp op, OpAdaptor adaptor, Lanes &at,
                          Record &record, Value operand, Value sums,
                          Value centers) {
    const int64_t rows = op.getTile().getType().getRows();
    at.loop(at.index(0), at.index(record.layout.channelBlocks()), {},
            [&](Value block, ValueRange) {
              at.lockstep(rows, std::min(Lockstep, rows),
                          [&](Value first, int64_t count) {
                            foldWeightRows(adaptor, at, record, operand, sums,
                                           centers, block, first, count);
                          });
              return SmallVector<Value>{};
            });
  }

  /// The same of rows [first, first + count) and one block of channels.
  static void foldWeightRows(OpAdaptor adaptor, Lanes &at, Record &record,
                             Value operand, Value sums, Value centers,
                             Value block, Value first, int64_t count) {
    SmallVector<Value> from, to;
    for (int64_t row = 0; row < count; ++row) {
      from.push_back(at.add(first, row));
      to.push_back(at.add(
          at.multiply(from.back(), record.layout.channelBlocks()), block));
    }
    Value base =
        at.subtract(record.offsetOf(adaptor.getToken()), adaptor.getLead());
    SmallVector<Value> none(count, at.number(0.0));
    auto totals = at.loop(
        at.index(0), adaptor.getCount(), at.lanes, none,
        [&](Value column, ValueRange carried) {
          Value address = record.pairAddress(at.add(base, column), block);
          CenteredPair pair = record.loadCentered(address, true);
          if (centers)
            at.store(pair.center, centers, block, column);
          SmallVector<Value> next(carried);
          for (auto [i, row] : llvm::enumerate(from)) {
            Value w = at.load(adaptor.getTile(), row, column);
            at.store(at.multiplyF(w, pair.scale), operand, to[i], column);
            next[i] = at.fma(w, pair.rest, next[i]);
          }
          return next;
        });
    // kv.accumulate reads whole words, which may hold more tokens than a
    // vector; pairs are not to be read behind the run.
    const int64_t codes = record.layout.codesPerWord;
    Value done =
        at.multiply(at.divideUp(adaptor.getCount(), at.lanes), at.lanes);
    Value end = at.multiply(at.divideUp(adaptor.getCount(), codes), codes);
    at.loop(done, end, at.lanes, {}, [&](Value column, ValueRange) {
      if (centers)
        at.store(at.number(0.0), centers, block, column);
      for (Value row : to)
        at.store(at.number(0.0), operand, row, column);
      return SmallVector<Value>{};
    });
    for (auto [row, total] : llvm::zip(from, totals))
      at.storeScalar(at.sum(total), sums, row, block);
  }

  /// sums[h] = sum of w[h][token].
  static void sumWeights(kv::FoldOp op, OpAdaptor adaptor, Lanes &at,
                         Value sums) {
    const int64_t heads = op.getTile().getType().getRows();
    at.loop(at.index(0), at.index(heads), {}, [&](Value head, ValueRange) {
      auto total =
          at.loop(at.index(0), adaptor.getCount(), at.lanes, at.number(0.0),
                  [&](Value column, ValueRange carried) {
                    Value w = at.load(adaptor.getTile(), head, column);
                    return SmallVector<Value>{at.addF(carried[0], w)};
                  });
      at.storeScalar(at.sum(total[0]), sums, head, at.index(0));
      return SmallVector<Value>{};
    });
  }
};

} // namespace

void populateFoldPatterns(const TileTypeConverter &types,
                          RewritePatternSet &patterns) {
  patterns.add<LowerArrange, LowerFold>(types, patterns.getContext());
}

} // namespace kvc
