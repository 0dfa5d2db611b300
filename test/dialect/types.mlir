// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// CHECK: !kv.cache, !kv.view, !kv.parts, !kv.page<#stream>, !kv.tile<3x64>, !kv.state<1x16777216>
"test.use"() : () -> (!kv.cache, !kv.view, !kv.parts, !kv.page<#kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.float<f32>>>, !kv.tile<3x64>, !kv.state<1x16777216>)
