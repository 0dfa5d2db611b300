//===- Affine.h - what affine codes have in common --------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x' = code * scale + zero, code in 0 ... 2^bits - 1. Coding is fixed to the
// bit: IEEE f32, one rounding an operation, no fused multiply-add:
//
//   zero  = min, rounded down in the scale type
//   scale = max(eps, (max - zero) / (2^bits - 1)), rounded up in it,
//           eps its smallest normal number
//   code  = round_half_even(clamp((x - zero) / scale, 0, 2^bits - 1))
//
// -0 counts as +0 in min and max; zero and scale saturate at the scale type's
// largest finite value. docs/semantics.md, "Coding".
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_PRECISION_AFFINE_H
#define KVC_DIALECT_PRECISION_AFFINE_H

#include "dialect/KVAttributes.h"

namespace kvc::kv::affine {

/// Checks what the affine points have in common: codes, and where they have a
/// schedule, that.
llvm::LogicalResult
verifyCodes(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
            int64_t bits, mlir::Type scales);
llvm::LogicalResult
verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, int64_t bits,
       int64_t group, int64_t flush, int64_t residual, mlir::Type scales);

/// The first flush * floor(max(0, tokens - residual) / flush) tokens are codes.
int64_t codedTokens(int64_t tokens, int64_t flush, int64_t residual);
mlir::Value buildCodedTokens(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value tokens, int64_t flush,
                             int64_t residual);

/// Of scales of a float type.
double leastScale(mlir::Type scales);

CodedBlock encode(llvm::ArrayRef<float> values, int64_t bits,
                  mlir::Type scales);
double decode(uint32_t code, Pair pair);
float read(uint32_t code, Pair pair);

/// Words and bytes of a pair: a scale and a zero, side by side.
inline unsigned pairWords(mlir::Type scales) { return scales.isF32() ? 2 : 1; }
inline unsigned pairBytes(mlir::Type scales) {
  return 2 * scales.getIntOrFloatBitWidth() / 8;
}

/// A pair of f16 or bf16 is one word: the scale in its low half, the zero
/// above. One of f32 is two: the scale, then the zero.
BuiltPair buildPair(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value least, mlir::Value greatest, int64_t bits,
                    mlir::Type scales);
ScaleZero buildUnpackPair(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::ValueRange words, mlir::Type scales);
mlir::Value buildEncode(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value, ScaleZero pair, int64_t bits);
mlir::Value buildDecode(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value word, unsigned slot, int64_t bits);

/// The point that `request` asks for, where its groups lie along `per`.
template <typename Point>
mlir::Attribute fromRequest(mlir::MLIRContext *context,
                            const PrecisionRequest &request,
                            llvm::StringRef per) {
  if (request.type || request.groupAll || request.per != per)
    return {};
  return Point::get(context, request.bits, request.group, request.flush,
                    request.residual, request.scales);
}

} // namespace kvc::kv::affine

/// Defines what all affine points answer alike of a code and its pair.
#define KVC_DEFINE_AFFINE_CODES(Point)                                         \
  unsigned Point::getElementBits() const { return getBits(); }                 \
  unsigned Point::getPairWords() const {                                       \
    return affine::pairWords(getScales());                                     \
  }                                                                            \
  unsigned Point::getPairBytes() const {                                       \
    return affine::pairBytes(getScales());                                     \
  }                                                                            \
  mlir::Type Point::getPairType() const { return getScales(); }                \
  bool Point::keepsOriginals() const { return true; }                          \
  bool Point::codesAreNumbers() const { return true; }                         \
  double Point::getLeastScale() const {                                        \
    return affine::leastScale(getScales());                                    \
  }                                                                            \
  CodedBlock Point::encode(llvm::ArrayRef<float> values) const {               \
    return affine::encode(values, getBits(), getScales());                     \
  }                                                                            \
  double Point::decode(uint32_t code, Pair pair) const {                       \
    return affine::decode(code, pair);                                         \
  }                                                                            \
  float Point::read(uint32_t code, Pair pair) const {                          \
    return affine::read(code, pair);                                           \
  }                                                                            \
  BuiltPair Point::buildPair(mlir::OpBuilder &builder, mlir::Location loc,     \
                             mlir::Value least, mlir::Value greatest) const {  \
    return affine::buildPair(builder, loc, least, greatest, getBits(),         \
                             getScales());                                     \
  }                                                                            \
  ScaleZero Point::buildUnpackPair(mlir::OpBuilder &builder,                   \
                                   mlir::Location loc, mlir::ValueRange words) \
      const {                                                                  \
    return affine::buildUnpackPair(builder, loc, words, getScales());          \
  }                                                                            \
  mlir::Value Point::buildEncode(mlir::OpBuilder &builder, mlir::Location loc, \
                                 mlir::Value value, ScaleZero pair,            \
                                 mlir::Value *saturated) const {               \
    if (saturated)                                                             \
      *saturated = {}; /* clamped codes do not count */                        \
    return affine::buildEncode(builder, loc, value, pair, getBits());          \
  }                                                                            \
  mlir::Value Point::buildDecode(mlir::OpBuilder &builder, mlir::Location loc, \
                                 mlir::Value word, unsigned slot) const {      \
    return affine::buildDecode(builder, loc, word, slot, getBits());           \
  }

/// And of when a token is coded. What is left to a point is its block, and
/// which parameters go together.
#define KVC_DEFINE_AFFINE_POINT(Point)                                         \
  KVC_DEFINE_AFFINE_CODES(Point)                                               \
  int64_t Point::codedTokens(int64_t tokens) const {                           \
    return affine::codedTokens(tokens, getFlush(), getResidual());             \
  }                                                                            \
  int64_t Point::mostOriginals() const { return getResidual() + getFlush(); }  \
  mlir::Value Point::buildCodedTokens(mlir::OpBuilder &builder,                \
                                      mlir::Location loc, mlir::Value tokens)  \
      const {                                                                  \
    return affine::buildCodedTokens(builder, loc, tokens, getFlush(),          \
                                    getResidual());                            \
  }

#endif // KVC_DIALECT_PRECISION_AFFINE_H
