//===- Share.td - the depth point: reads another's cache ---*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_DEPTH_SHARE_TD
#define KVC_DIALECT_DEPTH_SHARE_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KV_ShareAttr : AttrDef<KV_Dialect, "Share", [
    DeclareAttrInterfaceMethods<KV_DepthAttrInterface>]> {
  let mnemonic = "share";
  let summary = "the layer attends to the cache of `layer` and stores nothing";
  let description = [{
    YOCO (Sun et al. 2024, section 2). A kernel's form has `layer = 0`: all
    readers of like caches share one kernel.

    Example: `#kv.share<layer = 16>`
  }];
  let parameters = (ins "int64_t":$layer);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const DepthRequest &request);
  }];
}

#endif // KVC_DIALECT_DEPTH_SHARE_TD
