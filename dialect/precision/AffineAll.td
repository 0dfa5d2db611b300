//===- AffineAll.td - codes, one scale a channel in all ----*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_PRECISION_AFFINEALL_TD
#define KVC_DIALECT_PRECISION_AFFINEALL_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KV_AffineAllAttr : AttrDef<KV_Dialect, "AffineAll", [
    DeclareAttrInterfaceMethods<KV_PrecisionAttrInterface, [
      "getPairWords", "getPairBytes", "keepsOriginals", "buildPair",
      "buildUnpackPair", "codesAreNumbers", "getLeastScale", "getPairType"]>]> {
  let mnemonic = "affine_all";
  let summary = "codes with a scale and a zero for all stored tokens of a channel";
  let description = [{
    The first layout of keys with a scale a channel: one scale spans all tokens
    that are stored beyond the sinks. Any token may change it, so all codes are
    made anew, from originals that stay, at each length that attends.

    Example: `#kv.affine_all<bits = 4, scales = f16>`
  }];
  let parameters = (ins "int64_t":$bits, "::mlir::Type":$scales);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const PrecisionRequest &request);
  }];
}

#endif // KVC_DIALECT_PRECISION_AFFINEALL_TD
