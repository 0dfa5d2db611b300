// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.plain is printed as it was read.

// CHECK: "test.use"() {point = #kv.plain<scale = 1.250000e-01 : f64>}
"test.use"() {point = #kv.plain<scale = 1.250000e-01 : f64>} : () -> ()
// CHECK: "test.use"() {point = #kv.plain<scale = -5.000000e-01 : f64>}
"test.use"() {point = #kv.plain<scale = -0.5>} : () -> ()
