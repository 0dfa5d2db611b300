//===- KVTypes.td - values of both levels ------------------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVTYPES_TD
#define KVC_DIALECT_KVTYPES_TD

include "dialect/KVDialect.td"
include "mlir/IR/AttrTypeBase.td"

class KV_Type<string name, string typeMnemonic> : TypeDef<KV_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def KV_CacheType : KV_Type<"Cache", "cache"> {
  let summary = "a layer's cache for one sequence, at one moment";
  let description = [{
    Cache level. Linear: an operation that changes the cache takes one moment
    and gives the next; the one it took is gone.
  }];
}

def KV_ViewType : KV_Type<"View", "view"> {
  let summary = "the page tables of a layer's streams";
}

def KV_PartsType : KV_Type<"Parts", "parts"> {
  let summary = "results of attention over parts of a sequence";
  let description = [{ For each part out and lse, in f32: see kv.load_state. }];
}

def KV_PageType : KV_Type<"Page", "page"> {
  let summary = "one page of a stream";
  let description = [{ Example: `!kv.page<#kv.stream<...>>` }];
  let parameters = (ins "StreamAttr":$stream);
  let assemblyFormat = "`<` $stream `>`";
}

def KV_TileType : KV_Type<"Tile", "tile"> {
  let summary = "rows x columns of f32, computed";
  let description = [{
    Logical: which dimension lies on lanes, and what is padded, is the
    lowering's. Columns may be an upper limit where an operation takes a count.
    With an `element` of i16 or i8 it holds whole numbers that stand for f32
    (see `kv.fold`), in the order in which they meet codes.

    Examples: `!kv.tile<3x64>`, `!kv.tile<3x64, i16>`
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns,
                        OptionalParameter<"::mlir::Type">:$element);
  let builders = [TypeBuilder<(ins "int64_t":$rows, "int64_t":$columns), [{
    return $_get($_ctxt, rows, columns, ::mlir::Type());
  }]>];
  let assemblyFormat = "`<` custom<Extents>($rows, $columns) (`,` $element^)? `>`";
  let genVerifyDecl = 1;
}

def KV_StateType : KV_Type<"State", "state"> {
  let summary = "an online softmax under way: maximum, sum, accumulator";
  let description = [{
    For each of `rows` query heads the largest logit m, the sum l of
    exp(logit - m), and the sum of exp(logit - m) times the value, `columns`
    channels (Milakov and Gimelshein 2018; Dao et al. 2022, section 3.1).
    Linear, as `!kv.cache` is.

    Example: `!kv.state<3x64>`
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns);
  let assemblyFormat = "`<` custom<Extents>($rows, $columns) `>`";
  let genVerifyDecl = 1;
}

#endif // KVC_DIALECT_KVTYPES_TD
