//===- LowerQuantize.cpp - originals become codes and pairs ---------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codes are made in *units*: the values of one pair, or of a vector of pairs
// side by side. A unit has a range of vectors of lanes and a range along the
// dimension that is packed into words. Where pairs lie side by side on the
// lanes, least and greatest are found lane by lane; where all lanes share the
// pair, over the lanes besides. Where a pair covers all tokens, they are found
// page by page first, into a tile, and codes follow from that.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"

#include <limits>

using namespace mlir;

namespace kvc {

static constexpr double Infinity = std::numeric_limits<double>::infinity();

namespace {

/// Codes one head's tokens [from, to) of a page, in blocks of scales like
/// `block`, or finds their extremes.
class Quantizer {
public:
  /// `extremes`: of all tokens, row 0 the least and row 1 the greatest of each
  /// channel; null: of those of the page.
  Quantizer(Lanes &at, Record &originals, Record &codes, kv::ScaleBlock block,
            Value from, Value to, Value extremes)
      : at(at), originals(originals), codes(codes), layout(codes.layout),
        block(block), tokensOnLanes(layout.tokensOnLanes()), from(from), to(to),
        extremes(extremes) {}

  /// Codes; how many scales and zeros saturated, as an index.
  Value run();
  /// Takes the tokens into `extremes`.
  void collect();

private:
  /// What one unit covers.
  struct Unit {
    Value firstVector, lastVector; ///< vectors of lanes, end excluded
    Value firstPacked, lastPacked; ///< tokens or channels, end excluded
    Value channelBlock;            ///< block of channels of the layout
    Value channel;                 ///< the first, of all; where it has a pair
    Value pairToken, pairChannel;  ///< where its first pair lies
    bool lanewise;                 ///< a pair a lane
  };

  using Count = SmallVector<Value>;
  using Body = llvm::function_ref<Count(const Unit &, ValueRange)>;

  Count forUnits(ValueRange count, Body body);
  Count channelUnits(Value channelBlock, ValueRange count, Body body);
  Count codeUnit(const Unit &unit, ValueRange count);
  void collectUnit(const Unit &unit);
  SmallVector<Value> leastAndGreatest(const Unit &unit);
  /// A row of `extremes` at the unit's channels.
  Value loadExtremes(const Unit &unit, int64_t row);
  void encode(const Unit &unit, kv::ScaleZero pair);

  /// Lanes of `vector` that the unit has.
  Value laneMask(const Unit &unit, Value vector);
  Value load(const Unit &unit, Value vector, Value packed);
  /// Column in a record of a channel of the unit's block.
  static Value columnOf(Lanes &at, const Record &record, const Unit &unit,
                        Value channel) {
    return at.add(at.multiply(unit.channelBlock, record.layout.blockColumns),
                  channel);
  }
  Value count(Value saturated, Value mask);

