//===- KVDialect.td - the kv dialect ------------------------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVDIALECT_TD
#define KVC_DIALECT_KVDIALECT_TD

include "mlir/IR/OpBase.td"

def KV_Dialect : Dialect {
  let name = "kv";
  let cppNamespace = "::kvc::kv";
  let summary = "KV caches: what happens to them, and how";
  let description = [{
    The dialect has two levels. The *cache level* says what a decode step does
    to a layer's cache: `kv.append`, `kv.evict`, `kv.code`, `kv.attend`. The
    *tile level* says how: pages are walked in runs of tokens, tiles are
    contracted, softmax states updated.

    A layer's policy is a point on each of five axes: precision (of keys and of
    values), time, position, depth, score. A point is one attribute, in one
    file of the axis's folder, that implements the axis's interface; nothing
    else knows it. A point of another dialect is as good as one of this.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

#endif // KVC_DIALECT_KVDIALECT_TD
