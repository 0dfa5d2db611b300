// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.affine_token is printed as it was read.

// CHECK: "test.use"() {point = #kv.affine_token<bits = 4, group = 64, flush = 1, residual = 128, scales = f16>}
"test.use"() {point = #kv.affine_token<bits = 4, group = 64, flush = 1, residual = 128, scales = f16>} : () -> ()
// CHECK: "test.use"() {point = #kv.affine_token<bits = 8, group = 2147483647, flush = 2147483647, residual = 0, scales = f16>}
"test.use"() {point = #kv.affine_token<bits = 8, group = 2147483647, flush = 2147483647, residual = 0, scales = f16>} : () -> ()
// CHECK: "test.use"() {point = #kv.affine_token<bits = 2, group = 5, flush = 5, residual = 0, scales = bf16>}
"test.use"() {point = #kv.affine_token<bits = 2, group = 5, flush = 5, residual = 0, scales = bf16>} : () -> ()
// CHECK: "test.use"() {point = #kv.affine_token<bits = 4, group = 5, flush = 5, residual = 0, scales = f32>}
"test.use"() {point = #kv.affine_token<bits = 4, group = 5, flush = 5, residual = 0, scales = f32>} : () -> ()
