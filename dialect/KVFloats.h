//===- KVFloats.h - the float types: f32, f16, bf16 -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are computed in f32, and kept and handed over in one of three types.
// Both ways have two faces, as the points of an axis have: plain C++, and IR
// for scalars and vectors alike. The IR needs no library function on any
// target: bf16, which few processors know, is a matter of integers.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVFLOATS_H
#define KVC_DIALECT_KVFLOATS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <cstdint>

namespace kvc::kv {

/// Whether `type` is f32, f16 or bf16.
bool isFloatType(mlir::Type type);
/// The largest finite value of one of them.
float largestFinite(mlir::Type type);

/// The bits of `value` in `type`: rounded once, to nearest even, and within the
/// finite range. `saturated` goes up where the value, not yet rounded, lies
/// beyond it. Subnormal numbers and the sign of zero stay.
uint32_t narrow(float value, mlir::Type type, int64_t &saturated);
/// The same, rounded down or `up`: to the next value of `type` that is not
/// above, or not below.
uint32_t narrowDirected(float value, mlir::Type type, bool up,
                        int64_t &saturated);
/// What bits of `type` stand for, exactly.
float widen(uint32_t bits, mlir::Type type);

/// Builds `narrow` of an f32 value, as a value of `type`; `saturated`, where it
/// is not null, is set to an i32 of 0 or 1, or left empty where nothing can.
mlir::Value buildNarrow(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value, mlir::Type type,
                        mlir::Value *saturated = nullptr);
/// Builds `narrowDirected` likewise, as the bits: an i16 or i32. `saturated`
/// is always set: an infinite value lies beyond f32 too.
mlir::Value buildNarrowDirected(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value value, mlir::Type type, bool up,
                                mlir::Value &saturated);
/// Builds the f32 value of a value of one of the types.
mlir::Value buildWiden(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value);

} // namespace kvc::kv

#endif // KVC_DIALECT_KVFLOATS_H
