// RUN: kvc-opt %s -allow-unregistered-dialect | kvc-opt -allow-unregistered-dialect | FileCheck %s

// Shapes, policies, layouts and streams are printed by aliases, so that a step
// can be read; decisions as they are.

// CHECK-DAG: #[[SHAPE:shape[0-9]*]] = #kv.shape<heads = 4, kv_heads = 2, head_dim = 64, value_dim = 32, io = f32>
// CHECK-DAG: #[[LAYOUT:layout[0-9]*]] = #kv.layout<heads = 3, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>
// CHECK-DAG: #[[BARE:stream[0-9]*]] = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 4, group = 32, flush = 1, residual = 0, scales = f16>>
// CHECK-DAG: #[[CHOSEN:stream[0-9]*]] = #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #[[LAYOUT]]>
// CHECK-DAG: #[[POLICY:policy[0-9]*]] = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = [#kv.plain<scale = 1.000000e+00 : f64>]>

// What is held for going back is printed where there is some.
// CHECK-DAG: #[[BACK:policy[0-9]*]] = #kv.policy<{{.*}}, score = [], rollback = 8>

// CHECK: "test.use"() {all = [#[[SHAPE]], #[[LAYOUT]], #[[BARE]], #[[CHOSEN]], #[[POLICY]], #[[BACK]], #[[POLICY]]]}
"test.use"() {all = [
  #kv.shape<heads = 4, kv_heads = 2, head_dim = 64, value_dim = 32, io = f32>,
  #kv.layout<heads = 3, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>,
  #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 4, group = 32, flush = 1, residual = 0, scales = f16>>,
  #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 3, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>,
  #kv.policy<
    keys = #kv.float<f32>,
    values = #kv.float<f32>,
    residual = #kv.float<f32>,
    key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>,
    time = #kv.window<sinks = 4, window = 12>,
    position = #kv.unrotated,
    depth = #kv.own,
    score = [#kv.plain<scale = 1.0>]>,
  #kv.policy<
    keys = #kv.float<f32>,
    values = #kv.float<f32>,
    residual = #kv.float<f32>,
    key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>,
    time = #kv.window<sinks = 4, window = 12>,
    position = #kv.unrotated,
    depth = #kv.own,
    score = [],
    rollback = 8>,
  #kv.policy<
    keys = #kv.float<f32>,
    values = #kv.float<f32>,
    residual = #kv.float<f32>,
    key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>,
    time = #kv.window<sinks = 4, window = 12>,
    position = #kv.unrotated,
    depth = #kv.own,
    score = [#kv.plain<scale = 1.0>],
    rollback = 0>
]} : () -> ()

// CHECK: "test.use"() {all = [#kv.segment<keys = 1, values = 4, rotation = 0>, #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>, #kv.target<name = "vulkan", lanes = 32, registers = 32, lane = "invocation">, #kv.schedule<heads = 4, run = 64, rows = 16>, #kv.schedule<heads = 4, run = 64, rows = 16, prefetch = 2>]}
"test.use"() {all = [
  #kv.segment<keys = 1, values = 4, rotation = 0>,
  #kv.target<name = "x86-64-v3", lanes = 8, registers = 16, lane = "vector">,
  #kv.target<name = "vulkan", lanes = 32, registers = 32, lane = "invocation">,
  #kv.schedule<heads = 4, run = 64, rows = 16>,
  #kv.schedule<heads = 4, run = 64, rows = 16, prefetch = 2>
]} : () -> ()
