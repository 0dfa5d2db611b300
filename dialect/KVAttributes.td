//===- KVAttributes.td - policies, streams, decisions ------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVATTRIBUTES_TD
#define KVC_DIALECT_KVATTRIBUTES_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

// The axes' points, one file each.
include "dialect/precision/Float.td"
include "dialect/precision/AffineChannel.td"
include "dialect/precision/AffineToken.td"
include "dialect/precision/AffineAll.td"
include "dialect/time/All.td"
include "dialect/time/Window.td"
include "dialect/position/Scaling.td"
include "dialect/position/Rope.td"
include "dialect/position/Unrotated.td"
include "dialect/position/Absolute.td"
include "dialect/position/InCache.td"
include "dialect/depth/Own.td"
include "dialect/depth/Share.td"
include "dialect/score/Plain.td"
include "dialect/score/Softcap.td"
include "dialect/score/Alibi.td"
include "dialect/score/LearnedSinks.td"

class KV_Attr<string name, string attrMnemonic> : AttrDef<KV_Dialect, name> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// What a layer is
//===----------------------------------------------------------------------===//

def KV_ShapeAttr : KV_Attr<"Shape", "shape"> {
  let summary = "the shape of a layer's attention";
  let description = [{
    `heads` query heads share `kv_heads` heads of keys and values; keys and
    queries have `head_dim` channels, values `value_dim`. `io` is the element
    type of q, k, v and out: f32, f16 or bf16.

    Example: `#kv.shape<heads = 9, kv_heads = 3, head_dim = 64, value_dim = 64, io = f32>`
  }];
  let parameters = (ins "int64_t":$heads, "int64_t":$kv_heads,
                        "int64_t":$head_dim, "int64_t":$value_dim,
                        "::mlir::Type":$io);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Query heads that meet one head of keys.
    int64_t getGroup() const { return getHeads() / getKvHeads(); }
    /// Channels of a plane.
    int64_t getDim(Plane plane) const {
      return plane == Plane::Keys ? getHeadDim() : getValueDim();
    }
  }];
}

def KV_PolicyAttr : KV_Attr<"Policy", "policy"> {
  let summary = "how a layer's cache is kept: one point on each axis";
  let description = [{
    `residual` is the precision of tokens not yet coded, `key_sinks` and
    `value_sinks` that of sinks: without codes. `score` lists the points that a
    logit passes through. What was attended to in the last `rollback` steps
    stays held. `arithmetic` is what codes are multiplied in, i16 or i8: the
    query and the softmax's weights become whole numbers of that size where they
    meet codes. Without it, f32.
  }];
  let parameters = (ins
    "PrecisionAttrInterface":$keys,
    "PrecisionAttrInterface":$values,
    "PrecisionAttrInterface":$residual,
    "PrecisionAttrInterface":$key_sinks,
    "PrecisionAttrInterface":$value_sinks,
    "TimeAttrInterface":$time,
    "PositionAttrInterface":$position,
    "DepthAttrInterface":$depth,
    "::mlir::ArrayAttr":$score,
    DefaultValuedParameter<"int64_t", "0">:$rollback,
    OptionalParameter<"::mlir::Type">:$arithmetic);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    PrecisionAttrInterface getPlane(Plane plane) const {
      return plane == Plane::Keys ? getKeys() : getValues();
    }
    PrecisionAttrInterface getSinks(Plane plane) const {
      return plane == Plane::Keys ? getKeySinks() : getValueSinks();
    }
    /// The same without what no kernel can feel.
    PolicyAttr getKernelForm() const;
  }];
}

//===----------------------------------------------------------------------===//
// Where tokens lie
//===----------------------------------------------------------------------===//

def KV_LayoutAttr : KV_Attr<"Layout", "layout"> {
  let summary = "how a stream's tokens lie in a page";
  let description = [{
    A page holds `tokens` tokens of `heads` heads, a record a head: first the
    pairs (scale, zero), then the codes in 32-bit words.

    `lanes_on` says which dimension lies on the lanes, "tokens" or "channels";
    the other one is packed into words, 32 / bits codes each. The words of a
    record are `[vectors / v][words][v][lanes]`: v vectors of lanes are read
    together, so that storage order is reading order. Where a word holds two
    codes, the slots of a vector lie apart, `[2][lanes]` halves of words instead
    of `[lanes][2]`: one load has a slot of all lanes, side by side as a
    conversion wants them.

    Channels come in blocks of `block`, each padded to whole words (lanes on
    tokens) or whole vectors (lanes on channels), so that one pair's codes share
    no word or vector with another's.

    Example: `#kv.layout<heads = 3, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>`:
    `pages` is the most pages that a step needs at once.
  }];
  let parameters = (ins "int64_t":$heads, "int64_t":$tokens,
                        "int64_t":$channels, "int64_t":$block,
                        StringRefParameter<"dimension on the lanes">:$lanes_on,
                        "int64_t":$lanes, "int64_t":$vectors,
                        "int64_t":$pages);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool tokensOnLanes() const { return getLanesOn() == "tokens"; }
  }];
}

