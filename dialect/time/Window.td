//===- Window.td - the time point: sinks and a window ------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_TIME_WINDOW_TD
#define KVC_DIALECT_TIME_WINDOW_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KV_WindowAttr : AttrDef<KV_Dialect, "Window", [
    DeclareAttrInterfaceMethods<KV_TimeAttrInterface>]> {
  let mnemonic = "window";
  let summary = "the first `sinks` tokens and the newest `window` ones";
  let description = [{
    StreamingLLM (Xiao et al. 2023, section 3.2): sinks are not part of the
    window.

    Example: `#kv.window<sinks = 4, window = 1020>`
  }];
  let parameters = (ins "int64_t":$sinks, "int64_t":$window);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const TimeRequest &request);
  }];
}

#endif // KVC_DIALECT_TIME_WINDOW_TD
