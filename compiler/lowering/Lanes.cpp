//===- Lanes.cpp - arithmetic and loops on vectors of lanes ---------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lanes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

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

SmallVector<Value> Lanes::inStretches(Value from, Value to, int64_t length,
                                      ValueRange carried, size_t sums,
                                      Stretch part) {
  std::optional<int64_t> begin = getConstantIntValue(from);
  std::optional<int64_t> end = getConstantIntValue(to);
  const bool isKnown = begin && end;
  if (isKnown && *end - *begin <= length)
    return part(from, to, carried);
  // Many stretches would be a long chain themselves.
  if (isKnown && *end - *begin > length * ChainTerms)
    return inStretches(from, to, length * ChainTerms, carried, sums,
                       [&](Value first, Value last, ValueRange start) {
                         return inStretches(first, last, length, start, sums,
                                            part);
                       });
  const bool isWhole = isKnown && (*end - *begin) % length == 0;
  return loop(from, to, length, carried, [&](Value first, ValueRange carried) {
    SmallVector<Value> start(carried);
    for (Value &sum : MutableArrayRef(start).take_front(sums))
      sum = kv::splatFloat(builder, loc, 0.0, sum.getType());
    Value last = add(first, length);
    SmallVector<Value> next =
        part(first, isWhole ? last : least(last, to), start);
    for (size_t i = 0; i < sums; ++i)
      next[i] = addF(carried[i], next[i]);
    return next;
  });
}

void Lanes::lockstep(int64_t rows, int64_t step,
                     llvm::function_ref<void(Value, int64_t)> body) {
  const int64_t whole = rows / step * step;
  if (whole == step)
    body(index(0), step);
  else if (whole > step)
    loop(index(0), index(whole), step, {}, [&](Value first, ValueRange) {
      body(first, step);
      return SmallVector<Value>{};
    });
  if (whole < rows)
    body(index(whole), rows - whole);
}

Type Lanes::f32() { return form.of(builder.getF32Type()); }
Type Lanes::i32() { return form.of(builder.getI32Type()); }

Value Lanes::number(double value) {
  return kv::splatFloat(builder, loc, value, f32());
}
Value Lanes::broadcast(Value scalar) { return form.broadcast(*this, scalar); }
Value Lanes::broadcast(Factor factor) {
  if (!isa<VectorType>(factor.from.getType()))
    return broadcast(factor.from);
  const SmallVector<int64_t> everywhere(lanes, factor.element);
  return vector::ShuffleOp::create(builder, loc, factor.from, factor.from,
                                   everywhere);
}
Value Lanes::numbers() { return form.numbers(*this); }
Value Lanes::first(Value vector) { return form.first(*this, vector); }
Value Lanes::fma(Value a, Value b, Value c) { return form.fma(*this, a, b, c); }

Value Lanes::load(Value memref, ValueRange place) {
  return form.load(*this, memref, place);
}
void Lanes::store(Value vector, Value memref, ValueRange place) {
  form.store(*this, vector, memref, place);
}
Value Lanes::loadMasked(Value memref, ValueRange place, Value mask) {
  return form.loadMasked(*this, memref, place, mask);
}
void Lanes::storeMasked(Value vector, Value memref, ValueRange place,
                        Value mask) {
  form.storeMasked(*this, vector, memref, place, mask);
}
Value Lanes::loadScalar(Value memref, ValueRange place) {
  return memref::LoadOp::create(builder, loc, memref, place);
}
void Lanes::storeScalar(Value scalar, Value memref, ValueRange place) {
  form.storeScalar(*this, scalar, memref, place);
}
Value Lanes::loadHalves(Value words, Value address) {
  return form.loadHalves(*this, words, address);
}
SmallVector<Value> Lanes::loadTwoHalves(Value words, Value address) {
  return form.loadTwoHalves(*this, words, address);
}
SmallVector<Value> LaneForm::loadTwoHalves(Lanes &at, Value words,
                                           Value address) const {
  return {loadHalves(at, words, address),
          loadHalves(at, words, at.add(address, lanes / 2))};
}
void Lanes::storeHalves(Value vector, Value words, Value address, Value mask) {
  form.storeHalves(*this, vector, words, address, mask);
}
void Lanes::prefetch(Value words, Value address, int64_t count) {
  form.prefetch(*this, words, address, count);
}

Value Lanes::load(Value tile, Value row, Value column) {
  return load(tile, ValueRange{row, column});
}
void Lanes::store(Value vector, Value tile, Value row, Value column) {
  store(vector, tile, ValueRange{row, column});
}
Value Lanes::loadScalar(Value tile, Value row, Value column) {
  return loadScalar(tile, ValueRange{row, column});
}
void Lanes::storeScalar(Value scalar, Value tile, Value row, Value column) {
  storeScalar(scalar, tile, ValueRange{row, column});
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
  Value lane = numbers();
  Value above = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                      lane, broadcast(word(from)));
  Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      lane, broadcast(word(to)));
  return arith::AndIOp::create(builder, loc, above, below);
}

/// Halves of the lanes are combined until one is left: a tree, whose order is
/// part of the result, and the same whatever a lane is.
Value Lanes::reduce(Value vector,
                    llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t width = lanes / 2; width >= 1; width /= 2)
    vector = combine(vector, form.moved(*this, vector, width));
  return first(vector);
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
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  return form.allocate(*this, cast<MemRefType>(memref));
}

} // namespace kvc