  Lanes &at;
  Record &originals, &codes;
  const kv::PageLayout &layout;
  const kv::ScaleBlock block;
  const bool tokensOnLanes;
  Value from, to; ///< offsets in the page
  Value extremes;
};

} // namespace

Value Quantizer::laneMask(const Unit &unit, Value vector) {
  Value start = at.multiply(vector, at.lanes);
  if (tokensOnLanes)
    return at.between(at.subtract(from, start), at.subtract(to, start));
  // Channels: those of this block, counted from its first vector.
  Value first = at.multiply(
      at.multiply(unit.channelBlock, layout.blockColumns / at.lanes), at.lanes);
  Value begin = at.multiply(unit.channelBlock, layout.layout.getBlock());
  Value channels =
      at.least(at.subtract(at.index(layout.layout.getChannels()), begin),
               at.index(layout.layout.getBlock()));
  return at.between(at.index(0),
                    at.subtract(channels, at.subtract(start, first)));
}

Value Quantizer::load(const Unit &unit, Value vector, Value packed) {
  Value word = tokensOnLanes ? columnOf(at, originals, unit, packed) : packed;
  return originals.layout.stream.getEncoding().buildDecode(
      at.builder, at.loc, originals.loadCodes(vector, word), /*slot=*/0);
}

/// Of the unit: vectors where pairs lie side by side, else scalars.
SmallVector<Value> Quantizer::leastAndGreatest(const Unit &unit) {
  SmallVector<Value> none{at.number(Infinity), at.number(-Infinity)};
  auto found =
      at.loop(unit.firstVector, unit.lastVector, none,
              [&](Value vector, ValueRange carried) {
                Value mask = laneMask(unit, vector);
                return at.loop(unit.firstPacked, unit.lastPacked, carried,
                               [&](Value packed, ValueRange carried) {
                                 Value x = load(unit, vector, packed);
                                 Value low = at.select(mask, x, none[0]);
                                 Value high = at.select(mask, x, none[1]);
                                 return SmallVector<Value>{
                                     at.leastF(carried[0], low),
                                     at.greatestF(carried[1], high)};
                               });
              });
  if (!unit.lanewise)
    return {at.leastOf(found[0]), at.greatestOf(found[1])};
  // Lanes beyond the unit: any number will do, so that none is infinite.
  Value mask = laneMask(unit, unit.firstVector);
  return {at.select(mask, found[0], at.number(0.0)),
          at.select(mask, found[1], at.number(0.0))};
}

void Quantizer::encode(const Unit &unit, kv::ScaleZero pair) {
  at.loop(unit.firstVector, unit.lastVector, {}, [&](Value vector, ValueRange) {
    Value mask = laneMask(unit, vector);
    at.loop(unit.firstPacked, unit.lastPacked, {},
            [&](Value packed, ValueRange) {
              Value x = load(unit, vector, packed);
              Value code = layout.stream.getEncoding().buildEncode(
                  at.builder, at.loc, x, pair, nullptr);
              Value slot =
                  tokensOnLanes ? columnOf(at, codes, unit, packed) : packed;
              codes.putCodes(code, vector, slot, mask);
              return SmallVector<Value>{};
            });
    return SmallVector<Value>{};
  });
}

Value Quantizer::count(Value saturated, Value mask) {
  if (mask) {
    Value zero = kv::splatInt(at.builder, at.loc, 0, saturated.getType());
    saturated = at.select(mask, saturated, zero);
    saturated = vector::ReductionOp::create(
        at.builder, at.loc, vector::CombiningKind::ADD, saturated);
  }
  return arith::IndexCastOp::create(at.builder, at.loc,
                                    at.builder.getIndexType(), saturated);
}

Value Quantizer::loadExtremes(const Unit &unit, int64_t row) {
  return unit.lanewise ? at.load(extremes, at.index(row), unit.channel)
                       : at.loadScalar(extremes, at.index(row), unit.channel);
}

void Quantizer::collectUnit(const Unit &unit) {
  SmallVector<Value> found = leastAndGreatest(unit);
  found[0] = at.leastF(loadExtremes(unit, 0), found[0]);
  found[1] = at.greatestF(loadExtremes(unit, 1), found[1]);
  for (int64_t row : {0, 1})
    if (unit.lanewise)
      at.store(found[row], extremes, at.index(row), unit.channel);
    else
      at.storeScalar(found[row], extremes, at.index(row), unit.channel);
}

Quantizer::Count Quantizer::codeUnit(const Unit &unit, ValueRange counted) {
  SmallVector<Value> found;
  if (extremes)
    found = {loadExtremes(unit, 0), loadExtremes(unit, 1)};
  else
    found = leastAndGreatest(unit);
  kv::BuiltPair built = layout.stream.getEncoding().buildPair(
      at.builder, at.loc, found[0], found[1]);
  Value mask = unit.lanewise ? laneMask(unit, unit.firstVector) : Value();
  codes.storePair(built, codes.pairAddress(unit.pairToken, unit.pairChannel),
                  mask);
  kv::ScaleZero pair = layout.stream.getEncoding().buildUnpackPair(
      at.builder, at.loc, built.words);
  if (!unit.lanewise)
    pair = {at.broadcast(pair.scale), at.broadcast(pair.zero)};
  encode(unit, pair);
  return {at.add(counted[0], count(built.saturated, mask))};
}

/// The units of one block of channels of the layout.
Quantizer::Count Quantizer::channelUnits(Value channelBlock, ValueRange counted,
                                         Body body) {
  const bool pairPerToken = block.tokens == 1;
  Value begin = at.multiply(channelBlock, layout.layout.getBlock());
  Value channels =
      at.least(at.subtract(at.index(layout.layout.getChannels()), begin),
               at.index(layout.layout.getBlock()));
  Unit unit;
  unit.channelBlock = channelBlock;

  if (tokensOnLanes) {
    unit.firstVector = at.divide(from, at.lanes);
    unit.lastVector = at.divideUp(to, at.lanes);
    if (pairPerToken) {
      // A pair for each token: a vector of tokens after another.
      unit.lanewise = true;
      unit.firstPacked = at.index(0);
      unit.lastPacked = channels;
      return at.loop(unit.firstVector, unit.lastVector, counted,
                     [&](Value vector, ValueRange counted) {
                       Unit one = unit;
                       one.firstVector = vector;
                       one.lastVector = at.add(vector, 1);
                       one.pairToken = at.multiply(vector, at.lanes);
                       one.pairChannel = channelBlock;
                       return body(one, counted);
                     });
    }
    // A pair for some channels over all tokens.
    unit.lanewise = false;
    return at.loop(at.index(0), channels, block.channels, counted,
                   [&](Value channel, ValueRange counted) {
                     Unit one = unit;
                     one.firstPacked = channel;
                     one.lastPacked =
                         at.least(at.add(channel, block.channels), channels);
                     one.channel = at.add(begin, channel);
                     one.pairToken = from;
                     one.pairChannel = at.divide(one.channel, block.channels);
                     return body(one, counted);
                   });
  }

  const int64_t vectors = layout.blockColumns / at.lanes;
  unit.firstVector = at.multiply(channelBlock, vectors);
  unit.lastVector = at.add(unit.firstVector, at.divideUp(channels, at.lanes));
  if (pairPerToken) {
    // A pair for each token and block of channels.
    unit.lanewise = false;
    return at.loop(from, to, counted, [&](Value token, ValueRange counted) {
      Unit one = unit;
      one.firstPacked = token;
      one.lastPacked = at.add(token, 1);
      one.pairToken = token;
      one.pairChannel = channelBlock;
      return body(one, counted);
    });
  }
  unit.firstPacked = from;
  unit.lastPacked = to;
  if (block.channels > 1) {
    unit.lanewise = false;
    unit.pairToken = from;
    unit.pairChannel = channelBlock;
    return body(unit, counted);
  }
  // A pair for each channel: a vector of channels after another.
  unit.lanewise = true;
  return at.loop(unit.firstVector, unit.lastVector, counted,
                 [&](Value vector, ValueRange counted) {
                   Unit one = unit;
                   one.firstVector = vector;
                   one.lastVector = at.add(vector, 1);
                   one.channel = at.add(
                       begin, at.multiply(at.subtract(vector, unit.firstVector),
                                          at.lanes));
                   one.pairToken = from;
                   one.pairChannel = one.channel;
                   return body(one, counted);
                 });
}

Quantizer::Count Quantizer::forUnits(ValueRange counted, Body body) {
  return at.loop(at.index(0), at.index(layout.channelBlocks()), counted,
                 [&](Value channelBlock, ValueRange counted) {
                   return channelUnits(channelBlock, counted, body);
                 });
}

Value Quantizer::run() {
  return forUnits(at.index(0), [&](const Unit &unit, ValueRange counted) {
    return codeUnit(unit, counted);
  })[0];
}

void Quantizer::collect() {
  forUnits({}, [&](const Unit &unit, ValueRange) {
    collectUnit(unit);
    return Count{};
  });
}

namespace {

struct LowerQuantize : TilePattern<kv::QuantizeOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::QuantizeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    Record originals(at, adaptor.getOriginals(), op.getOriginals().getType(),
                     adaptor.getHead());
    Record codes(at, adaptor.getCodes(), op.getCodes().getType(),
                 adaptor.getHead());
    Value from = codes.offsetOf(adaptor.getFrom());
    Value to = at.add(from, at.subtract(adaptor.getTo(), adaptor.getFrom()));
    Quantizer quantizer(at, originals, codes, *codes.layout.block, from, to,
                        adaptor.getExtremes());
    rewriter.replaceOp(op, quantizer.run());
    return success();
  }
};

