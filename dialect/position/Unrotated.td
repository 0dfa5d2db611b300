//===- Unrotated.td - the position point: none -------------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_POSITION_UNROTATED_TD
#define KVC_DIALECT_POSITION_UNROTATED_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KV_UnrotatedAttr : AttrDef<KV_Dialect, "Unrotated", [
    DeclareAttrInterfaceMethods<KV_PositionAttrInterface, ["getStoredForm"]>]> {
  let mnemonic = "unrotated";
  let summary = "keys and queries are used as they come";
  let description = [{
    The model has no rotary embedding, or rotates before it calls.

    Example: `#kv.unrotated`
  }];
  let extraClassDeclaration = [{
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const PositionRequest &request);
  }];
}

#endif // KVC_DIALECT_POSITION_UNROTATED_TD
