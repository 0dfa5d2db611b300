//===- Softcap.cpp - the score point: a bounded logit ---------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"
#include "dialect/KVNumbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace kvc::kv {

LogicalResult
SoftcapAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                    FloatAttr cap) {
  if (!cap.getType().isF64() || !(cap.getValueAsDouble() >= 1e-30) ||
      !(cap.getValueAsDouble() <= 1e30))
    return emitError() << "cap is an f64 of 1e-30 to 1e30, not " << cap;
  return success();
}

Attribute SoftcapAttr::fromRequest(MLIRContext *context,
                                   const ScoreRequest &request) {
  if (!request.softcap)
    return {};
  return SoftcapAttr::get(
      context, FloatAttr::get(Float64Type::get(context), *request.softcap));
}

double SoftcapAttr::logit(double dot, ScoreAt) const {
  const double cap = getCap().getValueAsDouble();
  return cap * std::tanh(dot / cap);
}

// With x = s / c, y = c tanh x and u = 2^-24, two ways that meet at |x| = 1:
//
//   |x| < 1:   y = s + s z H(z), z = x^2. H's polynomial is off by less than
//              2^-26.5 of y; its sum is rounded to u |y|, and z, the polynomial
//              and the product come to 5 u |s| z / 3 at most.
//   |x| >= 1:  y = c - 2 c t, t = e / (1 + e), e = exp(-2 |x|). exp (4 u), the
//              rounding of x (2 |x| u) and three roundings err by
//              c t (14 + 4 |x|) u, the sum by u |y|, c itself by u |y|.
//
// An error in s comes out smaller, by the slope 1 - tanh^2 x. What it loses,
// of the five roundings that Tolerance.h has for a single product, is
// 5 u |s| tanh^2 x: for |x| >= 1 more than the error above, below that all but
// the u |y| of one rounding, which is 0 where x is small (y = s).
Value SoftcapAttr::buildLogit(OpBuilder &builder, Location loc, Value dot,
                              ValueRange, Value) const {
  auto number = [&](double value) {
    return splatFloat(builder, loc, value, dot.getType());
  };
  auto fma = [&](Value a, Value b, Value c) -> Value {
    return math::FmaOp::create(builder, loc, a, b, c);
  };
  auto multiply = [&](Value a, Value b) -> Value {
    return arith::MulFOp::create(builder, loc, a, b);
  };
  auto divide = [&](Value a, Value b) -> Value {
    return arith::DivFOp::create(builder, loc, a, b);
  };
  auto less = [&](Value a, Value b) -> Value {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b);
  };
  Value cap = number(getCap().getValueAsDouble());
  Value x = math::AbsFOp::create(builder, loc, divide(dot, cap));
  // Beyond it tanh is 1 in f32, and x may be infinite.
  Value most = number(20.0);
  x = arith::SelectOp::create(builder, loc, less(x, most), x, most);

  Value z = multiply(x, x);
  Value h = number(-3.6252578883186337e-4);
  for (double term :
       {2.3154758358012173e-3, -7.96522765177262e-3, 2.149941111193441e-2,
        -5.3884107138935336e-2, 1.3332411453144216e-1, -3.333329889934026e-1})
    h = fma(h, z, number(term));
  Value inner = fma(dot, multiply(z, h), dot);

  Value e = buildExp(builder, loc, multiply(number(-2.0), x));
  Value one = number(1.0);
  Value t = divide(e, arith::AddFOp::create(builder, loc, one, e));
  Value outer = fma(multiply(number(-2.0), cap), t, cap);
  outer = math::CopySignOp::create(builder, loc, outer, dot);
  return arith::SelectOp::create(builder, loc, less(x, one), inner, outer);
}

} // namespace kvc::kv
