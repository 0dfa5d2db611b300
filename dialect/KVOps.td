//===- KVOps.td - operations of both levels ----------------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVOPS_TD
#define KVC_DIALECT_KVOPS_TD

include "dialect/KVCacheOps.td"
include "dialect/KVTileOps.td"

#endif // KVC_DIALECT_KVOPS_TD
