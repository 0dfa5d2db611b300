// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// #kv.unrotated is printed as it was read.

// CHECK: "test.use"() {point = #kv.unrotated}
"test.use"() {point = #kv.unrotated} : () -> ()
