//===- KVFloats.cpp - the float types: f32, f16, bf16 ---------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVFloats.h"
#include "dialect/KVInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace mlir;
using llvm::APFloat;

namespace kvc::kv {

bool isFloatType(Type type) {
  return type.isF32() || type.isF16() || type.isBF16();
}

static const llvm::fltSemantics &semanticsOf(Type type) {
  return cast<FloatType>(type).getFloatSemantics();
}

float largestFinite(Type type) {
  APFloat largest = APFloat::getLargest(semanticsOf(type));
  bool loses;
  largest.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
  return largest.convertToFloat();
}

//===----------------------------------------------------------------------===//
// Definition
//===----------------------------------------------------------------------===//

static uint32_t narrow(float value, Type type, llvm::RoundingMode mode,
                       int64_t &saturated) {
  if (const float largest = largestFinite(type); std::fabs(value) > largest) {
    ++saturated;
    value = std::copysign(largest, value);
  }
  APFloat number(value);
  bool loses;
  number.convert(semanticsOf(type), mode, &loses);
  return static_cast<uint32_t>(number.bitcastToAPInt().getZExtValue());
}

uint32_t narrow(float value, Type type, int64_t &saturated) {
  return narrow(value, type, APFloat::rmNearestTiesToEven, saturated);
}

uint32_t narrowDirected(float value, Type type, bool up, int64_t &saturated) {
  return narrow(value, type,
                up ? APFloat::rmTowardPositive : APFloat::rmTowardNegative,
                saturated);
}

float widen(uint32_t bits, Type type) {
  const unsigned width = type.getIntOrFloatBitWidth();
  APFloat number(semanticsOf(type),
                 llvm::APInt(width, bits, false, /*implicitTrunc=*/true));
  bool loses;
  number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
  return number.convertToFloat();
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

namespace {
/// Builds on values of the shape of `like`.
struct Shaped {
  OpBuilder &builder;
  Location loc;
  Type like;

  Type of(Type element) { return shapedLike(element, like); }
  Type f32() { return of(builder.getF32Type()); }
  Type i32() { return of(builder.getI32Type()); }
  Type i16() { return of(builder.getI16Type()); }
  Value number(double value) { return splatFloat(builder, loc, value, f32()); }
  Value integer(int64_t value) { return splatInt(builder, loc, value, i32()); }
  Value bitcast(Value value, Type type) {
    return arith::BitcastOp::create(builder, loc, type, value);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
};
} // namespace

/// The upper half of the f32's bits, and one more where the lower half is more
/// than half of a unit, or half of one and the upper half is odd. A carry runs
/// into the exponent by itself.
static Value narrowToBF16(Shaped &at, Value value) {
  OpBuilder &b = at.builder;
  Value bits = at.bitcast(value, at.i32());
  Value odd = arith::ShRUIOp::create(b, at.loc, bits, at.integer(16));
  odd = arith::AndIOp::create(b, at.loc, odd, at.integer(1));
  Value sum = arith::AddIOp::create(b, at.loc, bits, at.integer(0x7fff));
  sum = arith::AddIOp::create(b, at.loc, sum, odd);
  Value upper = arith::ShRUIOp::create(b, at.loc, sum, at.integer(16));
  upper = arith::TruncIOp::create(b, at.loc, at.i16(), upper);
  return at.bitcast(upper, at.of(b.getBF16Type()));
}

/// Brings `value` into the finite range of `type`. `saturated`, where it is not
/// null, is set to an i32 of 0 or 1.
static Value saturate(Shaped &at, Value value, Type type, Value *saturated) {
  Value high = at.number(largestFinite(type)),
        low = at.number(-largestFinite(type));
  Value above = at.compare(arith::CmpFPredicate::OGT, value, high);
  Value below = at.compare(arith::CmpFPredicate::OLT, value, low);
  if (saturated)
    *saturated = arith::ExtUIOp::create(
        at.builder, at.loc, at.i32(),
        arith::OrIOp::create(at.builder, at.loc, above, below));
  return at.select(below, low, at.select(above, high, value));
}

Value buildNarrow(OpBuilder &builder, Location loc, Value value, Type type,
                  Value *saturated) {
  if (saturated)
    *saturated = {};
  if (type.isF32())
    return value;
  Shaped at{builder, loc, value.getType()};
  value = saturate(at, value, type, saturated);
  if (type.isBF16())
    return narrowToBF16(at, value);
  return arith::TruncFOp::create(builder, loc, at.of(type), value);
}

/// The upper half of the f32's bits is `value` rounded towards zero; magnitudes
/// count like integers, so that + 1 is the next one away from it.
static Value directedBF16(Shaped &at, Value value, bool up) {
  OpBuilder &b = at.builder;
  Value bits = at.bitcast(value, at.i32());
  Value lost = arith::AndIOp::create(b, at.loc, bits, at.integer(0xffff));
  Value inexact = arith::CmpIOp::create(b, at.loc, arith::CmpIPredicate::ne,
                                        lost, at.integer(0));
  Value outwards = arith::CmpIOp::create(
      b, at.loc, up ? arith::CmpIPredicate::sge : arith::CmpIPredicate::slt,
      bits, at.integer(0));
  Value upper = arith::ShRUIOp::create(b, at.loc, bits, at.integer(16));
  upper = arith::TruncIOp::create(b, at.loc, at.i16(), upper);
  Value one = arith::ExtUIOp::create(
      b, at.loc, at.i16(), arith::AndIOp::create(b, at.loc, inexact, outwards));
  return arith::AddIOp::create(b, at.loc, upper, one);
}

/// The nearest f16, or its neighbour where that is on the wrong side.
static Value directedF16(Shaped &at, Value value, bool up) {
  OpBuilder &b = at.builder;
  Value nearest =
      arith::TruncFOp::create(b, at.loc, at.of(b.getF16Type()), value);
  Value back = arith::ExtFOp::create(b, at.loc, at.f32(), nearest);
  Value wrong = at.compare(
      up ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT, back, value);
  Value bits = at.bitcast(nearest, at.i16());
  // Magnitudes count like integers: outwards is + 1, inwards - 1.
  Value zero = splatInt(b, at.loc, 0, at.i16());
  Value negative =
      arith::CmpIOp::create(b, at.loc, arith::CmpIPredicate::slt, bits, zero);
  Value one = splatInt(b, at.loc, 1, at.i16()),
        minus = splatInt(b, at.loc, -1, at.i16());
  Value move =
      up ? at.select(negative, minus, one) : at.select(negative, one, minus);
  return at.select(wrong, arith::AddIOp::create(b, at.loc, bits, move), bits);
}

Value buildNarrowDirected(OpBuilder &builder, Location loc, Value value,
                          Type type, bool up, Value &saturated) {
  Shaped at{builder, loc, value.getType()};
  value = saturate(at, value, type, &saturated);
  if (type.isF32())
    return at.bitcast(value, at.i32());
  return type.isBF16() ? directedBF16(at, value, up)
                       : directedF16(at, value, up);
}

Value buildWiden(OpBuilder &builder, Location loc, Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  if (type.isF32())
    return value;
  Shaped at{builder, loc, value.getType()};
  if (!type.isBF16())
    return arith::ExtFOp::create(builder, loc, at.f32(), value);
  Value bits = arith::ExtUIOp::create(builder, loc, at.i32(),
                                      at.bitcast(value, at.i16()));
  bits = arith::ShLIOp::create(builder, loc, bits, at.integer(16));
  return at.bitcast(bits, at.f32());
}

} // namespace kvc::kv
