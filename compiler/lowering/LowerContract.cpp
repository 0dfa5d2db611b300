//===- LowerContract.cpp - sums over keys' channels, values' tokens -------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both are one contraction: for each head and each lane, the sum over words
// and their slots of operand times code. Keys have tokens on the lanes and sum
// over channels; values have channels on the lanes and sum over tokens. A few
// heads and vectors go in lockstep, so that a code is decoded once for all
// heads and sums stay in registers.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/IntegerDots.h"
#include "compiler/lowering/Lowering.h"

using namespace mlir;

namespace kvc {

/// Rows of the operand that go in lockstep.
template <typename Op> static int64_t lockstepOf(Op op) {
  kv::ScheduleAttr schedule = op.getSchedule().value_or(kv::ScheduleAttr());
  return schedule ? schedule.getHeads() : 1;
}

namespace {

/// Sums over words [from, to) of one block of vectors, for `heads` heads.
struct Contraction {
  Lanes &at;
  Record &record;
  Value operand; ///< tile
  Value block;   ///< which block of vectors
  /// The operand's row for each head in lockstep.
  SmallVector<Value> rows;
  /// The operand's column of slot 0 of word `from`.
  Value column;
  /// Centers of codes: a row of a tile, a column a slot ...
  Value centers = {}, centerRow = {};
  /// ... or, where they lie on lanes, one vector for each of the block's.
  SmallVector<Value> laneCenters = {};

  /// sums[head * vectors + vector].
  SmallVector<Value> build(Value from, Value to) {
    const int64_t vectors = record.layout.vectors();
    SmallVector<Value> zeros(rows.size() * vectors, at.number(0.0));
    Value first = record.blockAddress(block);
    return at.loop(from, to, zeros, [&](Value word, ValueRange carried) {
      SmallVector<Value> sums(carried);
      Value address = at.add(first, at.multiply(word, record.wordStride()));
      record.prefetch(address);
      Value place = at.add(column, at.multiply(at.subtract(word, from),
                                               record.layout.codesPerWord));
      SmallVector<SlotWords> words;
      for (int64_t vector = 0; vector < vectors; ++vector)
        words.push_back(
            record.loadSlots(at.add(address, vector * record.layout.lanes())));
      for (int64_t slot = 0; slot < record.layout.codesPerWord; ++slot)
        addSlot(slot, words, at.add(place, slot), sums);
      return sums;
    });
  }

  void addSlot(int64_t slot, ArrayRef<SlotWords> words, Value column,
               SmallVector<Value> &sums) {
    const int64_t vectors = record.layout.vectors();
    SmallVector<Value> codes;
    Value center;
    if (centers)
      center = at.broadcast(at.loadScalar(centers, centerRow, column));
    for (auto [vector, word] : llvm::enumerate(words)) {
      Value code = record.decodeSlot(word, slot);
      if (!laneCenters.empty())
        center = laneCenters[vector];
      codes.push_back(center ? at.subtractF(code, center) : code);
    }
    for (auto [head, row] : llvm::enumerate(rows)) {
      Value factor = at.broadcast(at.loadScalar(operand, row, column));
      for (int64_t vector = 0; vector < vectors; ++vector) {
        Value &sum = sums[head * vectors + vector];
        sum = at.fma(factor, codes[vector], sum);
      }
    }
  }
};

/// The same of whole numbers.
struct IntegerContraction {
  Lanes &at;
  Record &record;
  IntegerDots dots;
  Value operand; ///< tile of words
  Value block;   ///< which block of vectors
  SmallVector<Value> rows;
  /// The word of codes that the operand's first words meet.
  Value origin;

  /// Sums in i32, for no more words than these have room for.
  SmallVector<Value> build(Value from, Value to) {
    const Value zero = kv::splatInt(at.builder, at.loc, 0, at.i32());
    SmallVector<Value> zeros(rows.size() * record.layout.vectors(), zero);
    const int64_t some = dots.partialWords();
    if (!some)
      return partial(from, to, zeros);
    SmallVector<Value> nothing(zeros.size(), dots.nothing());
    return at.loop(from, to, some, zeros, [&](Value word, ValueRange carried) {
      SmallVector<Value> sums(carried);
      Value end = at.least(at.add(word, some), to);
      for (auto [sum, part] : llvm::zip(sums, partial(word, end, nothing)))
        sum = dots.widen(sum, part);
      return sums;
    });
  }

