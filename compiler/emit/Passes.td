//===- Passes.td - td -----------------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef KVC_COMPILER_EMIT_PASSES_TD
#define KVC_COMPILER_EMIT_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitLibrary : Pass<"kv-emit-library", "::mlir::ModuleOp"> {
  let summary = "Describe the model to the runtime and give it entry points";
  let description = [{
    In: a step's functions in the LLVM dialect beside `kv.model` and `kv.step`.
    Out: C functions around them as runtime/Generated.h has them, the constant
    `kvc_generated`, `<name>_library` and `kvc_library`; no kv operation is
    left.
  }];
  let options = [
    Option<"features", "features", "int64_t", /*default=*/"0",
           "Bits of CPU features that the code needs (runtime/Platform.h)">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // KVC_COMPILER_EMIT_PASSES_TD
