// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.rope is printed as it was read.

// CHECK: "test.use"() {point = #kv.rope<theta = 1.000000e+05 : f64, dims = 64, pairing = "half">}
"test.use"() {point = #kv.rope<theta = 1.000000e+05 : f64, dims = 64, pairing = "half">} : () -> ()
// CHECK: "test.use"() {point = #kv.rope<theta = 1.000000e+00 : f64, dims = 2, pairing = "half">}
"test.use"() {point = #kv.rope<theta = 1.0, dims = 2, pairing = "half">} : () -> ()
// CHECK: "test.use"() {point = #kv.rope<theta = 1.000000e+00 : f64, dims = 2, pairing = "interleaved">}
"test.use"() {point = #kv.rope<theta = 1.0, dims = 2, pairing = "interleaved">} : () -> ()
// CHECK: "test.use"() {point = #kv.rope<theta = 1.000000e+04 : f64, dims = 4, pairing = "half", scaling = <"ntk", {factor = 2.000000e+00 : f64}>>}
"test.use"() {point = #kv.rope<theta = 1.0e4, dims = 4, pairing = "half", scaling = <"ntk", {factor = 2.0 : f64}>>} : () -> ()
