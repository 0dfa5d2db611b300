// Codes of 16 bits with pairs: the slots of a word lie apart, in both planes, and
// with blocks that end within one.
// RUN: kvc-test verify %s

#rope = #kv.rope<theta = 1.0e4 : f64, dims = 24, pairing = "half">
#policy = #kv.policy<
  keys = #kvtest.square<bits = 16, tokens = 5, channels = 3, flush = 10, residual = 4>,
  values = #kvtest.square<bits = 16, tokens = 3, channels = 7, flush = 3, residual = 1>,
  residual = #kv.float<bf16>, key_sinks = #kv.float<f16>, value_sinks = #kv.float<bf16>,
  time = #kv.window<sinks = 3, window = 40>,
  position = #kv.absolute<#rope>, depth = #kv.own, score = [#kv.plain<scale = 0.2 : f64>]>

kv.model @foreign_halves io f16 {
  kv.layer @layer0 shape <heads = 6, kv_heads = 2, head_dim = 28, value_dim = 20, io = f16> policy #policy {
  ^bb0(%cache: !kv.cache, %q: tensor<6x28xf16>, %k: tensor<2x28xf16>, %v: tensor<2x20xf16>):
    %1 = kv.append %cache, %k, %v : tensor<2x28xf16>, tensor<2x20xf16>
    %2 = kv.evict %1
    %3 = kv.code %2
    %out, %lse = kv.attend %3, %q : tensor<6x28xf16> -> tensor<6x20xf16>, tensor<6xf32>
    kv.yield %3, %out, %lse : !kv.cache, tensor<6x20xf16>, tensor<6xf32>
  }
}
