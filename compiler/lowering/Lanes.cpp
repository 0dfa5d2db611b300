//===- Lanes.cpp - cpp ----------------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/lowering/Lanes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <cmath>

using namespace mlir;

namespace kvc {

Value Lanes::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value Lanes::add(Value a, Value b) {
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}
Value Lanes::subtract(Value a, Value b) {
  return builder.createOrFold<arith::SubIOp>(loc, a, b);
}
Value Lanes::multiply(Value a, int64_t b) { return multiply(a, index(b)); }
Value Lanes::multiply(Value a, Value b) {
  return builder.createOrFold<arith::MulIOp>(loc, a, b);
}
Value Lanes::divide(Value a, int64_t b) {
  return builder.createOrFold<arith::DivUIOp>(loc, a, index(b));
}
Value Lanes::remainder(Value a, int64_t b) {
  return builder.createOrFold<arith::RemUIOp>(loc, a, index(b));
}
Value Lanes::least(Value a, Value b) {
  return builder.createOrFold<arith::MinSIOp>(loc, a, b);
}
Value Lanes::greatest(Value a, Value b) {
  return builder.createOrFold<arith::MaxSIOp>(loc, a, b);
}
Value Lanes::less(Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, a,
                                             b);
}
Value Lanes::word(Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
}

SmallVector<Value> Lanes::loop(Value from, Value to, ValueRange carried,
                               Body body) {
  return loop(from, to, 1, carried, body);
}

SmallVector<Value> Lanes::loop(Value from, Value to, int64_t step,
                               ValueRange carried, Body body) {
  auto op = scf::ForOp::create(builder, loc, from, to, index(step), carried);
  OpBuilder::InsertionGuard guard(builder);
  // A loop that carries nothing is born with its terminator.
  builder.setInsertionPointToStart(op.getBody());
  SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(op.getResults().begin(), op.getResults().end());
}

Type Lanes::f32() { return VectorType::get({lanes}, builder.getF32Type()); }
Type Lanes::i32() { return VectorType::get({lanes}, builder.getI32Type()); }

Value Lanes::number(double value) {
  return kv::splatFloat(builder, loc, value, f32());
}
Value Lanes::broadcast(Value scalar) {
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get({lanes}, scalar.getType()), scalar);
}
Value Lanes::load(Value tile, Value row, Value column) {
  return vector::LoadOp::create(builder, loc, cast<VectorType>(f32()), tile,
                                ValueRange{row, column});
}
void Lanes::store(Value vector, Value tile, Value row, Value column) {
  vector::StoreOp::create(builder, loc, vector, tile, ValueRange{row, column});
}
Value Lanes::loadScalar(Value tile, Value row, Value column) {
  return memref::LoadOp::create(builder, loc, tile, ValueRange{row, column});
}
void Lanes::storeScalar(Value scalar, Value tile, Value row, Value column) {
  memref::StoreOp::create(builder, loc, scalar, tile, ValueRange{row, column});
}
Value Lanes::fma(Value a, Value b, Value c) {
  return vector::FMAOp::create(builder, loc, a, b, c);
}
Value Lanes::addF(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b);
}
Value Lanes::subtractF(Value a, Value b) {
  return arith::SubFOp::create(builder, loc, a, b);
}
Value Lanes::multiplyF(Value a, Value b) {
  return arith::MulFOp::create(builder, loc, a, b);
}
Value Lanes::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}
// Nothing stored or computed here is NaN, so a comparison decides.
Value Lanes::greatestF(Value a, Value b) {
  return select(
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, a, b), a,
      b);
}
Value Lanes::leastF(Value a, Value b) {
  return select(
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b), a,
      b);
}

Value Lanes::between(Value from, Value to) {
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(static_cast<int32_t>(lane));
  Value lane = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(cast<VectorType>(i32()),
                             ArrayRef<int32_t>(numbers)));
  Value above = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                      lane, broadcast(word(from)));
  Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      lane, broadcast(word(to)));
  return arith::AndIOp::create(builder, loc, above, below);
}

