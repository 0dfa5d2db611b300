//===- Numbers.cpp - exp and log on vectors of lanes ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lanes.h"

#include <cmath>

using namespace mlir;

namespace kvc {

Value Lanes::constantLike(double value, Value like) {
  return kv::splatFloat(builder, loc, value, like.getType());
}

/// Cody and Waite's reduction with ln 2 in two parts, then a polynomial: x = n
/// ln 2 + r, |r| <= ln 2 / 2. The degree-6 Taylor series of exp is off by less
/// than 2^-22.9 there, and r is within 2^-24.
Value Lanes::exp(Value x) {
  auto number = [&](double value) { return constantLike(value, x); };
  Type i32 = kv::shapedLike(builder.getI32Type(), x.getType());
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
                               kv::splatInt(builder, loc, 23, i32));
  Value one = kv::splatInt(builder, loc, 0x3f800000, i32);
  bits = arith::AddIOp::create(builder, loc, bits, one);
  Value power = arith::BitcastOp::create(builder, loc, x.getType(), bits);
  Value result = multiplyF(p, power);
  Value tiny = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x,
                                     number(-87.0));
  return select(tiny, number(0.0), result);
}

/// x = 2^n m, m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh(s), s = (m - 1) /
/// (m + 1), |s| <= 0.1716: the series up to s^9 is off by less than 2^-28.
Value Lanes::log(Value x) {
  auto number = [&](double value) { return constantLike(value, x); };
  Type i32 = kv::shapedLike(builder.getI32Type(), x.getType());
  auto integer = [&](int64_t value) {
    return kv::splatInt(builder, loc, value, i32);
  };
  Value bits = arith::BitcastOp::create(builder, loc, i32, x);
  // Counting from sqrt(1/2) puts m into its range.
  Value above = arith::SubIOp::create(builder, loc, bits, integer(0x3f3504f3));
  Value n = arith::ShRSIOp::create(builder, loc, above, integer(23));
  Value exponent = arith::ShLIOp::create(builder, loc, n, integer(23));
  Value mantissa = arith::SubIOp::create(builder, loc, bits, exponent);
  Value m = arith::BitcastOp::create(builder, loc, x.getType(), mantissa);
  Value power = arith::SIToFPOp::create(builder, loc, x.getType(), n);
  Value s = arith::DivFOp::create(
      builder, loc, arith::SubFOp::create(builder, loc, m, number(1.0)),
      addF(m, number(1.0)));
  Value square = multiplyF(s, s);
  Value p = number(2.0 / 9);
  for (double term : {2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0})
    p = addF(multiplyF(p, square), number(term));
  Value low = multiplyF(p, s);
  return addF(multiplyF(power, number(0.693147180559945309)), low);
}

} // namespace kvc
