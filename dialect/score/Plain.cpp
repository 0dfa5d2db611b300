//===- Plain.cpp - the score point: a scale alone -------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;

namespace kvc::kv {

LogicalResult
PlainAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  FloatAttr scale) {
  if (!scale.getType().isF64() || !std::isfinite(scale.getValueAsDouble()))
    return emitError() << "scale is a finite f64, not " << scale;
  return success();
}

Attribute PlainAttr::fromRequest(MLIRContext *context,
                                 const ScoreRequest &request) {
  return PlainAttr::get(
      context, FloatAttr::get(Float64Type::get(context), request.scale));
}

double PlainAttr::logit(double dot, ScoreAt) const {
  return dot * getScale().getValueAsDouble();
}

std::optional<double> PlainAttr::getQueryFactor() const {
  return getScale().getValueAsDouble();
}

Value PlainAttr::buildLogit(OpBuilder &builder, Location loc, Value dot,
                            ValueRange, Value) const {
  return arith::MulFOp::create(
      builder, loc, dot,
      splatFloat(builder, loc, getScale().getValueAsDouble(), dot.getType()));
}

} // namespace kvc::kv
