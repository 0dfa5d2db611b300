//===- KVInterfaces.cpp - what a point of an axis answers -----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace kvc::kv {

void missingBuilder(StringRef method, Attribute precision) {
  std::string text;
  llvm::raw_string_ostream(text)
      << precision << " has scales and does not define " << method;
  llvm::report_fatal_error(StringRef(text), /*gen_crash_diag=*/false);
}

Type shapedLike(Type element, Type like) {
  if (auto vector = dyn_cast<VectorType>(like))
    return VectorType::get(vector.getShape(), element);
  return element;
}

/// `value` as a constant of `type`: itself, or a splat of it.
static Value constantOf(OpBuilder &builder, Location loc, TypedAttr value,
                        Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, value);
  return arith::ConstantOp::create(builder, loc, value);
}

Value splatFloat(OpBuilder &builder, Location loc, double value, Type like) {
  return constantOf(builder, loc,
                    builder.getFloatAttr(getElementTypeOrSelf(like), value),
                    like);
}

Value splatInt(OpBuilder &builder, Location loc, int64_t value, Type like) {
  return constantOf(builder, loc,
                    builder.getIntegerAttr(getElementTypeOrSelf(like), value),
                    like);
}

} // namespace kvc::kv

#include "dialect/KVAttrInterfaces.cpp.inc"
