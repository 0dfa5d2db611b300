// RUN: kvc-opt %s --kv-outline-steps -split-input-file | FileCheck %s

// Layers whose shape, policy and body are equal share a step. No kernel feels
// theta, nor which layer a reader's owner is: layers that differ in those share
// a step all the same, and keep a policy of their own.

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 8, io = f32>
#near = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 0, window = 12>, position = #kv.absolute<<theta = 1.0e4 : f64, dims = 8, pairing = "half">>, depth = #kv.own, score = [#kv.plain<scale = 0.25 : f64>]>
#far = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 0, window = 12>, position = #kv.absolute<<theta = 1.0e6 : f64, dims = 8, pairing = "half">>, depth = #kv.own, score = [#kv.plain<scale = 0.25 : f64>]>
#wide = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 0, window = 13>, position = #kv.absolute<<theta = 1.0e4 : f64, dims = 8, pairing = "half">>, depth = #kv.own, score = [#kv.plain<scale = 0.25 : f64>]>

// CHECK-DAG: #[[NEAR:policy[0-9]*]] = {{.*}}window = 12>{{.*}}theta = 1.000000e+04
// CHECK-DAG: #[[FAR:policy[0-9]*]] = {{.*}}window = 12>{{.*}}theta = 1.000000e+06
// CHECK-DAG: #[[FORM:policy[0-9]*]] = {{.*}}window = 12>{{.*}}theta = 1.000000e+00
// CHECK-DAG: #[[WIDE:policy[0-9]*]] = {{.*}}window = 13>{{.*}}theta = 1.000000e+00

// CHECK: kv.model @m
kv.model @m io f32 {
  // CHECK: kv.layer @layer0 shape #shape policy #[[NEAR]] step @m_step0 {
  // CHECK-NEXT: }
  kv.layer @layer0 shape #shape policy #near {
  ^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x8xf32>):
    %0 = kv.append %cache, %k, %v : tensor<2x8xf32>, tensor<2x8xf32>
    %1 = kv.evict %0
    %2 = kv.code %1
    %out, %lse = kv.attend %2, %q : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
    kv.yield %2, %out, %lse : !kv.cache, tensor<4x8xf32>, tensor<4xf32>
  }
  // CHECK-NEXT: kv.layer @layer1 shape #shape policy #[[FAR]] step @m_step0 {
  kv.layer @layer1 shape #shape policy #far {
  ^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x8xf32>):
    %0 = kv.append %cache, %k, %v : tensor<2x8xf32>, tensor<2x8xf32>
    %1 = kv.evict %0
    %2 = kv.code %1
    %out, %lse = kv.attend %2, %q : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
    kv.yield %2, %out, %lse : !kv.cache, tensor<4x8xf32>, tensor<4xf32>
  }
  // CHECK: kv.layer @layer2 {{.*}} step @m_step1 {
  kv.layer @layer2 shape #shape policy #wide {
  ^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x8xf32>):
    %0 = kv.append %cache, %k, %v : tensor<2x8xf32>, tensor<2x8xf32>
    %1 = kv.evict %0
    %2 = kv.code %1
    %out, %lse = kv.attend %2, %q : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
    kv.yield %2, %out, %lse : !kv.cache, tensor<4x8xf32>, tensor<4xf32>
  }
}
// The body goes to the step as it is.
// CHECK-DAG: kv.step @m_step0 shape #shape policy #[[FORM]] {
// CHECK-DAG: kv.step @m_step1 shape #shape policy #[[WIDE]] {
// CHECK: ^bb0(%[[CACHE:[a-z0-9_]+]]: !kv.cache, %[[Q:[a-z0-9_]+]]: tensor<4x8xf32>, %[[K:[a-z0-9_]+]]: tensor<2x8xf32>, %[[V:[a-z0-9_]+]]: tensor<2x8xf32>):
// CHECK-NEXT: %[[APPENDED:[a-z0-9_]+]] = kv.append %[[CACHE]], %[[K]], %[[V]]
// CHECK-NEXT: %[[LEFT:[a-z0-9_]+]] = kv.evict %[[APPENDED]]
// CHECK-NEXT: %[[CODED:[a-z0-9_]+]] = kv.code %[[LEFT]]
// CHECK-NEXT: %[[OUT:[a-z0-9_]+]], %[[LSE:[a-z0-9_]+]] = kv.attend %[[CODED]], %[[Q]]
// CHECK-NEXT: kv.yield %[[CODED]], %[[OUT]], %[[LSE]]
// CHECK-NOT: kv.step @m_step2

// -----

// Readers of different owners share a step; one with other heads has its own.

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 8, io = f32>
#more = #kv.shape<heads = 6, kv_heads = 2, head_dim = 8, value_dim = 8, io = f32>
#own = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 99>, position = #kv.unrotated, depth = #kv.own, score = [#kv.plain<scale = 0.25 : f64>]>
#first = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 99>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]>
#second = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 99>, position = #kv.unrotated, depth = #kv.share<layer = 1>, score = [#kv.plain<scale = 0.25 : f64>]>

// CHECK-LABEL: kv.model @readers
kv.model @readers io f32 {
  // CHECK: kv.layer @layer0 {{.*}} step @readers_step0 {
  kv.layer @layer0 shape #shape policy #own {
  ^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x8xf32>):
    %0 = kv.append %cache, %k, %v : tensor<2x8xf32>, tensor<2x8xf32>
    %1 = kv.evict %0
    %2 = kv.code %1
    %out, %lse = kv.attend %2, %q : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
    kv.yield %2, %out, %lse : !kv.cache, tensor<4x8xf32>, tensor<4xf32>
  }
  // CHECK: kv.layer @layer1 {{.*}} step @readers_step0 {
  kv.layer @layer1 shape #shape policy #own {
  ^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x8xf32>):
    %0 = kv.append %cache, %k, %v : tensor<2x8xf32>, tensor<2x8xf32>
    %1 = kv.evict %0
    %2 = kv.code %1
    %out, %lse = kv.attend %2, %q : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
    kv.yield %2, %out, %lse : !kv.cache, tensor<4x8xf32>, tensor<4xf32>
  }
  // CHECK: kv.layer @layer2 {{.*}} step @readers_step1 {
  kv.layer @layer2 shape #shape policy #first {
  ^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
    kv.yield %out, %lse : tensor<4x8xf32>, tensor<4xf32>
  }
  // CHECK: kv.layer @layer3 {{.*}} step @readers_step1 {
  kv.layer @layer3 shape #shape policy #second {
  ^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
    kv.yield %out, %lse : tensor<4x8xf32>, tensor<4xf32>
  }
  // CHECK: kv.layer @layer4 {{.*}} step @readers_step2 {
  kv.layer @layer4 shape #more policy #second {
  ^bb0(%cache: !kv.cache, %q: tensor<6x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<6x8xf32> -> tensor<6x8xf32>, tensor<6xf32>
    kv.yield %out, %lse : tensor<6x8xf32>, tensor<6xf32>
  }
}
// CHECK-COUNT-3: kv.step @readers_step
// CHECK-NOT: kv.step
