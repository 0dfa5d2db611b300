//===- KVTest.cpp - a dialect with points outside kvc ---------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/lib/KVTest.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include "test/lib/KVTestDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "test/lib/KVTestAttributes.cpp.inc"

void kvtest::KVTestDialect::initialize() { registerAttributes(); }

void kvtest::KVTestDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "test/lib/KVTestAttributes.cpp.inc"
      >();
}
