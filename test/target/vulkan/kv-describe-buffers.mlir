// RUN: kvc-opt %s -pass-pipeline='builtin.module(spirv.module(kv-describe-buffers))' | FileCheck %s

spirv.module Logical GLSL450 {
  // Push constants have no binding; who only reads says so.
  // CHECK:       spirv.GlobalVariable @all : !spirv.ptr<{{.*}}, PushConstant>
  // CHECK-NOT:   @all bind
  spirv.GlobalVariable @all bind(0, 2) : !spirv.ptr<!spirv.struct<(!spirv.array<2 x i32, stride=4> [0])>, PushConstant>
  // CHECK:       spirv.GlobalVariable @in bind(0, 0) {non_writable}
  spirv.GlobalVariable @in bind(0, 0) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
  // CHECK:       spirv.GlobalVariable @out bind(0, 1) : !spirv.ptr
  spirv.GlobalVariable @out bind(0, 1) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
  spirv.func @k() "None" {
    %0 = spirv.Constant 0 : i32
    %in = spirv.mlir.addressof @in : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
    %a = spirv.AccessChain %in[%0, %0] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<f32, StorageBuffer>
    %x = spirv.Load "StorageBuffer" %a : f32
    %out = spirv.mlir.addressof @out : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
    %b = spirv.AccessChain %out[%0, %0] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<f32, StorageBuffer>
    spirv.Store "StorageBuffer" %b, %x : f32
    spirv.Return
  }
}
