//===- KVInterfaces.td - what a point of an axis answers -----*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each interface has two faces. The *definition* is plain C++: predicates and
// sizes that the reference, the byte plan and the tests use. The *generation*
// builds IR for the same thing. Where they differ, `kvc verify` says so.
//
// Builders take values of any shape: the builder of an `f32` value works on a
// vector of lanes just as well, since it builds constants with
// `splatFloat` and `splatInt` (KVInterfaces.h).
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_KVINTERFACES_TD
#define KVC_DIALECT_KVINTERFACES_TD

include "mlir/IR/OpBase.td"

class KV_AxisInterface<string name> : AttrInterface<name> {
  let cppNamespace = "::kvc::kv";
}

//===----------------------------------------------------------------------===//
// Precision
//===----------------------------------------------------------------------===//

def KV_PrecisionAttrInterface : KV_AxisInterface<"PrecisionAttrInterface"> {
  let description = [{
    How one plane (the keys or the values of a layer) keeps its numbers: each
    as a code of `getElementBits()` bits, packed into 32-bit words, together
    with one pair (scale, zero) for each block of tokens x channels, if
    `getBlock` says that there are any. A float is a code without a pair.

    Tokens are counted from the first that is no sink. Builders may use arith
    and scf; `buildEncode`, `buildDecode`, `buildPair` and `buildUnpackPair`,
    which run when tiles are lowered, math and vector besides.
  }];
  let methods = [
    InterfaceMethod<"Bits of one code: 1, 2, 4, 8, 16 or 32.",
      "unsigned", "getElementBits">,
    InterfaceMethod<[{The block of tokens x channels that shares a pair in a
      head of `dim` channels; none where there are no pairs. One side is 1 or
      more tokens, the other 1 to `dim` channels. A block of
      `ScaleBlock::AllTokens` has all that are stored: then every token is a code
      at once, all codes are made anew at each length that attends, and the
      originals of all of them stay.}],
      "std::optional<::kvc::kv::ScaleBlock>", "getBlock", (ins "int64_t":$dim)>,
    InterfaceMethod<"32-bit words of one pair in a page.",
      "unsigned", "getPairWords", (ins), [{}], [{ return 1; }]>,
    InterfaceMethod<"Bytes of one pair in the byte plan.",
      "unsigned", "getPairBytes", (ins), [{}], [{ return 4; }]>,
    InterfaceMethod<[{The float type of a pair's scale and zero, where its words
      are just these, side by side from the lowest bit on: a snapshot's are
      checked. None where they are anything else.}],
      "::mlir::Type", "getPairType", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{Whether tokens wait as originals (in the policy's
      residual type) until they are coded, each with the pair of its block. If
      not, a token is written in this precision when it is appended, and
      `getBlock` is none; `getBlock` is there just where originals are kept.}],
      "bool", "keepsOriginals", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{Of the first `tokens`, how many are codes: the first so
      many. Never falls as `tokens` grows, and is a multiple of the block's
      tokens: a block is coded once. All of them, where a block has all.}],
      "int64_t", "codedTokens", (ins "int64_t":$tokens), [{}],
      [{ return tokens; }]>,
    InterfaceMethod<[{The most originals that wait at once, this step's
      included; not asked where a block has all tokens.}],
      "int64_t", "mostOriginals", (ins), [{}], [{ return 0; }]>,
    InterfaceMethod<[{Whether the number n of n * scale + zero is the code
      itself, so that codes can be multiplied as integers.}],
      "bool", "codesAreNumbers", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{The least scale of a pair; 0: there is none. A block with
      it may spread over fewer codes than others do.}],
      "double", "getLeastScale", (ins), [{}], [{ return 0.0; }]>,
    InterfaceMethod<[{Code the values of one block, in any order: bit for bit
      what the generated code does. Without pairs: each value by itself.}],
      "::kvc::kv::CodedBlock", "encode", (ins "::llvm::ArrayRef<float>":$values)>,
    InterfaceMethod<"What a code stands for, exactly.",
      "double", "decode", (ins "uint32_t":$code, "::kvc::kv::Pair":$pair)>,
    InterfaceMethod<[{What a code stands for as `read` gives it: f32, one
      rounding an operation.}],
      "float", "read", (ins "uint32_t":$code, "::kvc::kv::Pair":$pair)>,

    InterfaceMethod<"Builds `codedTokens` of an index value.",
      "::mlir::Value", "buildCodedTokens",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::Value":$tokens), [{}], [{ return tokens; }]>,
    InterfaceMethod<[{Builds the pair of a block from its least and greatest
      value (f32; a zero may have either sign, and counts as +0):
      `getPairWords()` i32 words, and how many of scale and zero saturated
      (i32, always there). The scale is never 0.}],
      "::kvc::kv::BuiltPair", "buildPair",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::Value":$least, "::mlir::Value":$greatest), [{}],
      [{ ::kvc::kv::missingBuilder("buildPair", $_attr); }]>,
    InterfaceMethod<"Builds (scale, zero), f32, from a pair's words.",
      "::kvc::kv::ScaleZero", "buildUnpackPair",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$words), [{}],
      [{ ::kvc::kv::missingBuilder("buildUnpackPair", $_attr); }]>,
    InterfaceMethod<[{Builds the code (i32, its low bits; the others do not
      count) of an f32 value. `pair` is empty where there are no pairs.
      `saturated`, where it is not null, is set to an i32 of 0 or 1, or left
      empty where nothing can; it is null where there are pairs, whose scales
      and zeros are what counts.}],
      "::mlir::Value", "buildEncode",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::Value":$value, "::kvc::kv::ScaleZero":$pair,
           "::mlir::Value *":$saturated)>,
    InterfaceMethod<[{Builds the f32 number of the `slot`-th code of an i32
      word: the value, or, where there are pairs, the number n of
      n * scale + zero (whole numbers from 0 to 2^bits - 1 lose least). Bits of
      other slots, above it too, do not count, for slot 0 as for any other.}],
      "::mlir::Value", "buildDecode",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::Value":$word, "unsigned":$slot)>,
  ];
  let extraSharedClassDeclaration = [{
    /// Whether codes are made anew at each length, of originals that stay.
    bool remakesCodes() const {
      const auto block = $_attr.getBlock(1);
      return block && block->spansAllTokens();
    }
  }];
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

