//===- AffineToken.td - codes, one scale a token -----------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_PRECISION_AFFINETOKEN_TD
#define KVC_DIALECT_PRECISION_AFFINETOKEN_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KV_AffineTokenAttr : AttrDef<KV_Dialect, "AffineToken", [
    DeclareAttrInterfaceMethods<KV_PrecisionAttrInterface, [
      "getPairWords", "getPairBytes", "keepsOriginals", "codedTokens",
      "mostOriginals", "buildCodedTokens", "buildPair", "buildUnpackPair",
      "codesAreNumbers", "getLeastScale", "getPairType"]>]> {
  let mnemonic = "affine_token";
  let summary = "codes with a scale and a zero for `group` channels of a token";
  let description = [{
    KIVI's values (Liu et al. 2024, section 3.2). The last group of a head may
    be shorter. Tokens are coded `flush` at a time, when that many wait beyond
    the `residual` newest ones.

    Example: `#kv.affine_token<bits = 4, group = 64, flush = 1, residual = 128, scales = f16>`
  }];
  let parameters = (ins "int64_t":$bits, "int64_t":$group, "int64_t":$flush,
                        "int64_t":$residual, "::mlir::Type":$scales);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const PrecisionRequest &request);
  }];
}

#endif // KVC_DIALECT_PRECISION_AFFINETOKEN_TD
