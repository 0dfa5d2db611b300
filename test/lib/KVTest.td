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

#endif // KVC_TEST_LIB_KVTEST_TD