struct LowerInitExtremes : TilePattern<kv::InitExtremesOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::InitExtremesOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    auto type = types().convertTile(op.getExtremes().getType());
    Value tile = at.allocate(type);
    at.loop(at.index(0), at.index(type.getDimSize(1)), lanes, {},
            [&](Value column, ValueRange) {
              at.store(at.number(Infinity), tile, at.index(0), column);
              at.store(at.number(-Infinity), tile, at.index(1), column);
              return SmallVector<Value>{};
            });
    rewriter.replaceOp(op, tile);
    return success();
  }
};

/// In place: nothing else has the tile as it was.
struct LowerExtremes : TilePattern<kv::ExtremesOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(kv::ExtremesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Lanes at(rewriter, op.getLoc(), form);
    Record page(at, adaptor.getPage(), op.getPage().getType(),
                adaptor.getHead());
    Value from = page.offsetOf(adaptor.getFrom());
    Value to = at.add(from, at.subtract(adaptor.getTo(), adaptor.getFrom()));
    Quantizer(at, page, page, {page.layout.layout.getTokens(), 1}, from, to,
              adaptor.getExtremes())
        .collect();
    rewriter.replaceOp(op, adaptor.getExtremes());
    return success();
  }
};

} // namespace

void populateQuantizePatterns(const TileTypeConverter &types,
                              RewritePatternSet &patterns) {
  patterns.add<LowerQuantize, LowerInitExtremes, LowerExtremes>(
      types, patterns.getContext());
}

} // namespace kvc