/// Halves of the vector are combined until one lane is left: a tree, whose
/// order is part of the result.
Value Lanes::reduce(Value vector,
                    llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t width = lanes / 2; width >= 1; width /= 2) {
    SmallVector<int64_t> upper;
    for (int64_t lane = 0; lane < lanes; ++lane)
      upper.push_back((lane + width) % lanes);
    Value moved = vector::ShuffleOp::create(builder, loc, vector, vector, upper);
    vector = combine(vector, moved);
  }
  return vector::ExtractOp::create(builder, loc, vector, 0);
}

Value Lanes::sum(Value vector) {
  return reduce(vector, [&](Value a, Value b) { return addF(a, b); });
}
Value Lanes::greatestOf(Value vector) {
  return reduce(vector, [&](Value a, Value b) { return greatestF(a, b); });
}
Value Lanes::leastOf(Value vector) {
  return reduce(vector, [&](Value a, Value b) { return leastF(a, b); });
}

Value Lanes::allocate(Type memref) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *op = builder.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    function = op->getParentOfType<func::FuncOp>();
  builder.setInsertionPointToStart(&function.getBody().front());
  return memref::AllocaOp::create(builder, loc, cast<MemRefType>(memref),
                                  builder.getI64IntegerAttr(64));
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

Record::Record(Lanes &lanes, Value page, kv::PageType type, Value head)
    : at(lanes), page(page), layout(type.getStream()),
      base(lanes.multiply(head, layout.recordWords)) {}

Value Record::offsetOf(Value token) {
  Value offset =
      at.subtract(token, at.index(layout.stream.getOrigin()));
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
    address = at.add(at.multiply(pairChannel, layout.layout.getTokens()),
                     offset);
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
  return at.word(
      at.multiply(at.remainder(packed, layout.codesPerWord), bits));
}

CodePlace Record::placeOf(Value offset, Value channel) {
  const int64_t block = layout.layout.getBlock();
  Value column =
      at.add(at.multiply(at.divide(channel, block), layout.blockColumns),
             at.remainder(channel, block));
  Value onLanes = layout.tokensOnLanes() ? offset : column;
  Value packed = layout.tokensOnLanes() ? column : offset;
  Value address = codeAddress(at.divide(onLanes, layout.lanes()),
                              at.divide(packed, layout.codesPerWord));
  address = at.add(address, at.remainder(onLanes, layout.lanes()));
  return {address, slotShift(packed)};
}

void Record::putCode(Value code, CodePlace place, Value mask) {
  Value word = code;
  Value old;
  if (place.shift || mask)
    old = mask ? loadWords(place.address) : loadWord(place.address);
  if (place.shift) {
    Value shift = mask ? at.broadcast(place.shift) : place.shift;
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
    word = arith::OrIOp::create(at.builder, at.loc, kept, moved);
  }
  if (!mask)
    return storeWord(word, place.address);
  storeWords(at.select(mask, word, old), place.address);
}

Value Record::loadWords(Value address) {
  return vector::LoadOp::create(at.builder, at.loc, cast<VectorType>(at.i32()),
                                page, ValueRange{address});
}
void Record::storeWords(Value words, Value address) {
  vector::StoreOp::create(at.builder, at.loc, words, page,
                          ValueRange{address});
}
Value Record::loadWord(Value address) {
  return memref::LoadOp::create(at.builder, at.loc, page,
                                ValueRange{address});
}
void Record::storeWord(Value word, Value address) {
  memref::StoreOp::create(at.builder, at.loc, word, page, ValueRange{address});
}

kv::ScaleZero Record::loadPair(Value address, bool vector) {
  SmallVector<Value> words;
  for (unsigned i = 0; i < layout.stream.getEncoding().getPairWords(); ++i) {
    Value place = at.add(address, i * layout.pairPlane);
    words.push_back(vector ? loadWords(place) : loadWord(place));
  }
  return layout.stream.getEncoding().buildUnpackPair(at.builder, at.loc,
                                                     words);
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
  Value rest = math::FmaOp::create(at.builder, at.loc, center, pair.scale,
                                   pair.zero);
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
