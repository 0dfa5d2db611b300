// RUN: kvc-opt %s --pass-pipeline='builtin.module(kv.step(kv-choose-schedule))' -split-input-file -verify-diagnostics | FileCheck %s

// Half of 16 registers hold the sums of two vectors of four rows; of one token
// that asks, as many heads as meet a head of keys. A run is 64 columns. Tokens
// ask together as many as the stack has room for, and at most 128; of many query
// heads for one head of keys, as many of these. Two runs are asked for ahead.

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // CHECK: kv.step @one {{.*}} schedule <heads = 4, run = 64, rows = 128, prefetch = 2> {
  kv.step @one shape #kv.shape<heads = 2, kv_heads = 2, head_dim = 8, value_dim = 16, io = f32> policy #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 500>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]> streams [
    #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 2, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 2>>,
    #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 2, tokens = 64, channels = 16, block = 16, lanes_on = "channels", lanes = 8, vectors = 2, pages = 2>>] {
  ^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<2x8xf32> -> tensor<2x16xf32>, tensor<2xf32>
    kv.yield %out, %lse : tensor<2x16xf32>, tensor<2xf32>
  }
  // CHECK: kv.step @three {{.*}} schedule <heads = 4, run = 64, rows = 53, prefetch = 2> {
  kv.step @three shape #kv.shape<heads = 9, kv_heads = 3, head_dim = 8, value_dim = 16, io = f32> policy #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 500>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]> streams [
    #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 3, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 2>>,
    #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 3, tokens = 64, channels = 16, block = 16, lanes_on = "channels", lanes = 8, vectors = 2, pages = 2>>] {
  ^bb0(%cache: !kv.cache, %q: tensor<9x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<9x8xf32> -> tensor<9x16xf32>, tensor<9xf32>
    kv.yield %out, %lse : tensor<9x16xf32>, tensor<9xf32>
  }
  // CHECK: kv.step @seven {{.*}} schedule <heads = 4, run = 64, rows = 22, prefetch = 2> {
  kv.step @seven shape #kv.shape<heads = 7, kv_heads = 1, head_dim = 8, value_dim = 16, io = f32> policy #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 500>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]> streams [
    #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 2>>,
    #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 16, block = 16, lanes_on = "channels", lanes = 8, vectors = 2, pages = 2>>] {
  ^bb0(%cache: !kv.cache, %q: tensor<7x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<7x8xf32> -> tensor<7x16xf32>, tensor<7xf32>
    kv.yield %out, %lse : tensor<7x16xf32>, tensor<7xf32>
  }
  // CHECK: kv.step @many {{.*}} schedule <heads = 4, run = 64, rows = 1, prefetch = 2, block = {{1[0-9][0-9]}}> {
  kv.step @many shape #kv.shape<heads = 1021, kv_heads = 1, head_dim = 8, value_dim = 16, io = f32> policy #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 500>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]> streams [
    #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 2>>,
    #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 16, block = 16, lanes_on = "channels", lanes = 8, vectors = 2, pages = 2>>] {
  ^bb0(%cache: !kv.cache, %q: tensor<1021x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<1021x8xf32> -> tensor<1021x16xf32>, tensor<1021xf32>
    kv.yield %out, %lse : tensor<1021x16xf32>, tensor<1021xf32>
  }
}

// -----

// Scales are folded into weights, a row a head and block of channels: 4 x 64 rows
// of 64 columns would be more than a tile may have.

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // CHECK: kv.step @blocks {{.*}} schedule <heads = 4, run = 32, rows = 1, prefetch = 2> {
  kv.step @blocks shape #kv.shape<heads = 4, kv_heads = 1, head_dim = 8, value_dim = 512, io = f32> policy #kv.policy<keys = #kv.float<f32>, values = #kv.affine_token<bits = 4, group = 8, flush = 1, residual = 0, scales = f16>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 500>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]> streams [
    #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 2>>,
    #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 512, block = 8, lanes_on = "channels", lanes = 8, vectors = 1, pages = 2>>,
    #kv.stream<plane = "values", kind = "code", origin = 0, encoding = #kv.affine_token<bits = 4, group = 8, flush = 1, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 512, block = 8, lanes_on = "channels", lanes = 8, vectors = 1, pages = 2>>] {
  ^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<4x8xf32> -> tensor<4x512xf32>, tensor<4xf32>
    kv.yield %out, %lse : tensor<4x512xf32>, tensor<4xf32>
  }
}

// -----

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // expected-error@below {{'kv.step' op needs a target and streams with layouts}}
  kv.step @bare shape #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32> policy #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 500>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]> {
  ^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
    kv.yield %out, %lse : tensor<2x8xf32>, tensor<2xf32>
  }
}

// -----

// expected-error@below {{'kv.step' op needs a target and streams with layouts}}
kv.step @lost shape #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 16, io = f32> policy #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 500>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]> streams [
  #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 2>>,
  #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 16, block = 16, lanes_on = "channels", lanes = 8, vectors = 2, pages = 2>>] {
^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>):
  %out, %lse = kv.attend %cache, %q : tensor<2x8xf32> -> tensor<2x16xf32>, tensor<2xf32>
  kv.yield %out, %lse : tensor<2x16xf32>, tensor<2xf32>
}


// -----

// Codes that are made anew are those of one length: one row.

// CHECK: kv.step @anew
// CHECK-SAME: schedule <heads = 2, run = 64, rows = 1, prefetch = 2>

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  kv.step @anew shape #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32> policy #kv.policy<keys = #kv.affine_all<bits = 4, scales = f16>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 0, window = 40>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>], rollback = 3> streams [
    #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 32, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>,
    #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_all<bits = 4, scales = f16>, layout = #kv.layout<heads = 1, tokens = 32, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>,
    #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 32, channels = 8, block = 8, lanes_on = "channels", lanes = 8, vectors = 1, pages = 3>>] {
  ^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
    kv.yield %out, %lse : tensor<2x8xf32>, tensor<2xf32>
  }
}
