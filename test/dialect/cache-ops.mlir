// RUN: kvc-opt %s | kvc-opt | FileCheck %s

// The cache level is printed as it was read: a model with an owner and a
// reader, with bodies and with steps in their place.

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#wide = #kv.shape<heads = 6, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<
  keys = #kv.affine_channel<bits = 4, group = 32, flush = 128, residual = 0, scales = f16>,
  values = #kv.affine_token<bits = 4, group = 6, flush = 1, residual = 128, scales = f16>,
  residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 1020>,
  position = #kv.in_cache<<theta = 1.0e5, dims = 8, pairing = "half">>,
  depth = #kv.own, score = [#kv.plain<scale = 0.125>]>
#reading = #kv.policy<
  keys = #kv.affine_channel<bits = 4, group = 32, flush = 128, residual = 0, scales = f16>,
  values = #kv.affine_token<bits = 4, group = 6, flush = 1, residual = 128, scales = f16>,
  residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 1020>,
  position = #kv.in_cache<<theta = 1.0e5, dims = 8, pairing = "half">>,
  depth = #kv.share<layer = 0>, score = []>

// CHECK-DAG: #[[SHAPE:shape[0-9]*]] = #kv.shape<heads = 4,
// CHECK-DAG: #[[WIDE:shape[0-9]*]] = #kv.shape<heads = 6,
// CHECK-DAG: #[[OWN:policy[0-9]*]] = {{.*}}depth = #kv.own
// CHECK-DAG: #[[READ:policy[0-9]*]] = {{.*}}depth = #kv.share<layer = 0>
// CHECK-DAG: #[[KEYS:stream[0-9]*]] = #kv.stream<plane = "keys", kind = "sink"
// CHECK-DAG: #[[VALUES:stream[0-9]*]] = #kv.stream<plane = "values", kind = "sink"

// CHECK-LABEL: kv.model @tiny io f32 attributes {spec = "kvc: 1"} {
kv.model @tiny io f32 attributes {spec = "kvc: 1"} {
  // CHECK: kv.layer @owner shape #[[SHAPE]] policy #[[OWN]] {
  kv.layer @owner shape #shape policy #policy {
  // CHECK: ^bb0(%[[CACHE:.*]]: !kv.cache, %[[Q:.*]]: tensor<4x8xf32>, %[[K:.*]]: tensor<2x8xf32>, %[[V:.*]]: tensor<2x6xf32>):
  ^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
    // CHECK: %[[A:.*]] = kv.append %[[CACHE]], %[[K]], %[[V]] : tensor<2x8xf32>, tensor<2x6xf32>
    %1 = kv.append %cache, %k, %v : tensor<2x8xf32>, tensor<2x6xf32>
    // CHECK: %[[E:.*]] = kv.evict %[[A]]{{$}}
    %2 = kv.evict %1
    // CHECK: %[[C:.*]] = kv.code %[[E]]{{$}}
    %3 = kv.code %2
    // CHECK: %[[OUT:.*]], %[[LSE:.*]] = kv.attend %[[C]], %[[Q]] : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
    %out, %lse = kv.attend %3, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
    // CHECK: kv.yield %[[C]], %[[OUT]], %[[LSE]] : !kv.cache, tensor<4x6xf32>, tensor<4xf32>
    kv.yield %3, %out, %lse : !kv.cache, tensor<4x6xf32>, tensor<4xf32>
  }
  // CHECK: kv.layer @reader shape #[[WIDE]] policy #[[READ]] {
  kv.layer @reader shape #wide policy #reading {
  ^bb0(%cache: !kv.cache, %q: tensor<6x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<6x8xf32> -> tensor<6x6xf32>, tensor<6xf32>
    // CHECK: kv.yield %{{.*}}, %{{.*}} : tensor<6x6xf32>, tensor<6xf32>
    kv.yield %out, %lse : tensor<6x6xf32>, tensor<6xf32>
  }
  // CHECK: kv.layer @outlined shape #[[SHAPE]] policy #[[OWN]] step @tiny_step0 {
  // CHECK-NEXT: }
  kv.layer @outlined shape #shape policy #policy step @tiny_step0 {
  }
}

// CHECK: kv.step @tiny_step0 shape #[[SHAPE]] policy #[[OWN]] {
kv.step @tiny_step0 shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
  // A moment may be read as often as one likes before it is taken.
  %o, %l = kv.attend %cache, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  %1 = kv.append %cache, %k, %v : tensor<2x8xf32>, tensor<2x6xf32>
  %out, %lse = kv.attend %1, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  kv.yield %1, %out, %lse : !kv.cache, tensor<4x6xf32>, tensor<4xf32>
}

// CHECK: kv.step @lowered shape #[[SHAPE]] policy #[[OWN]] streams [#[[KEYS]], #[[VALUES]]] segments [#kv.segment<keys = 0, values = 1, rotation = 1>] schedule <heads = 2, run = 64, rows = 16> {
// CHECK-NEXT: }
kv.step @lowered shape #shape policy #policy
  streams [#kv.stream<plane = "keys", kind = "sink", origin = 0, encoding = #kv.float<f32>>,
           #kv.stream<plane = "values", kind = "sink", origin = 0, encoding = #kv.float<f32>>]
  segments [#kv.segment<keys = 0, values = 1, rotation = 1>]
  schedule <heads = 2, run = 64, rows = 16> {
}
