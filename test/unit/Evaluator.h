//===- Evaluator.h - what a point builds, evaluated -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a point of an axis builds is evaluated by folding, operation by
// operation, where all operands are constants.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_EVALUATOR_H
#define KVC_TEST_UNIT_EVALUATOR_H

#include "Check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

namespace kvc::test {

using namespace mlir;

/// The context of all that is evaluated.
inline MLIRContext *context;

/// A block to build in, and its values once all operands are constants.
struct Evaluator {
  Block block;
  OpBuilder builder;
  Location loc;
  DenseMap<Value, Attribute> known;

  Evaluator() : builder(context), loc(builder.getUnknownLoc()) {
    builder.setInsertionPointToEnd(&block);
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value number(float value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(value));
  }
  Value word(uint32_t value) {
    return arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }

  int64_t integer(Value value) {
    return cast<IntegerAttr>(evaluate(value)).getInt();
  }
  uint32_t bits(Value value) { return static_cast<uint32_t>(integer(value)); }
  float real(Value value) {
    return cast<FloatAttr>(evaluate(value)).getValue().convertToFloat();
  }

  Attribute evaluate(Value value) {
    if (Attribute attribute = known.lookup(value))
      return attribute;
    Operation *op = value.getDefiningOp();
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(evaluate(operand));
    // A rounding conversion is left alone by its folder.
    if (isa<arith::TruncFOp>(op)) {
      llvm::APFloat number = cast<FloatAttr>(operands[0]).getValue();
      bool loses;
      auto type = cast<FloatType>(value.getType());
      number.convert(type.getFloatSemantics(),
                     llvm::RoundingMode::NearestTiesToEven, &loses);
      return known[value] = FloatAttr::get(type, number);
    }
    // So is a fused operation.
    if (isa<math::FmaOp>(op)) {
      auto of = [&](int i) { return cast<FloatAttr>(operands[i]).getValue(); };
      llvm::APFloat number = of(0);
      number.fusedMultiplyAdd(of(1), of(2),
                              llvm::RoundingMode::NearestTiesToEven);
      return known[value] = FloatAttr::get(value.getType(), number);
    }
    SmallVector<OpFoldResult> results;
    if (!CHECK(succeeded(op->fold(operands, results)))) {
      op->dump();
      std::abort();
    }
    // In place: the operands changed.
    if (results.empty())
      return evaluate(value);
    OpFoldResult result = results[0];
    Attribute attribute = dyn_cast<Attribute>(result);
    if (!attribute)
      attribute = evaluate(cast<Value>(result));
    return known[value] = attribute;
  }
};

} // namespace kvc::test

#endif // KVC_TEST_UNIT_EVALUATOR_H
