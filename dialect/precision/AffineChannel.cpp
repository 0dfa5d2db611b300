//===- AffineChannel.cpp - codes, one scale a channel ---------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/precision/Affine.h"

using namespace mlir;

namespace kvc::kv {

LogicalResult
AffineChannelAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                          int64_t bits, int64_t group, int64_t flush,
                          int64_t residual, Type scales) {
  if (group > 0 && flush % group != 0)
    return emitError() << "flush is " << flush
                       << ", which is not a multiple of group " << group;
  return affine::verify(emitError, bits, group, flush, residual, scales);
}

Attribute AffineChannelAttr::fromRequest(MLIRContext *context,
                                         const PrecisionRequest &request) {
  if (request.type || request.per != "channel")
    return {};
  return AffineChannelAttr::get(context, request.bits, request.group,
                                request.flush, request.residual,
                                request.scales);
}

unsigned AffineChannelAttr::getElementBits() const { return getBits(); }

std::optional<ScaleBlock> AffineChannelAttr::getBlock(int64_t dim) const {
  return ScaleBlock{getGroup(), 1};
}

bool AffineChannelAttr::keepsOriginals() const { return true; }

int64_t AffineChannelAttr::codedTokens(int64_t tokens) const {
  return affine::codedTokens(tokens, getFlush(), getResidual());
}

int64_t AffineChannelAttr::mostOriginals() const {
  return getResidual() + getFlush();
}

CodedBlock AffineChannelAttr::encode(ArrayRef<float> values) const {
  return affine::encode(values, getBits());
}

double AffineChannelAttr::decode(uint32_t code, Pair pair) const {
  return affine::decode(code, pair);
}

float AffineChannelAttr::read(uint32_t code, Pair pair) const {
  return affine::read(code, pair);
}

Value AffineChannelAttr::buildCodedTokens(OpBuilder &builder, Location loc,
                                          Value tokens) const {
  return affine::buildCodedTokens(builder, loc, tokens, getFlush(),
                                  getResidual());
}

BuiltPair AffineChannelAttr::buildPair(OpBuilder &builder, Location loc,
                                       Value least, Value greatest) const {
  return affine::buildPair(builder, loc, least, greatest, getBits());
}

ScaleZero AffineChannelAttr::buildUnpackPair(OpBuilder &builder, Location loc,
                                             ValueRange words) const {
  return affine::buildUnpackPair(builder, loc, words.front());
}

Value AffineChannelAttr::buildEncode(OpBuilder &builder, Location loc,
                                     Value value, ScaleZero pair,
                                     Value *saturated) const {
  if (saturated)
    *saturated = {}; // clamped codes do not count
  return affine::buildEncode(builder, loc, value, pair, getBits());
}

Value AffineChannelAttr::buildDecode(OpBuilder &builder, Location loc,
                                     Value word, unsigned slot) const {
  return affine::buildDecode(builder, loc, word, slot, getBits());
}

} // namespace kvc::kv
