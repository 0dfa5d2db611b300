// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.own is printed as it was read.

// CHECK: "test.use"() {point = #kv.own}
"test.use"() {point = #kv.own} : () -> ()
