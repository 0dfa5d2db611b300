//===- KVNumbers.h - functions of numbers, in IR ----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVNUMBERS_H
#define KVC_DIALECT_KVNUMBERS_H

#include "dialect/KVInterfaces.h"

namespace kvc::kv {

/// exp(x) of x <= 0, f32 or a vector of them, to a relative error below 2^-22;
/// 0 below -87.
mlir::Value buildExp(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value x);

} // namespace kvc::kv

#endif // KVC_DIALECT_KVNUMBERS_H
