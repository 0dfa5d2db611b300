//===- Own.td - the depth point: a cache of its own --------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_DEPTH_OWN_TD
#define KVC_DIALECT_DEPTH_OWN_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KV_OwnAttr : AttrDef<KV_Dialect, "Own", [
    DeclareAttrInterfaceMethods<KV_DepthAttrInterface>]> {
  let mnemonic = "own";
  let summary = "the layer stores keys and values of its own";
  let description = [{ Example: `#kv.own` }];
  let extraClassDeclaration = [{
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const DepthRequest &request);
  }];
}

#endif // KVC_DIALECT_DEPTH_OWN_TD