def KV_TimeAttrInterface : KV_AxisInterface<"TimeAttrInterface"> {
  let description = [{
    Which tokens of a sequence are stored: the sinks, which are the first
    `getSinks()` and never leave, and those from `firstLive(seen)` on.
  }];
  let methods = [
    InterfaceMethod<"How many of the first tokens are sinks.",
      "int64_t", "getSinks">,
    InterfaceMethod<[{The first token stored beyond the sinks at length `seen`:
      at least `getSinks()`, at most the larger of that and `seen`; never falls
      as `seen` grows. `seen` may be 0.}],
      "int64_t", "firstLive", (ins "int64_t":$seen)>,
    InterfaceMethod<[{The most tokens stored beyond the sinks, at any length
      up to the limit.}],
      "int64_t", "getCapacity">,
    InterfaceMethod<"The most tokens that a sequence may have; none: no limit.",
      "std::optional<int64_t>", "getLimit">,
    InterfaceMethod<"Whether tokens beyond the sinks ever leave.",
      "bool", "evicts", (ins), [{}],
      [{ return !$_attr.getLimit().has_value(); }]>,
    InterfaceMethod<[{The same without what changes nothing that is stored, as
      the limit is: of a snapshot's form.}],
      "::kvc::kv::TimeAttrInterface", "getStoredForm", (ins), [{}],
      [{ return $_attr; }]>,
    InterfaceMethod<"Builds `firstLive` of an index value.",
      "::mlir::Value", "buildFirstLive",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::Value":$seen)>,
  ];
  let extraSharedClassDeclaration = [{
    /// Whether token `t` is stored at length `seen`.
    bool isLive(int64_t t, int64_t seen) const {
      return t >= 0 && t < seen &&
             (t < $_attr.getSinks() || t >= $_attr.firstLive(seen));
    }
    /// Tokens stored at length `seen`.
    int64_t stored(int64_t seen) const {
      return std::min($_attr.getSinks(), seen) +
             std::max<int64_t>(0, seen - $_attr.firstLive(seen));
    }
  }];
}

//===----------------------------------------------------------------------===//
// Position
//===----------------------------------------------------------------------===//

def KV_PositionAttrInterface : KV_AxisInterface<"PositionAttrInterface"> {
  let description = [{
    How keys and queries are rotated, and at which indices. A key is rotated at
    the position it was seen at. A query may take one index among the sinks and
    another among the rest: its *rotations*, of which there are
    `getRotations()`. Distances are counted from these indices too, so there
    may be several, `getIndices()`, where nothing is rotated.
  }];
  let methods = [
    InterfaceMethod<[{How many rotations of a query there are, at most 4; 0:
      none is rotated.}],
      "unsigned", "getRotations">,
    InterfaceMethod<[{How many indices a query takes: `getRotations()`, where
      anything is rotated.}],
      "unsigned", "getIndices", (ins), [{}],
      [{ return std::max(1u, $_attr.getRotations()); }]>,
    InterfaceMethod<[{Which rotation of the query (or index, where nothing is
      rotated) meets the sinks, or the rest.}],
      "unsigned", "rotationFor", (ins "bool":$sinks)>,
    InterfaceMethod<[{The index of the query's `rotation`, below
      `getIndices()`: the query is at `position`, and `evicted` tokens before it are no longer stored.}],
      "int64_t", "queryIndex",
      (ins "unsigned":$rotation, "int64_t":$position, "int64_t":$evicted)>,
    InterfaceMethod<"One frequency a rotated pair of dimensions.",
      "::llvm::SmallVector<double>", "getFrequencies">,
    InterfaceMethod<"What cosine and sine are multiplied by.",
      "double", "getFactor", (ins), [{}], [{ return 1.0; }]>,
    InterfaceMethod<"Rotated pairs of dimensions.", "int64_t", "getPairs">,
    InterfaceMethod<"The two dimensions of a pair.",
      "::std::pair<int64_t, int64_t>", "getPairDims", (ins "int64_t":$pair)>,
    InterfaceMethod<[{The same without what no kernel can feel: the
      frequencies reach kernels as tables of angles.}],
      "::kvc::kv::PositionAttrInterface", "getKernelForm">,
    InterfaceMethod<[{What of it changes the keys that are stored, where a
      query's indices do not; null: nothing, they are not rotated.}],
      "::mlir::Attribute", "getStoredForm", (ins), [{}],
      [{ return $_attr; }]>,
    InterfaceMethod<"Builds `queryIndex` of index values.",
      "::mlir::Value", "buildQueryIndex",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "unsigned":$rotation, "::mlir::Value":$position,
           "::mlir::Value":$evicted)>,
  ];
}

//===----------------------------------------------------------------------===//
// Depth
//===----------------------------------------------------------------------===//

def KV_DepthAttrInterface : KV_AxisInterface<"DepthAttrInterface"> {
  let description = [{ Whose cache a layer attends to. }];
  let methods = [
    InterfaceMethod<"The layer whose cache layer `self` attends to.",
      "int64_t", "getOwner", (ins "int64_t":$self)>,
    InterfaceMethod<"Whether the layer stores keys and values of its own.",
      "bool", "stores">,
    InterfaceMethod<[{The same without what no kernel can feel: which layer
      the owner is.}],
      "::kvc::kv::DepthAttrInterface", "getKernelForm">,
  ];
}

//===----------------------------------------------------------------------===//
// Score
//===----------------------------------------------------------------------===//

def KV_ScoreAttrInterface : KV_AxisInterface<"ScoreAttrInterface"> {
  let description = [{
    What happens to a dot product of query and key before the softmax, and what
    the softmax starts with. A policy has a list of these; each takes what the
    one before it gives.
  }];
  let methods = [
    InterfaceMethod<"The logit, where `dot` came before.",
      "double", "logit", (ins "double":$dot, "::kvc::kv::ScoreAt":$at)>,
    InterfaceMethod<[{A factor that stands for the whole point when the query
      is multiplied by it beforehand; none where that is not so.}],
      "std::optional<double>", "getQueryFactor", (ins), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<[{Whether the softmax starts with a logit a query head that
      is given when a cache is created: one more in its denominator, without a
      value. Such a point leaves dot products as they are.}],
      "bool", "startsWithLogit", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{What the logit falls by a token of distance, at the most
      of all heads; 0: distance is not felt. Where it is not 0 the fall is
      linear in the distance: logits may be counted from any.}],
      "double", "getSteepestFall", (ins), [{}], [{ return 0; }]>,
    InterfaceMethod<[{Numbers that the point has for each query head: [heads],
      the same count for each; empty: it is the same for all heads. Kernels
      have them as f32.}],
      "::kvc::kv::HeadNumbers", "getHeadNumbers", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{Builds the logit of `dot`, f32. `numbers` are the query
      head's (f32), `distance` how far the key lies before the query (i32), all
      of the shape of `dot`. Of a point that falls with distance it may be the
      distance to another token, of either sign.}],
      "::mlir::Value", "buildLogit",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::Value":$dot, "::mlir::ValueRange":$numbers,
           "::mlir::Value":$distance)>,
  ];
}

#endif // KVC_DIALECT_KVINTERFACES_TD
