//===- Alibi.cpp - the score point: less by distance ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kvc::kv {

LogicalResult
AlibiAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  DenseF64ArrayAttr slopes) {
  // Times a distance below 2^31 it stays far below f32's largest number.
  for (double slope : slopes.asArrayRef())
    if (!(slope >= 0) || !(slope <= 1e28))
      return emitError() << "a slope is 0 to 1e28, not " << slope;
  if (slopes.empty())
    return emitError() << "there is one slope a query head, not none";
  return success();
}

Attribute AlibiAttr::fromRequest(MLIRContext *context,
                                 const ScoreRequest &request) {
  if (request.alibiSlopes.empty())
    return {};
  return AlibiAttr::get(context,
                        DenseF64ArrayAttr::get(context, request.alibiSlopes));
}

// Distances count up to 2^31 - 1, which kernels keep them in.
double AlibiAttr::logit(double dot, ScoreAt at) const {
  return dot - getSlopes()[at.head] * static_cast<double>(std::min<int64_t>(
                                          at.distance, INT32_MAX));
}

double AlibiAttr::getSteepestFall() const {
  return *llvm::max_element(getSlopes().asArrayRef());
}

/// Each slope as an f32 and what that lacks.
HeadNumbers AlibiAttr::getHeadNumbers() const {
  HeadNumbers numbers;
  for (double slope : getSlopes().asArrayRef()) {
    const double high = static_cast<float>(slope);
    numbers.push_back({high, slope - high});
  }
  return numbers;
}

// slope * distance may be large beside its difference to s, which is what
// counts: so slope and distance are taken in two parts each, the error of their
// large product is computed exactly, and so is that of the difference (Ogita,
// Rump and Oishi 2005, TwoProduct and TwoSum). What is left is one rounding of
// the result.
Value AlibiAttr::buildLogit(OpBuilder &builder, Location loc, Value dot,
                            ValueRange numbers, Value distance) const {
  auto fma = [&](Value a, Value b, Value c) -> Value {
    return math::FmaOp::create(builder, loc, a, b, c);
  };
  auto minus = [&](Value a, Value b) -> Value {
    return arith::SubFOp::create(builder, loc, a, b);
  };
  auto real = [&](Value integer) -> Value {
    return arith::SIToFPOp::create(builder, loc, dot.getType(), integer);
  };
  Value slope = numbers[0], rest = numbers[1];
  // Up to the largest f32 below 2^31, so that it goes back to an integer.
  Value most = splatInt(builder, loc, 2147483520, distance.getType());
  Value far = real(arith::MinSIOp::create(builder, loc, distance, most));
  Value whole = arith::FPToSIOp::create(builder, loc, distance.getType(), far);
  Value near = real(arith::SubIOp::create(builder, loc, distance, whole));

  Value product = arith::MulFOp::create(builder, loc, slope, far);
  Value negated = arith::NegFOp::create(builder, loc, product);
  Value productError = fma(slope, far, negated);
  Value logit = minus(dot, product);
  Value part = minus(logit, dot);
  Value error = minus(minus(dot, minus(logit, part)),
                      arith::AddFOp::create(builder, loc, product, part));
  Value small =
      fma(slope, near, arith::MulFOp::create(builder, loc, rest, far));
  small = arith::AddFOp::create(builder, loc, small, productError);
  return arith::AddFOp::create(builder, loc, logit, minus(error, small));
}

} // namespace kvc::kv
