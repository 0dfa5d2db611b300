// A point from outside, whose codes are made anew at each length: a pair covers
// all tokens of a channel.
// RUN: kvc-test verify %s

#rope = #kv.rope<theta = 1.0e4 : f64, dims = 24, pairing = "half">
#policy = #kv.policy<
  keys = #kvtest.square<bits = 4, tokens = 0, channels = 1, flush = 1, residual = 0>,
  values = #kvtest.square<bits = 2, tokens = 0, channels = 1, flush = 1, residual = 0>,
  residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 3, window = 40>,
  position = #kv.absolute<#rope>, depth = #kv.own, score = [#kv.plain<scale = 0.2 : f64>]>

kv.model @foreign_square_all io f32 {
  kv.layer @layer0 shape <heads = 6, kv_heads = 2, head_dim = 28, value_dim = 20, io = f32> policy #policy {
  ^bb0(%cache: !kv.cache, %q: tensor<6x28xf32>, %k: tensor<2x28xf32>, %v: tensor<2x20xf32>):
    %1 = kv.append %cache, %k, %v : tensor<2x28xf32>, tensor<2x20xf32>
    %2 = kv.evict %1
    %3 = kv.code %2
    %out, %lse = kv.attend %3, %q : tensor<6x28xf32> -> tensor<6x20xf32>, tensor<6xf32>
    kv.yield %3, %out, %lse : !kv.cache, tensor<6x20xf32>, tensor<6xf32>
  }
}
