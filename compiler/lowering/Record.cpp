//===- Record.cpp - addresses within a head's record of a page ------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Record.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cmath>

using namespace mlir;

namespace kvc {

Record::Record(Lanes &lanes, Value page, kv::PageType type, Value head)
    : at(lanes), page(page), layout(type.getStream()),
      base(lanes.multiply(head, layout.recordWords)) {}

Value Record::offsetOf(Value token) {
  Value offset = at.subtract(token, at.index(layout.stream.getOrigin()));
  return at.remainder(offset, layout.layout.getTokens());
}

Value Record::blockAddress(Value block) {
  Value words = at.multiply(block, layout.words * wordStride());
  return at.add(at.add(base, layout.pairWords), words);
}

Value Record::codeAddress(Value vector, Value word) {
  Value block = at.divide(vector, layout.vectors());
  Value within = at.remainder(vector, layout.vectors());
  Value address = at.add(blockAddress(block), at.multiply(word, wordStride()));
  return at.add(address, at.multiply(within, layout.lanes()));
}

Value Record::pairAddress(Value offset, Value pairChannel) {
  Value address;
  if (layout.pairsAlongTokens()) {
    address =
        at.add(at.multiply(pairChannel, layout.layout.getTokens()), offset);
  } else {
    Value row = at.divide(offset, layout.block->tokens);
    address = at.add(at.multiply(row, layout.pairChannels()), pairChannel);
  }
  return at.add(base, address);
}

Value Record::slotShift(Value packed) {
  if (layout.codesPerWord == 1)
    return {};
  const int64_t bits = 32 / layout.codesPerWord;
  return at.word(at.multiply(at.remainder(packed, layout.codesPerWord), bits));
}

Value Record::columnOf(Value channel) {
  const int64_t block = layout.layout.getBlock();
  return at.add(at.multiply(at.divide(channel, block), layout.blockColumns),
                at.remainder(channel, block));
}

CodePlace Record::placeOf(Value offset, Value channel) {
  Value column = columnOf(channel);
  Value onLanes = layout.tokensOnLanes() ? offset : column;
  Value packed = layout.tokensOnLanes() ? column : offset;
  Value address = codeAddress(at.divide(onLanes, layout.lanes()),
                              at.divide(packed, layout.codesPerWord));
  Value lane = at.remainder(onLanes, layout.lanes());
  if (!layout.slotsApart())
    return {at.add(address, lane), slotShift(packed)};
  address = halvesAddress(address, at.remainder(packed, 2));
  return {at.add(address, at.divide(lane, 2)), slotShift(lane)};
}

Value Record::insert(Value code, Value old, Value shift) {
  const int64_t bits = 32 / layout.codesPerWord;
  Value ones = kv::splatInt(at.builder, at.loc, (int64_t(1) << bits) - 1,
                            code.getType());
  Value all = kv::splatInt(at.builder, at.loc, -1, code.getType());
  Value hole = arith::XOrIOp::create(
      at.builder, at.loc,
      arith::ShLIOp::create(at.builder, at.loc, ones, shift), all);
  Value kept = arith::AndIOp::create(at.builder, at.loc, old, hole);
  Value bitsOf = arith::AndIOp::create(at.builder, at.loc, code, ones);
  Value moved = arith::ShLIOp::create(at.builder, at.loc, bitsOf, shift);
  return arith::OrIOp::create(at.builder, at.loc, kept, moved);
}

Value Record::loadCode(CodePlace place) {
  Value word = loadWord(place.address);
  if (place.shift)
    word = arith::ShRUIOp::create(at.builder, at.loc, word, place.shift);
  return word;
}

void Record::putCode(Value code, CodePlace place) {
  if (place.shift)
    code = insert(code, loadWord(place.address), place.shift);
  storeWord(code, place.address);
}

Value Record::halvesAddress(Value address, Value slot) {
  return at.add(address, at.multiply(slot, layout.lanes() / 2));
}

Value Record::loadCodes(Value vector, Value packed) {
  Value address = codeAddress(vector, at.divide(packed, layout.codesPerWord));
  if (layout.slotsApart())
    return at.loadHalves(page, halvesAddress(address, at.remainder(packed, 2)));
  Value words = loadWords(address);
  if (Value shift = slotShift(packed))
    words =
        arith::ShRUIOp::create(at.builder, at.loc, words, at.broadcast(shift));
  return words;
}

void Record::putCodes(Value codes, Value vector, Value packed, Value mask) {
  Value address = codeAddress(vector, at.divide(packed, layout.codesPerWord));
  if (!layout.slotsApart()) {
    Value old = loadWords(address);
    if (Value shift = slotShift(packed))
      codes = insert(codes, old, at.broadcast(shift));
    return storeWords(at.select(mask, codes, old), address);
  }
  at.storeHalves(codes, page, halvesAddress(address, at.remainder(packed, 2)),
                 mask);
}

SlotWords Record::loadSlots(Value address) {
  if (!layout.slotsApart())
    return {loadWords(address)};
  return at.loadTwoHalves(page, address);
}

Value Record::decodeSlot(ArrayRef<Value> words, int64_t slot) {
  auto encoding = layout.stream.getEncoding();
  return layout.slotsApart()
             ? encoding.buildDecode(at.builder, at.loc, words[slot], 0)
             : encoding.buildDecode(at.builder, at.loc, words[0], slot);
}

void Record::lookAhead(Value page, Value words) {
  ahead = page;
  aheadWords = words;
}

void Record::prefetch(Value address) {
  if (!ahead)
    return;
  at.prefetch(ahead, at.add(address, aheadWords), wordStride());
}

Value Record::loadWords(Value address) {
  return at.load(page, ValueRange{address});
}
void Record::storeWords(Value words, Value address) {
  at.store(words, page, ValueRange{address});
}
Value Record::loadWord(Value address) {
  return at.loadScalar(page, ValueRange{address});
}
void Record::storeWord(Value word, Value address) {
  at.storeScalar(word, page, ValueRange{address});
}

kv::ScaleZero Record::loadPair(Value address, bool vector) {
  SmallVector<Value> words;
  for (unsigned i = 0; i < layout.stream.getEncoding().getPairWords(); ++i) {
    Value place = at.add(address, i * layout.pairPlane);
    words.push_back(vector ? loadWords(place) : loadWord(place));
  }
  return layout.stream.getEncoding().buildUnpackPair(at.builder, at.loc, words);
}

CenteredPair Record::loadCentered(Value address, bool vector) {
  kv::ScaleZero pair = loadPair(address, vector);
  Type type = pair.scale.getType();
  auto number = [&](double value) {
    return kv::splatFloat(at.builder, at.loc, value, type);
  };
  // The nearest code to zero; any whole number near it will do.
  const double top = std::ldexp(1.0, 32 / layout.codesPerWord) - 1;
  Value center = arith::DivFOp::create(
      at.builder, at.loc, at.subtractF(number(0.0), pair.zero), pair.scale);
  center = at.leastF(at.greatestF(center, number(0.0)), number(top));
  center = math::RoundEvenOp::create(at.builder, at.loc, center);
  Value rest =
      math::FmaOp::create(at.builder, at.loc, center, pair.scale, pair.zero);
  return {pair.scale, center, rest};
}

void Record::storePair(const kv::BuiltPair &pair, Value address, Value mask) {
  for (auto [i, word] : llvm::enumerate(pair.words)) {
    Value place = at.add(address, static_cast<int64_t>(i) * layout.pairPlane);
    if (mask)
      storeWords(at.select(mask, word, loadWords(place)), place);
    else
      storeWord(word, place);
  }
}

} // namespace kvc
