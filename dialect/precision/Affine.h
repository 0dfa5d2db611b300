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

/// Checks what the affine points have in common.
llvm::LogicalResult
verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, int64_t bits,
       int64_t group, int64_t flush, int64_t residual, mlir::Type scales);

/// The first flush * floor(max(0, tokens - residual) / flush) tokens are codes.
int64_t codedTokens(int64_t tokens, int64_t flush, int64_t residual);
mlir::Value buildCodedTokens(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value tokens, int64_t flush,
                             int64_t residual);

CodedBlock encode(llvm::ArrayRef<float> values, int64_t bits);
double decode(uint32_t code, Pair pair);
float read(uint32_t code, Pair pair);

/// A pair is one word: the f16 scale in its low half, the f16 zero above.
BuiltPair buildPair(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value least, mlir::Value greatest, int64_t bits);
ScaleZero buildUnpackPair(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value word);
mlir::Value buildEncode(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value, ScaleZero pair, int64_t bits);
mlir::Value buildDecode(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value word, unsigned slot, int64_t bits);

} // namespace kvc::kv::affine

#endif // KVC_DIALECT_PRECISION_AFFINE_H
