// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.window is printed as it was read.

// CHECK: "test.use"() {point = #kv.window<sinks = 4, window = 1020>}
"test.use"() {point = #kv.window<sinks = 4, window = 1020>} : () -> ()
// CHECK: "test.use"() {point = #kv.window<sinks = 2147483647, window = 2147483647>}
"test.use"() {point = #kv.window<sinks = 2147483647, window = 2147483647>} : () -> ()
