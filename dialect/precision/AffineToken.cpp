//===- AffineToken.cpp - codes, one scale a token -------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/precision/Affine.h"

using namespace mlir;

namespace kvc::kv {

LogicalResult
AffineTokenAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                        int64_t bits, int64_t group, int64_t flush,
                        int64_t residual, Type scales) {
  return affine::verify(emitError, bits, group, flush, residual, scales);
}

Attribute AffineTokenAttr::fromRequest(MLIRContext *context,
                                       const PrecisionRequest &request) {
  if (request.type || request.per != "token")
    return {};
  return AffineTokenAttr::get(context, request.bits, request.group,
                              request.flush, request.residual, request.scales);
}

unsigned AffineTokenAttr::getElementBits() const { return getBits(); }

std::optional<ScaleBlock> AffineTokenAttr::getBlock(int64_t dim) const {
  return ScaleBlock{1, std::min(getGroup(), dim)};
}

bool AffineTokenAttr::keepsOriginals() const { return true; }

int64_t AffineTokenAttr::codedTokens(int64_t tokens) const {
  return affine::codedTokens(tokens, getFlush(), getResidual());
}

int64_t AffineTokenAttr::mostOriginals() const {
  return getResidual() + getFlush();
}

CodedBlock AffineTokenAttr::encode(ArrayRef<float> values) const {
  return affine::encode(values, getBits());
}

double AffineTokenAttr::decode(uint32_t code, Pair pair) const {
  return affine::decode(code, pair);
}

float AffineTokenAttr::read(uint32_t code, Pair pair) const {
  return affine::read(code, pair);
}

Value AffineTokenAttr::buildCodedTokens(OpBuilder &builder, Location loc,
                                        Value tokens) const {
  return affine::buildCodedTokens(builder, loc, tokens, getFlush(),
                                  getResidual());
}

BuiltPair AffineTokenAttr::buildPair(OpBuilder &builder, Location loc,
                                     Value least, Value greatest) const {
  return affine::buildPair(builder, loc, least, greatest, getBits());
}

ScaleZero AffineTokenAttr::buildUnpackPair(OpBuilder &builder, Location loc,
                                           ValueRange words) const {
  return affine::buildUnpackPair(builder, loc, words.front());
}

Value AffineTokenAttr::buildEncode(OpBuilder &builder, Location loc,
                                   Value value, ScaleZero pair,
                                   Value *saturated) const {
  if (saturated)
    *saturated = {}; // clamped codes do not count
  return affine::buildEncode(builder, loc, value, pair, getBits());
}

Value AffineTokenAttr::buildDecode(OpBuilder &builder, Location loc, Value word,
                                   unsigned slot) const {
  return affine::buildDecode(builder, loc, word, slot, getBits());
}

} // namespace kvc::kv
