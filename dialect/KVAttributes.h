//===- KVAttributes.h - points, policies, decisions -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVATTRIBUTES_H
#define KVC_DIALECT_KVATTRIBUTES_H

#include "dialect/KVInterfaces.h"
#include "dialect/KVPoints.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"

namespace kvc::kv {
enum class Plane { Keys, Values };
} // namespace kvc::kv

#define GET_ATTRDEF_CLASSES
#include "dialect/KVAttributes.h.inc"

#endif // KVC_DIALECT_KVATTRIBUTES_H
