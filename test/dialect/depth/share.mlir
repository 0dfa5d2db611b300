// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.share is printed as it was read.

// CHECK: "test.use"() {point = #kv.share<layer = 16>}
"test.use"() {point = #kv.share<layer = 16>} : () -> ()
// CHECK: "test.use"() {point = #kv.share<layer = 0>}
"test.use"() {point = #kv.share<layer = 0>} : () -> ()
