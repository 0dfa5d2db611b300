// RUN: kvc-opt %s -pass-pipeline='builtin.module(spirv.module(kv-keep-roundings))' | FileCheck %s

spirv.module Logical GLSL450 {
  // CHECK-LABEL: spirv.func @k
  // CHECK:       spirv.FAdd %{{.*}} {no_contraction} : f32
  // CHECK:       spirv.FSub %{{.*}} {no_contraction} : f32
  // CHECK:       spirv.FMul %{{.*}} {no_contraction} : f32
  // CHECK:       spirv.FDiv %{{.*}} {no_contraction} : f32
  // CHECK:       spirv.GL.Fma %{{.*}} {no_contraction} : f32
  // CHECK:       spirv.IAdd %{{[^{]*}} : i32
  spirv.func @k(%x: f32, %y: f32, %i: i32) -> f32 "None" {
    %0 = spirv.FAdd %x, %y : f32
    %1 = spirv.FSub %0, %y : f32
    %2 = spirv.FMul %1, %y : f32
    %3 = spirv.FDiv %2, %y : f32
    %4 = spirv.GL.Fma %3, %y, %x : f32
    %5 = spirv.IAdd %i, %i : i32
    spirv.ReturnValue %4 : f32
  }
}
