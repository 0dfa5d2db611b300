//===- KVDialect.cpp - the kv dialect -------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVDialect.h"
#include "dialect/KVOps.h"

using namespace kvc::kv;

#include "dialect/KVDialect.cpp.inc"

namespace {
/// Gives the long attributes of a step short names, so that IR can be read.
struct KVAsmInterface : mlir::OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(mlir::Attribute attr,
                       llvm::raw_ostream &os) const final {
    if (mlir::isa<PolicyAttr>(attr))
      os << "policy";
    else if (mlir::isa<StreamAttr>(attr))
      os << "stream";
    else if (mlir::isa<LayoutAttr>(attr))
      os << "layout";
    else if (mlir::isa<ShapeAttr>(attr))
      os << "shape";
    else
      return AliasResult::NoAlias;
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void KVDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialect/KVOps.cpp.inc"
      >();
  addInterfaces<KVAsmInterface>();
}
