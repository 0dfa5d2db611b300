// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.float is printed as it was read.

// CHECK: "test.use"() {point = #kv.float<f32>}
"test.use"() {point = #kv.float<f32>} : () -> ()

// CHECK: "test.use"() {point = #kv.float<f16>}
"test.use"() {point = #kv.float<f16>} : () -> ()

// CHECK: "test.use"() {point = #kv.float<bf16>}
"test.use"() {point = #kv.float<bf16>} : () -> ()
