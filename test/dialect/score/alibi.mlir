// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.alibi is printed as it was read.

// CHECK: "test.use"() {point = #kv.alibi<slopes = [5.000000e-01, 0.000000e+00]>}
"test.use"() {point = #kv.alibi<slopes = [5.000000e-01, 0.000000e+00]>} : () -> ()
