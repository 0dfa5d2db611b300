//===- KVTest.h - a dialect with points outside kvc -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_LIB_KVTEST_H
#define KVC_TEST_LIB_KVTEST_H

#include "dialect/KVInterfaces.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

#include "test/lib/KVTestDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "test/lib/KVTestAttributes.h.inc"

#endif // KVC_TEST_LIB_KVTEST_H
