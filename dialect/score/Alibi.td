//===- Alibi.td - the score point: less by distance --------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_SCORE_ALIBI_TD
#define KVC_DIALECT_SCORE_ALIBI_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KV_AlibiAttr : AttrDef<KV_Dialect, "Alibi", [
    DeclareAttrInterfaceMethods<KV_ScoreAttrInterface, ["getHeadNumbers", "getSteepestFall"]>]> {
  let mnemonic = "alibi";
  let summary = "s - slope distance";
  let description = [{
    Attention with linear biases (Press et al. 2021, section 3): a slope a query
    head, at least 0.

    Example: `#kv.alibi<slopes = [0.5, 0.25]>`
  }];
  let parameters = (ins "::mlir::DenseF64ArrayAttr":$slopes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Null where the request wants none.
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const ScoreRequest &request);
  }];
}

#endif // KVC_DIALECT_SCORE_ALIBI_TD
