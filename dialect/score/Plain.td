//===- Plain.td - the score point: a scale alone -----------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_SCORE_PLAIN_TD
#define KVC_DIALECT_SCORE_PLAIN_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KV_PlainAttr : AttrDef<KV_Dialect, "Plain", [
    DeclareAttrInterfaceMethods<KV_ScoreAttrInterface, ["getQueryFactor"]>]> {
  let mnemonic = "plain";
  let summary = "the dot product times `scale`";
  let description = [{
    Scaled dot products (Vaswani et al. 2017, section 3.2.1).

    Example: `#kv.plain<scale = 1.25e-1 : f64>`
  }];
  let parameters = (ins "::mlir::FloatAttr":$scale);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const ScoreRequest &request);
  }];
}

#endif // KVC_DIALECT_SCORE_PLAIN_TD
