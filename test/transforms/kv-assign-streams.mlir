// RUN: kvc-opt %s --pass-pipeline='builtin.module(kv.step(kv-assign-streams))' -split-input-file | FileCheck %s

// Sinks, originals and codes, as far as a plane's policy has such; segments are
// the pairs of keys' and values' streams that can hold the same tokens, oldest
// tokens first. Tokens are counted from the first that is no sink.

#shape = #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32>
#both = #kv.policy<keys = #kv.affine_channel<bits = 4, group = 8, flush = 16, residual = 0, scales = f16>, values = #kv.affine_token<bits = 8, group = 8, flush = 1, residual = 4, scales = f16>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 3, window = 40>, position = #kv.in_cache<<theta = 1.0 : f64, dims = 8, pairing = "half">>, depth = #kv.own, score = [#kv.plain<scale = 0.25 : f64>]>

// CHECK-DAG: #[[K0:stream[0-9]*]] = #kv.stream<plane = "keys", kind = "sink", origin = 0, encoding = #kv.float<f32>>
// CHECK-DAG: #[[K1:stream[0-9]*]] = #kv.stream<plane = "keys", kind = "original", origin = 3, encoding = #kv.float<f32>>
// CHECK-DAG: #[[K2:stream[0-9]*]] = #kv.stream<plane = "keys", kind = "code", origin = 3, encoding = #kv.affine_channel<bits = 4, group = 8, flush = 16, residual = 0, scales = f16>>
// CHECK-DAG: #[[V0:stream[0-9]*]] = #kv.stream<plane = "values", kind = "sink", origin = 0, encoding = #kv.float<f32>>
// CHECK-DAG: #[[V1:stream[0-9]*]] = #kv.stream<plane = "values", kind = "original", origin = 3, encoding = #kv.float<f32>>
// CHECK-DAG: #[[V2:stream[0-9]*]] = #kv.stream<plane = "values", kind = "code", origin = 3, encoding = #kv.affine_token<bits = 8, group = 8, flush = 1, residual = 4, scales = f16>>
// CHECK: kv.step @both
// CHECK-SAME: streams [#[[K0]], #[[K1]], #[[K2]], #[[V0]], #[[V1]], #[[V2]]]
// Positions in the cache: another rotation meets the sinks.
// CHECK-SAME: segments [#kv.segment<keys = 0, values = 3, rotation = 1>,
// CHECK-SAME:   #kv.segment<keys = 2, values = 5, rotation = 0>,
// CHECK-SAME:   #kv.segment<keys = 2, values = 4, rotation = 0>,
// CHECK-SAME:   #kv.segment<keys = 1, values = 5, rotation = 0>,
// CHECK-SAME:   #kv.segment<keys = 1, values = 4, rotation = 0>]
// CHECK-NOT: schedule
kv.step @both shape #shape policy #both {
^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>, %k: tensor<1x8xf32>, %v: tensor<1x8xf32>):
  %0 = kv.append %cache, %k, %v : tensor<1x8xf32>, tensor<1x8xf32>
  %1 = kv.evict %0
  %2 = kv.code %1
  %out, %lse = kv.attend %2, %q : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
  kv.yield %2, %out, %lse : !kv.cache, tensor<2x8xf32>, tensor<2xf32>
}

// -----

// One plane with codes; no sinks, one rotation.

#shape = #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32>
#half = #kv.policy<keys = #kv.float<f32>, values = #kv.affine_token<bits = 8, group = 8, flush = 1, residual = 4, scales = f16>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 0, window = 40>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]>

// CHECK-DAG: #[[K:stream[0-9]*]] = #kv.stream<plane = "keys", kind = "original", origin = 0,
// CHECK-DAG: #[[O:stream[0-9]*]] = #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>>
// CHECK-DAG: #[[C:stream[0-9]*]] = #kv.stream<plane = "values", kind = "code", origin = 0,
// CHECK: kv.step @half
// CHECK-SAME: streams [#[[K]], #[[O]], #[[C]]]
// CHECK-SAME: segments [#kv.segment<keys = 0, values = 2, rotation = 0>, #kv.segment<keys = 0, values = 1, rotation = 0>] {
kv.step @half shape #shape policy #half {
^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>):
  %out, %lse = kv.attend %cache, %q : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
  kv.yield %out, %lse : tensor<2x8xf32>, tensor<2xf32>
}

// -----

// Floats with sinks: sinks meet sinks alone, with the rotation of all.

#shape = #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32>
#floats = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 5, tokens = 64>, position = #kv.absolute<<theta = 1.0 : f64, dims = 8, pairing = "half">>, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]>

// CHECK: kv.step @floats
// CHECK-SAME: streams [#{{stream[0-9]*}}, #{{stream[0-9]*}}, #{{stream[0-9]*}}, #{{stream[0-9]*}}]
// CHECK-SAME: segments [#kv.segment<keys = 0, values = 2, rotation = 0>, #kv.segment<keys = 1, values = 3, rotation = 0>] {
kv.step @floats shape #shape policy #floats {
^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>):
  %out, %lse = kv.attend %cache, %q : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
  kv.yield %out, %lse : tensor<2x8xf32>, tensor<2xf32>
}

// -----

// Codes that are made anew: originals are kept, and in no segment.

#shape = #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32>
#anew = #kv.policy<keys = #kv.affine_all<bits = 4, scales = f16>, values = #kv.affine_token<bits = 8, group = 8, flush = 1, residual = 4, scales = f16>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 2, window = 40>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]>

// CHECK-DAG: #[[S:stream[0-9]*]] = #kv.stream<plane = "keys", kind = "sink", origin = 0,
// CHECK-DAG: #[[O:stream[0-9]*]] = #kv.stream<plane = "keys", kind = "original", origin = 2,
// CHECK-DAG: #[[C:stream[0-9]*]] = #kv.stream<plane = "keys", kind = "code", origin = 2, encoding = #kv.affine_all<bits = 4, scales = f16>>
// CHECK: kv.step @anew
// CHECK-SAME: streams [#[[S]], #[[O]], #[[C]], #{{stream[0-9]*}}, #{{stream[0-9]*}}, #{{stream[0-9]*}}]
// CHECK-SAME: segments [#kv.segment<keys = 0, values = 3, rotation = 0>, #kv.segment<keys = 2, values = 5, rotation = 0>, #kv.segment<keys = 2, values = 4, rotation = 0>] {
kv.step @anew shape #shape policy #anew {
^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>):
  %out, %lse = kv.attend %cache, %q : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
  kv.yield %out, %lse : tensor<2x8xf32>, tensor<2xf32>
}
