//===- Float.cpp - the precision point: unquantised -----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"
#include "dialect/KVFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kvc::kv {

LogicalResult
FloatPrecisionAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                           Type type) {
  if (!isFloatType(type))
    return emitError() << "float planes are f32, f16 or bf16, not " << type;
  return success();
}

Attribute FloatPrecisionAttr::fromRequest(MLIRContext *context,
                                          const PrecisionRequest &request) {
  if (!request.type)
    return {};
  return FloatPrecisionAttr::get(context, request.type);
}

unsigned FloatPrecisionAttr::getElementBits() const {
  return getType().getIntOrFloatBitWidth();
}

std::optional<ScaleBlock> FloatPrecisionAttr::getBlock(int64_t) const {
  return std::nullopt;
}

CodedBlock FloatPrecisionAttr::encode(ArrayRef<float> values) const {
  CodedBlock block;
  for (float value : values)
    block.codes.push_back(narrow(value, getType(), block.saturated));
  return block;
}

double FloatPrecisionAttr::decode(uint32_t code, Pair) const {
  return widen(code, getType());
}

float FloatPrecisionAttr::read(uint32_t code, Pair) const {
  return widen(code, getType());
}

Value FloatPrecisionAttr::buildEncode(OpBuilder &builder, Location loc,
                                      Value value, ScaleZero,
                                      Value *saturated) const {
  Value narrow = buildNarrow(builder, loc, value, getType(), saturated);
  Type i32 = shapedLike(builder.getI32Type(), value.getType());
  if (getElementBits() == 32)
    return arith::BitcastOp::create(builder, loc, i32, narrow);
  Value bits = arith::BitcastOp::create(
      builder, loc, shapedLike(builder.getI16Type(), i32), narrow);
  return arith::ExtUIOp::create(builder, loc, i32, bits);
}

Value FloatPrecisionAttr::buildDecode(OpBuilder &builder, Location loc,
                                      Value word, unsigned slot) const {
  Type i32 = word.getType();
  if (getElementBits() == 16) {
    if (slot)
      word = arith::ShRUIOp::create(builder, loc, word,
                                    splatInt(builder, loc, 16, i32));
    word = arith::TruncIOp::create(builder, loc,
                                   shapedLike(builder.getI16Type(), i32), word);
  }
  return buildWiden(
      builder, loc,
      arith::BitcastOp::create(builder, loc, shapedLike(getType(), i32), word));
}

} // namespace kvc::kv
