//===- Absolute.td - the position point: as seen -----------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_POSITION_ABSOLUTE_TD
#define KVC_DIALECT_POSITION_ABSOLUTE_TD

include "dialect/position/Rope.td"

def KV_AbsoluteAttr : AttrDef<KV_Dialect, "Absolute", [
    DeclareAttrInterfaceMethods<KV_PositionAttrInterface, ["getFactor", "getStoredForm"]>]> {
  let mnemonic = "absolute";
  let summary = "keys and queries are rotated at the position they were seen at";
  let description = [{
    Example: `#kv.absolute<<theta = 1.0e5 : f64, dims = 64, pairing = "half">>`
  }];
  let parameters = (ins "RopeAttr":$rope);
  let assemblyFormat = "`<` $rope `>`";
  let extraClassDeclaration = [{
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const PositionRequest &request);
  }];
}

#endif // KVC_DIALECT_POSITION_ABSOLUTE_TD
