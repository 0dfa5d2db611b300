// A pair that covers all tokens is one channel's.
// RUN: not kvc-test check %s 2>&1 | FileCheck %s
// CHECK: keys has a scale for all tokens of 2 channels, where it is one a channel, in #kvtest.square<bits = 4, tokens = 0, channels = 3,

#policy = #kv.policy<
  keys = #kvtest.square<bits = 4, tokens = 0, channels = 3, flush = 1, residual = 0>,
  values = #kv.float<f32>,
  residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 3, window = 40>,
  position = #kv.unrotated, depth = #kv.own, score = [#kv.plain<scale = 0.2 : f64>]>
