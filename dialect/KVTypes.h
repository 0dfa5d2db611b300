//===- KVTypes.h - values of both levels ------------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVTYPES_H
#define KVC_DIALECT_KVTYPES_H

#include "dialect/KVAttributes.h"

#define GET_TYPEDEF_CLASSES
#include "dialect/KVTypes.h.inc"

#endif // KVC_DIALECT_KVTYPES_H