  /// Sums as f32; there are `most` words at the most.
  SmallVector<Value> numbers(Value from, Value to, int64_t most) {
    auto converted = [&](Value begin, Value end) {
      SmallVector<Value> sums = build(begin, end);
      for (Value &sum : sums)
        sum = arith::SIToFPOp::create(at.builder, at.loc, at.f32(), sum);
      return sums;
    };
    const int64_t some = dots.integers.mostWords();
    if (most <= some)
      return converted(from, to);
    SmallVector<Value> zeros(rows.size() * record.layout.vectors(),
                             at.number(0.0));
    return at.loop(from, to, some, zeros, [&](Value word, ValueRange carried) {
      SmallVector<Value> sums(carried);
      Value end = at.least(at.add(word, some), to);
      for (auto [sum, part] : llvm::zip(sums, converted(word, end)))
        sum = at.addF(sum, part);
      return sums;
    });
  }

private:
  SmallVector<Value> partial(Value from, Value to, ArrayRef<Value> start) {
    Value first = record.blockAddress(block);
    return at.loop(from, to, start, [&](Value word, ValueRange carried) {
      SmallVector<Value> sums(carried);
      Value address = at.add(first, at.multiply(word, record.wordStride()));
      Value place =
          at.multiply(at.subtract(word, origin), dots.integers.steps());
      record.prefetch(address);
      SmallVector<Value> words;
      for (int64_t vector = 0; vector < record.layout.vectors(); ++vector)
        words.push_back(
            record.loadWords(at.add(address, vector * record.layout.lanes())));
      for (int64_t step = 0; step < dots.integers.steps(); ++step)
        addStep(step, words, at.add(place, step), sums);
      return sums;
    });
  }

  void addStep(int64_t step, ArrayRef<Value> words, Value place,
               SmallVector<Value> &sums) {
    SmallVector<Value> codes;
    for (Value word : words)
      codes.push_back(dots.codes(word, step));
    for (auto [head, row] : llvm::enumerate(rows)) {
      Value factor = at.loadScalar(operand, row, place);
      for (auto [vector, code] : llvm::enumerate(codes)) {
        Value &sum = sums[head * words.size() + vector];
        sum = dots.add(sum, code, factor);
      }
    }
  }
};

/// A number of the terms that stand beside an operand of whole numbers.
Value loadTerm(Lanes &at, Value terms, Value row, Value block, int64_t term) {
  return at.loadScalar(terms, row,
                       at.add(at.multiply(block, kv::Terms::Columns), term));
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

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
      auto sums = contraction.build(at.index(0), at.index(record.layout.words));
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
    SmallVector<Value> zeros(heads * vectors, at.number(0.0));
    return at.loop(
        at.index(0), at.index(record.layout.channelBlocks()), zeros,
        [&](Value channelBlock, ValueRange carried) {
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
          auto parts = contraction.build(from, at.add(from, words));
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
        sum = at.fma(sum, term(row, at.index(0), kv::Terms::Step),
                     term(row, at.index(0), kv::Terms::Sum));
      }
      return sums;
    }
    // A scale for each token and block of channels. Where it is the least there
    // is, codes are few and near 0, not around the middle.
    const int64_t words = layout.blockColumns / layout.codesPerWord;
    const double least = layout.stream.getEncoding().getLeastScale();
    Value middle = at.number(0.5 * static_cast<double>(integers.top));
    SmallVector<Value> zeros(rows.size() * vectors, at.number(0.0));
    return at.loop(
        at.index(0), at.index(layout.channelBlocks()), zeros,
        [&](Value channelBlock, ValueRange carried) {
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

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

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
    for (auto [i, sum] : llvm::enumerate(sums)) {
      Value row = at.add(head, i / vectors);
      Value factor;
      if (adaptor.getRescale())
        factor =
            at.broadcast(at.loadScalar(adaptor.getRescale(), row, at.index(0)));
      addTo(at, adaptor.getState(), row, layout, channelBlock,
            channels[i % vectors], factor, sum);
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
        sum = at.fma(sum, at.broadcast(term(i, kv::Terms::Step)),
                     at.broadcast(term(i, kv::Terms::Sum)));
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
      // The middle code from the center; where the scale is the least there is,
      // codes are not spread around the middle.
      Value isLeast =
          arith::CmpFOp::create(at.builder, at.loc, arith::CmpFPredicate::OLE,
                                pair.scale, at.number(least));
      Value middle = at.subtractF(
          at.number(0.5 * static_cast<double>(integers.top)), pair.center);
      middle = at.select(isLeast, at.number(0.0), middle);
      sum = at.fma(middle, at.broadcast(term(i, kv::Terms::Rest)), sum);
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
  static void addTo(Lanes &at, Value state, Value head,
                    const kv::PageLayout &layout, Value channelBlock,
                    Value channel, Value factor, Value sum) {
    Value row = at.add(head, StateRows::Accumulator);
    const int64_t dim = layout.layout.getChannels();
    auto next = [&](Value old) {
      return factor ? at.fma(old, factor, sum) : at.addF(old, sum);
    };
    // One block: lanes beyond it fall into the row's padding.
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

void populateContractPatterns(const TileTypeConverter &types,
                              RewritePatternSet &patterns) {
  patterns.add<LowerContract, LowerAccumulate>(types, patterns.getContext());
}

} // namespace kvc
