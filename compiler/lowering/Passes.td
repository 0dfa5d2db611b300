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
  let summary = "Lower the tile level to loops and values of lanes";
  let description = [{
    In: functions and kernels of the tile level whose scales are folded, in a
    module with `kv.target`. Out: the same on the target's lanes. Where a lane
    is a "vector"'s, values are vectors, tiles lie on the frame and a view is a
    pointer to page tables. Where it is an "invocation", values are an
    invocation's own scalars, tiles lie in workgroup memory and a view is a
    buffer of words; what lanes read of each other is not ordered yet
    (`kv-place-barriers`), and only what the attention of one token needs is
    generated. `kv.model` and the emptied `kv.step`s stay, for the library's
    entry points.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def OutlineKernels : Pass<"kv-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Make kernels of the functions that a GPU runs";
  let description = [{
    In: functions of the tile level, in a module with a `kv.target` whose lanes
    are invocations. Out: each step's `attend` as the one kernel of a
    `gpu.module` of its name. Buffers are its arguments; a workgroup is one head
    of keys, and as wide as the lanes; other scalars come as i32 in the last
    argument, in their order, a truth as 0 or 1. Functions of lengths alone stay
    as they are. Other functions that take a view, and `merge`, go: they are
    not generated for a GPU yet.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ShareTiles : InterfacePass<"kv-share-tiles", "::mlir::FunctionOpInterface"> {
  let summary = "Tiles of one type that different loops use share room";
  let description = [{
    In: a kernel whose tiles are allocated in its entry block (`memref.alloc` in
    a workgroup's memory, `memref.alloca` on the frame). Out: tiles of one
    type that are used in one operation of the kernel's body each, as a segment's
    in its loop, are the same memory for all of these. What is left over from an
    earlier one is never read.
  }];
  let options = [
    Option<"limit", "limit", "int64_t", /*default=*/"0",
           "bytes that there are; more is an error. 0: any">,
    Option<"where", "where", "std::string", /*default=*/"\"a workgroup's memory\"",
           "what has so many bytes, for the error">,
    Option<"remedy", "remedy", "std::string",
           /*default=*/"\"fewer heads a kv head, or smaller ones, fit\"",
           "what would fit, for the error">
  ];
}

def PlaceBarriers : Pass<"kv-place-barriers", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Order what lanes read of each other";
  let description = [{
    In: a kernel on lanes that are invocations (`kv-lower-tiles`), as wide as its
    `known_block_size`. Out: the same with barriers. An element of a tile is
    owned by the lane of its column's number modulo the lanes; between a write
    and another lane's access there is a barrier. Control flow must be the same
    for all lanes but for branches that need none inside.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

#endif // KVC_COMPILER_LOWERING_PASSES_TD
