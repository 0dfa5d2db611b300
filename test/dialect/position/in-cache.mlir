// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.in_cache is printed as it was read.

// CHECK: "test.use"() {point = #kv.in_cache<<theta = 1.000000e+05 : f64, dims = 64, pairing = "half">>}
"test.use"() {point = #kv.in_cache<<theta = 1.000000e+05 : f64, dims = 64, pairing = "half">>} : () -> ()
// CHECK: "test.use"() {point = #kv.in_cache}
"test.use"() {point = #kv.in_cache} : () -> ()
