// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.learned_sinks is printed as it was read.

// CHECK: "test.use"() {point = #kv.learned_sinks}
"test.use"() {point = #kv.learned_sinks} : () -> ()
