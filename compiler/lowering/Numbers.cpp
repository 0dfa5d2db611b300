//===- Numbers.cpp - exp and log on vectors of lanes ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lanes.h"
#include "dialect/KVNumbers.h"

#include <cmath>

using namespace mlir;

namespace kvc {

Value Lanes::constantLike(double value, Value like) {
  return kv::splatFloat(builder, loc, value, like.getType());
}

Value Lanes::exp(Value x) { return kv::buildExp(builder, loc, x); }

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
