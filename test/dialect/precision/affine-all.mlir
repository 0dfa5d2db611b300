// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.affine_all is printed as it was read.

// CHECK: "test.use"() {point = #kv.affine_all<bits = 4, scales = f16>}
"test.use"() {point = #kv.affine_all<bits = 4, scales = f16>} : () -> ()
// CHECK: "test.use"() {point = #kv.affine_all<bits = 2, scales = f32>}
"test.use"() {point = #kv.affine_all<bits = 2, scales = f32>} : () -> ()
