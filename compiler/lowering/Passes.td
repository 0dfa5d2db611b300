//===- Passes.td - td -----------------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef KVC_COMPILER_LOWERING_PASSES_TD
#define KVC_COMPILER_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerTiles : Pass<"kv-lower-tiles", "::mlir::ModuleOp"> {
  let summary = "Lower the tile level to vector, scf and memref for a CPU";
  let description = [{
    In: functions of the tile level whose scales are folded, in a module with
    `kv.target`. Out: the same functions on vectors of the target's lanes;
    tiles lie on the frame, pages are memrefs of words. `kv.model` and the
    emptied `kv.step`s stay, for the library's entry points.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

#endif // KVC_COMPILER_LOWERING_PASSES_TD
