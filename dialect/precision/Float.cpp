//===- Float.cpp - the precision point: unquantised -----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace kvc::kv {

LogicalResult
FloatPrecisionAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                           Type type) {
  if (!type.isF32())
    return emitError() << "float planes are f32, not " << type
                       << ", which is not generated yet";
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
    block.codes.push_back(llvm::bit_cast<uint32_t>(value));
  return block;
}

double FloatPrecisionAttr::decode(uint32_t code, Pair) const {
  return llvm::bit_cast<float>(code);
}

float FloatPrecisionAttr::read(uint32_t code, Pair) const {
  return llvm::bit_cast<float>(code);
}

Value FloatPrecisionAttr::buildEncode(OpBuilder &builder, Location loc,
                                      Value value, ScaleZero,
                                      Value *saturated) const {
  if (saturated)
    *saturated = {}; // f32 holds every f32
  return arith::BitcastOp::create(
      builder, loc, shapedLike(builder.getI32Type(), value.getType()), value);
}

Value FloatPrecisionAttr::buildDecode(OpBuilder &builder, Location loc,
                                      Value word, unsigned) const {
  return arith::BitcastOp::create(
      builder, loc, shapedLike(builder.getF32Type(), word.getType()), word);
}

} // namespace kvc::kv
