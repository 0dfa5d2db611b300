// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.affine_channel is printed as it was read.

// CHECK: "test.use"() {point = #kv.affine_channel<bits = 4, group = 32, flush = 128, residual = 0, scales = f16>}
"test.use"() {point = #kv.affine_channel<bits = 4, group = 32, flush = 128, residual = 0, scales = f16>} : () -> ()
// CHECK: "test.use"() {point = #kv.affine_channel<bits = 8, group = 1, flush = 1, residual = 2147483647, scales = f16>}
"test.use"() {point = #kv.affine_channel<bits = 8, group = 1, flush = 1, residual = 2147483647, scales = f16>} : () -> ()
// CHECK: "test.use"() {point = #kv.affine_channel<bits = 2, group = 5, flush = 5, residual = 0, scales = bf16>}
"test.use"() {point = #kv.affine_channel<bits = 2, group = 5, flush = 5, residual = 0, scales = bf16>} : () -> ()
// CHECK: "test.use"() {point = #kv.affine_channel<bits = 4, group = 5, flush = 5, residual = 0, scales = f32>}
"test.use"() {point = #kv.affine_channel<bits = 4, group = 5, flush = 5, residual = 0, scales = f32>} : () -> ()
