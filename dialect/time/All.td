//===- All.td - the time point: every token stays ----------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_TIME_ALL_TD
#define KVC_DIALECT_TIME_ALL_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KV_AllAttr : AttrDef<KV_Dialect, "All", [
    DeclareAttrInterfaceMethods<KV_TimeAttrInterface, ["getStoredForm"]>]> {
  let mnemonic = "all";
  let summary = "every token stays, up to `tokens` of them";
  let description = [{
    Sinks are the first tokens, which are never coded.

    Example: `#kv.all<sinks = 0, tokens = 131072>`
  }];
  let parameters = (ins "int64_t":$sinks, "int64_t":$tokens);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const TimeRequest &request);
  }];
}

#endif // KVC_DIALECT_TIME_ALL_TD
