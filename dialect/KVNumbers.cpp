//===- KVNumbers.cpp - functions of numbers, in IR ------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVNumbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kvc::kv {

/// Cody and Waite's reduction with ln 2 in two parts, then a polynomial: x = n
/// ln 2 + r, |r| <= ln 2 / 2. The degree-6 Taylor series of exp is off by less
/// than 2^-22.9 there, and r is within 2^-24.
Value buildExp(OpBuilder &builder, Location loc, Value x) {
  auto number = [&](double value) {
    return splatFloat(builder, loc, value, x.getType());
  };
  auto fma = [&](Value a, Value b, Value c) -> Value {
    return math::FmaOp::create(builder, loc, a, b, c);
  };
  Type i32 = shapedLike(builder.getI32Type(), x.getType());
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
  Value magic = number(12582912.0);
  Value shifted = fma(x, number(1.44269504088896341), magic);
  Value n = arith::SubFOp::create(builder, loc, shifted, magic);
  Value r = fma(n, number(-0.693359375), x);
  r = fma(n, number(2.12194440054690583e-4), r);
  Value p = number(1.0 / 720);
  for (double term : {1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0})
    p = fma(p, r, number(term));
  // 2^n by its exponent; n >= -126 where the result is kept.
  Value bits = arith::BitcastOp::create(builder, loc, i32, shifted);
  bits = arith::ShLIOp::create(builder, loc, bits,
                               splatInt(builder, loc, 23, i32));
  bits = arith::AddIOp::create(builder, loc, bits,
                               splatInt(builder, loc, 0x3f800000, i32));
  Value power = arith::BitcastOp::create(builder, loc, x.getType(), bits);
  Value result = arith::MulFOp::create(builder, loc, p, power);
  Value tiny = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x,
                                     number(-87.0));
  return arith::SelectOp::create(builder, loc, tiny, number(0.0), result);
}

} // namespace kvc::kv
