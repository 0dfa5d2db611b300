//===- Float.td - the precision point: unquantised ---------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_PRECISION_FLOAT_TD
#define KVC_DIALECT_PRECISION_FLOAT_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KV_FloatPrecisionAttr : AttrDef<KV_Dialect, "FloatPrecision", [
    DeclareAttrInterfaceMethods<KV_PrecisionAttrInterface>]> {
  let mnemonic = "float";
  let summary = "numbers kept as floats, without codes";
  let description = [{
    Example: `#kv.float<bf16>`; `f32`, `f16` or `bf16`. A token is written in
    this type when it is appended: rounded once, to nearest even, and within
    the type's finite range. Also the type of sinks and of tokens not yet coded.
  }];
  let parameters = (ins "::mlir::Type":$type);
  let assemblyFormat = "`<` $type `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// This point, where `request` asks for it; else null.
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const PrecisionRequest &request);
  }];
}

#endif // KVC_DIALECT_PRECISION_FLOAT_TD
