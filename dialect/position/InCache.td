//===- InCache.td - the position point: index in the cache --*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_POSITION_INCACHE_TD
#define KVC_DIALECT_POSITION_INCACHE_TD

include "dialect/position/Rope.td"

def KV_InCacheAttr : AttrDef<KV_Dialect, "InCache", [
    DeclareAttrInterfaceMethods<KV_PositionAttrInterface, [
      "getFactor", "getIndices", "getStoredForm"]>]> {
  let mnemonic = "in_cache";
  let summary = "positions are indices into the cache";
  let description = [{
    StreamingLLM (Xiao et al. 2023, section 3.2): positions are those within
    the cache. Keys need not be touched for it: inside the window distances do
    not change when tokens are evicted, so the query rotated at its position
    serves the window, and rotated at position - evicted it serves the sinks.
    Without a rope nothing is rotated, and distances alone are those within the
    cache.

    Example: `#kv.in_cache<<theta = 1.0e5 : f64, dims = 64, pairing = "half">>`
  }];
  let parameters = (ins OptionalParameter<"RopeAttr">:$rope);
  let assemblyFormat = "(`<` $rope^ `>`)?";
  let extraClassDeclaration = [{
    static ::mlir::Attribute fromRequest(::mlir::MLIRContext *context,
                                         const PositionRequest &request);
  }];
}

#endif // KVC_DIALECT_POSITION_INCACHE_TD
