//===- KVCacheOps.td - the cache level: what happens -------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVCACHEOPS_TD
#define KVC_DIALECT_KVCACHEOPS_TD

include "dialect/KVAttributes.td"
include "dialect/KVTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class KV_Op<string opMnemonic, list<Trait> traits = []>
    : Op<KV_Dialect, opMnemonic, traits>;

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

def KV_ModelOp : KV_Op<"model", [NoTerminator, SingleBlock, IsolatedFromAbove,
                                 SymbolTable,
                                 Symbol, NoRegionArguments]> {
  let summary = "a model's layers and their caches";
  let description = [{
    The one source of the library's header, info, byte plan and function table.
    Holds one `kv.layer` a layer, in order. `spec` is the canonical spec.

    ```mlir
    kv.model @tiny io f32 {
      kv.layer @layer0 shape <...> policy <...> { ... }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$io,
                       OptionalAttr<StrAttr>:$spec);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `io` $io attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<LayerOp> getLayers();
    /// Layer `number`, or null.
    LayerOp getLayer(int64_t number);
  }];
}

def KV_LayerOp : KV_Op<"layer", [Symbol, IsolatedFromAbove,
                                 HasParent<"ModelOp">]> {
  let summary = "one layer: its shape, its policy, what a decode step does";
  let description = [{
    The body takes the cache of the layer's owner and the step's q (and k, v
    where the layer stores), and yields the next cache (where it stores), the
    output and the softmax's logarithm. Once kernels are outlined, `step` names
    the `kv.step` that does it, and the body is empty.

    ```mlir
    kv.layer @layer0 shape <heads = 9, ...> policy <...> {
    ^bb0(%cache: !kv.cache, %q: tensor<9x64xf32>, %k: tensor<3x64xf32>, %v: tensor<3x64xf32>):
      %1 = kv.append %cache, %k, %v : tensor<3x64xf32>, tensor<3x64xf32>
      %2 = kv.evict %1
      %3 = kv.code %2
      %out, %lse = kv.attend %3, %q : tensor<9x64xf32> -> tensor<9x64xf32>, tensor<9xf32>
      kv.yield %3, %out, %lse : !kv.cache, tensor<9x64xf32>, tensor<9xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, KV_ShapeAttr:$shape,
                       KV_PolicyAttr:$policy,
                       OptionalAttr<FlatSymbolRefAttr>:$step);
  let regions = (region MaxSizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `shape` $shape `policy` $policy (`step` $step^)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The layer's number in its model.
    int64_t getNumber();
    /// The layer whose cache it attends to.
    int64_t getOwnerNumber() {
      return getPolicy().getDepth().getOwner(getNumber());
    }
  }];
}

def KV_StepOp : KV_Op<"step", [Symbol, IsolatedFromAbove]> {
  let summary = "the decode step of all layers that are alike to a kernel";
  let description = [{
    Body as `kv.layer`'s. `streams`, `segments` and `schedule` are decisions
    that passes attach; once the body is lowered to functions `@<name>_append`,
    `_code`, `_attend`, `_attend_rows`, `_merge`, `_read`, `_save`, `_restore`, `_ranges`, `_indices`, `_live`, `_plan`, it is
    empty.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, KV_ShapeAttr:$shape,
                       KV_PolicyAttr:$policy,
                       OptionalAttr<TypedArrayAttrBase<KV_StreamAttr, "streams">>:$streams,
                       OptionalAttr<TypedArrayAttrBase<KV_SegmentAttr, "segments">>:$segments,
                       OptionalAttr<KV_ScheduleAttr>:$schedule);
  let regions = (region MaxSizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `shape` $shape `policy` $policy
    (`streams` $streams^)? (`segments` $segments^)? (`schedule` $schedule^)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<StreamAttr> getStreamList();
    ::llvm::SmallVector<SegmentAttr> getSegmentList();
  }];
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

def KV_AppendOp : KV_Op<"append"> {
  let summary = "rotate a token's key and write key and value to the cache";
  let description = [{
    k and v are [kv_heads, dim], before rotation. The key is rotated at the
    token's position, rounded once to the type it is kept in.
  }];
  let arguments = (ins KV_CacheType:$cache, AnyStaticShapeTensor:$k,
                       AnyStaticShapeTensor:$v);
  let results = (outs KV_CacheType:$next);
  let assemblyFormat = "$cache `,` $k `,` $v attr-dict `:` type($k) `,` type($v)";
}

def KV_EvictOp : KV_Op<"evict"> {
  let summary = "forget the tokens that the time policy no longer stores";
  let arguments = (ins KV_CacheType:$cache);
  let results = (outs KV_CacheType:$next);
  let assemblyFormat = "$cache attr-dict";
}

def KV_CodeOp : KV_Op<"code"> {
  let summary = "code the tokens that are due, in both planes";
  let description = [{
    Of the tokens beyond the sinks the first `codedTokens` are to be codes. A
    scale covers those of its block that are stored now.
  }];
  let arguments = (ins KV_CacheType:$cache);
  let results = (outs KV_CacheType:$next);
  let assemblyFormat = "$cache attr-dict";
}

def KV_AttendOp : KV_Op<"attend"> {
  let summary = "attention of one token over all that is stored";
  let description = [{
    q is [heads, head_dim], before rotation; out [heads, value_dim]; lse
    [heads], the natural logarithm of the softmax's denominator. Reads the
    cache and leaves it.
  }];
  let arguments = (ins KV_CacheType:$cache, AnyStaticShapeTensor:$q);
  let results = (outs AnyStaticShapeTensor:$out, AnyStaticShapeTensor:$lse);
  let assemblyFormat = [{
    $cache `,` $q attr-dict `:` type($q) `->` type($out) `,` type($lse)
  }];
}

def KV_YieldOp : KV_Op<"yield", [Terminator, ParentOneOf<["LayerOp", "StepOp", "MaskOp", "LogitOp", "SettleStateOp"]>]> {
  let summary = "what a step leaves and gives, or a region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // KVC_DIALECT_KVCACHEOPS_TD
