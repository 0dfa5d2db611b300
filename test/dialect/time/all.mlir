// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.all is printed as it was read.

// CHECK: "test.use"() {point = #kv.all<sinks = 0, tokens = 1>}
"test.use"() {point = #kv.all<sinks = 0, tokens = 1>} : () -> ()
// CHECK: "test.use"() {point = #kv.all<sinks = 2147483646, tokens = 2147483647>}
"test.use"() {point = #kv.all<sinks = 2147483646, tokens = 2147483647>} : () -> ()
