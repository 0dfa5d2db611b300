//===- LearnedSinks.td - the score point: learned sinks ----*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_SCORE_LEARNEDSINKS_TD
#define KVC_DIALECT_SCORE_LEARNEDSINKS_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KV_LearnedSinksAttr : AttrDef<KV_Dialect, "LearnedSinks", [
    DeclareAttrInterfaceMethods<KV_ScoreAttrInterface, ["startsWithLogit"]>]> {
  let mnemonic = "learned_sinks";
  let summary = "one more logit a head in the softmax's denominator";
  let description = [{
    The logit is learned, has no value, and is given when a cache is created; it
    is neither scaled nor capped.

    Example: `#kv.learned_sinks`
  }];
  let extraClassDeclaration = [{
    /// Null where the request wants none.
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const ScoreRequest &request);
  }];
}

#endif // KVC_DIALECT_SCORE_LEARNEDSINKS_TD
