//===- KVTest.td - td -----------------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Proof that the axes' interfaces are complete: a precision and a time point
// that no library of kvc knows, in a dialect of their own. kvc-test is kvc with
// this dialect; test/lib/*.mlir compile and verify by it.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_LIB_KVTEST_TD
#define KVC_TEST_LIB_KVTEST_TD

include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KVTest_Dialect : Dialect {
  let name = "kvtest";
  let cppNamespace = "::kvtest";
  let summary = "points of axes from outside kvc";
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
}

def KVTest_FixedAttr : AttrDef<KVTest_Dialect, "Fixed", [
    DeclareAttrInterfaceMethods<KV_PrecisionAttrInterface>]> {
  let mnemonic = "fixed";
  let summary = "8-bit fixed-point numbers, `fraction` bits behind the point";
  let description = [{
    A number x is the code round(x * 2^fraction) + 128, within 0 to 255. No
    pairs, and no waiting: written when it is appended.

    Example: `#kvtest.fixed<fraction = 4>`
  }];
  let parameters = (ins "int64_t":$fraction);
  let assemblyFormat = "`<` struct(params) `>`";
}

def KVTest_BlocksAttr : AttrDef<KVTest_Dialect, "Blocks", [
    DeclareAttrInterfaceMethods<KV_TimeAttrInterface>]> {
  let mnemonic = "blocks";
  let summary = "the newest `count` blocks of `block` tokens, whole ones leave";
  let description = [{
    Example: `#kvtest.blocks<block = 16, count = 3>`
  }];
  let parameters = (ins "int64_t":$block, "int64_t":$count);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def KVTest_SquareAttr : AttrDef<KVTest_Dialect, "Square", [
    DeclareAttrInterfaceMethods<KV_PrecisionAttrInterface, [
      "keepsOriginals", "codedTokens", "mostOriginals", "buildCodedTokens",
      "buildPair", "buildUnpackPair"]>]> {
  let mnemonic = "square";
  let summary = "codes with a pair for each `tokens` x `channels`";
  let description = [{
    A number x is round((x - zero) / scale) of `bits` bits and stands for
    code * scale + zero. Blocks of `tokens` tokens x `channels` channels share
    an f16 (scale, zero). The newest `residual` tokens are originals; older ones
    are coded `flush` at a time. A block of 0 tokens has all that are stored.

    Example: `#kvtest.square<bits = 4, tokens = 16, channels = 8, flush = 16, residual = 4>`
  }];
  let parameters = (ins "int64_t":$bits, "int64_t":$tokens, "int64_t":$channels,
                        "int64_t":$flush, "int64_t":$residual);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def KVTest_RampAttr : AttrDef<KVTest_Dialect, "Ramp", [
    DeclareAttrInterfaceMethods<KV_TimeAttrInterface>]> {
  let mnemonic = "ramp";
  let summary = "a window that grows from `least` to `most`, in steps of `step`";
  let description = [{
    The sinks, and the newest least + seen / each tokens, `most` at most. Tokens
    leave `step` at a time, as soon as so many are beyond the window.

    Example: `#kvtest.ramp<sinks = 2, least = 24, most = 48, each = 4, step = 5>`
  }];
  let parameters = (ins "int64_t":$sinks, "int64_t":$least, "int64_t":$most,
                        "int64_t":$each, "int64_t":$step);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // KVC_TEST_LIB_KVTEST_TD