def KV_StreamAttr : KV_Attr<"Stream", "stream"> {
  let summary = "one plane's tokens in one encoding";
  let description = [{
    `plane` is "keys" or "values"; `kind` is "sink", "original" or "code": the
    first tokens, those in the form they were appended in, those coded since.
    Tokens are counted from `origin` on: page borders and groups begin there.
    `layout` is there once it is chosen.

    Example: `#kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<...>>`
  }];
  let parameters = (ins
    StringRefParameter<"keys or values">:$plane_name,
    StringRefParameter<"sink, original or code">:$kind,
    "int64_t":$origin,
    "PrecisionAttrInterface":$encoding,
    OptionalParameter<"LayoutAttr">:$layout);
  let assemblyFormat = [{
    `<` `plane` `=` $plane_name `,` `kind` `=` $kind `,` `origin` `=` $origin
    `,` `encoding` `=` $encoding (`,` `layout` `=` $layout^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    Plane getPlane() const {
      return getPlaneName() == "keys" ? Plane::Keys : Plane::Values;
    }
  }];
}

def KV_SegmentAttr : KV_Attr<"Segment", "segment"> {
  let summary = "tokens whose keys lie in one stream and whose values in another";
  let description = [{
    Numbers of the two streams, and which rotation of the query meets them. The
    segment's tokens are those that both streams hold.

    Example: `#kv.segment<keys = 1, values = 4, rotation = 0>`
  }];
  let parameters = (ins "int64_t":$keys, "int64_t":$values, "int64_t":$rotation);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===----------------------------------------------------------------------===//
// Decisions: passes set them, lowerings read them
//===----------------------------------------------------------------------===//

def KV_TargetAttr : KV_Attr<"Target", "target"> {
  let summary = "what the tile level needs to know of a target";
  let description = [{
    Example: `#kv.target<name = "x86-64-v3", lanes = 8, registers = 16, dot = "vpmadd">`:
    32-bit lanes of a vector, vector registers, and the instructions that
    multiply small integers and add up the products of a lane:

    - "vpmadd" of x86: pairs of i16 to i32, and quads of bytes by way of i16;
    - "sdot" of Armv8.2: quads of bytes to i32, and products of i16 added to
      i32 lane by lane. Its instructions take a factor from a lane of a register,
      so what meets all lanes is read a register at a time;
    - "" for none: arithmetic that any target has.

    `lane` says what a lane is: an element of a "vector" (where it is not
    given), or an "invocation" of a subgroup. Lowerings read it.

    Example: `#kv.target<name = "vulkan", lanes = 8, registers = 16, lane = "invocation">`
  }];
  let parameters = (ins StringRefParameter<"as --target or --gpu takes it">:$name,
                        "int64_t":$lanes, "int64_t":$registers,
                        StringRefParameter<"vector or invocation", "\"vector\"">:$lane,
                        StringRefParameter<"vpmadd or sdot", "\"\"">:$dot);
  let extraClassDeclaration = [{
    /// Whether lanes are the invocations of a subgroup.
    bool lanesAreInvocations() const { return getLane() == "invocation"; }
    /// Whether instructions take a factor from a lane of a register.
    bool multipliesByLane() const { return getDot() == "sdot"; }
  }];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def KV_ScheduleAttr : KV_Attr<"Schedule", "schedule"> {
  let summary = "how a kernel walks";
  let description = [{
    `heads` rows of queries are contracted in lockstep, `run` tokens at the most
    are taken at a time. A prefill takes `rows` tokens that ask at a time.
    `block` of the query heads that meet a KV head go through its tokens in one
    pass; 0 or not there: all of them.
    While a decode step reads a run, it asks for the lines of the run that comes
    `prefetch` runs later; 0 leaves that to the processor. Codes are multiplied
    in `arithmetic`, i16 or i8, if it is there, else in f32.

    Example: `#kv.schedule<heads = 4, run = 64, rows = 16, prefetch = 1>`
  }];
  let parameters = (ins "int64_t":$heads, "int64_t":$run, "int64_t":$rows,
                        DefaultValuedParameter<"int64_t", "0">:$prefetch,
                        OptionalParameter<"::mlir::Type">:$arithmetic,
                        DefaultValuedParameter<"int64_t", "0">:$block);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // KVC_DIALECT_KVATTRIBUTES_TD
