//===- Passes.td - td -----------------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef KVC_COMPILER_TARGET_VULKAN_PASSES_TD
#define KVC_COMPILER_TARGET_VULKAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def DescribeDevice : Pass<"kv-describe-device", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Say what a Vulkan device of kvc's can do";
  let description = [{
    In: a `gpu.module` of kernels that have a `known_block_size`. Out: the same
    with the SPIR-V target environment and the kernels' entry points, as MLIR's
    conversion wants them. An error where a kernel has what the conversion would
    get wrong without a word: numbers of bf16.
  }];
  // MLIR's fold-memref-alias-ops, which runs before it, makes affine.apply and
  // does not say so.
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::spirv::SPIRVDialect"];
}

def KeepLoopResults : Pass<"kv-keep-loop-results", "::mlir::gpu::GPUFuncOp"> {
  let summary = "A loop that is not entered gives what it was given";
  let description = [{
    MLIR's conversion of `scf.for` to SPIR-V leaves a loop's results undefined
    where it makes no trip. Behind each loop that may make none, a select gives
    the initial values then.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def DescribeBuffers : Pass<"kv-describe-buffers", "::mlir::spirv::ModuleOp"> {
  let summary = "Say of a SPIR-V module's buffers what drivers want to know";
  let description = [{
    In: a `spirv.module` whose entry points are lowered. Push constants lose the
    binding that the conversion gives to every argument; storage buffers that
    nothing is stored to are `NonWritable`.
  }];
  let dependentDialects = ["::mlir::spirv::SPIRVDialect"];
}

def KeepRoundings : Pass<"kv-keep-roundings", "::mlir::spirv::ModuleOp"> {
  let summary = "Every operation on floats rounds once";
  let description = [{
    Vulkan lets a driver rearrange what is not decorated `NoContraction`, also
    (a + b) - b to a, by which `exp` finds the nearest integer. All additions,
    subtractions, multiplications and divisions get that decoration. What kernels
    ask to be fused is fused by name, and may then still be two operations on a
    device that has no other way.
  }];
  let dependentDialects = ["::mlir::spirv::SPIRVDialect"];
}

#endif // KVC_COMPILER_TARGET_VULKAN_PASSES_TD
