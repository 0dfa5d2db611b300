// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.softcap is printed as it was read.

// CHECK: "test.use"() {point = #kv.softcap<cap = 5.000000e+01 : f64>}
"test.use"() {point = #kv.softcap<cap = 5.000000e+01 : f64>} : () -> ()
// CHECK: "test.use"() {point = #kv.softcap<cap = 5.000000e-01 : f64>}
"test.use"() {point = #kv.softcap<cap = 0.5>} : () -> ()
