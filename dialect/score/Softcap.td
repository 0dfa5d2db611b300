//===- Softcap.td - the score point: a bounded logit -------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_SCORE_SOFTCAP_TD
#define KVC_DIALECT_SCORE_SOFTCAP_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KV_SoftcapAttr : AttrDef<KV_Dialect, "Softcap", [
    DeclareAttrInterfaceMethods<KV_ScoreAttrInterface>]> {
  let mnemonic = "softcap";
  let summary = "c tanh(s / c)";
  let description = [{
    Keeps logits within (-cap, cap) (Gemma Team 2024, section 2).

    Example: `#kv.softcap<cap = 5.0e1 : f64>`
  }];
  let parameters = (ins "::mlir::FloatAttr":$cap);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Null where the request wants none.
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const ScoreRequest &request);
  }];
}

#endif // KVC_DIALECT_SCORE_SOFTCAP_TD
