// RUN: kvc-opt %s --pass-pipeline='builtin.module(kv.step(kv-choose-layout))' -split-input-file -verify-diagnostics | FileCheck %s
// RUN: sed 's/name = "x86-64-v3", lanes = 8, registers = 16/name = "t", lanes = 4, registers = 32/' %s | kvc-opt --pass-pipeline='builtin.module(kv.step(kv-choose-layout))' -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=FOUR

// Of 4 lanes, four vectors are a cache line.
// FOUR-DAG: #kv.layout<heads = 2, tokens = 48, channels = 24, block = 24, lanes_on = "tokens", lanes = 4, vectors = 4, pages = 5>
// FOUR-DAG: #kv.layout<heads = 2, tokens = 16, channels = 20, block = 20, lanes_on = "channels", lanes = 4, vectors = 1, pages = 1>
// FOUR-DAG: #kv.layout<heads = 2, tokens = 48, channels = 20, block = 10, lanes_on = "channels", lanes = 4, vectors = 1, pages = 4>
// FOUR: kv.step @codes

// Keys have tokens on the lanes, values channels; originals lie as the codes do
// that are made of them, in blocks of the channels that share a scale. A page
// has whole vectors, words and blocks of scales of tokens, about 64 of them, and
// no more than are ever stored; `pages` is what is needed at once: what a step holds
// and the 128 tokens that a piece of a prefill may have.

// CHECK-DAG: #[[KS:layout[0-9]*]] = #kv.layout<heads = 2, tokens = 16, channels = 24, block = 24, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 1>
// CHECK-DAG: #[[K:layout[0-9]*]] = #kv.layout<heads = 2, tokens = 48, channels = 24, block = 24, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>
// Vectors are read two at a time where that pads no block of channels.
// CHECK-DAG: #[[VS:layout[0-9]*]] = #kv.layout<heads = 2, tokens = 16, channels = 20, block = 20, lanes_on = "channels", lanes = 8, vectors = 1, pages = 1>
// CHECK-DAG: #[[V:layout[0-9]*]] = #kv.layout<heads = 2, tokens = 48, channels = 20, block = 10, lanes_on = "channels", lanes = 8, vectors = 2, pages = 4>
// CHECK-DAG: #[[VC:layout[0-9]*]] = #kv.layout<heads = 2, tokens = 48, channels = 20, block = 10, lanes_on = "channels", lanes = 8, vectors = 2, pages = 5>
// CHECK-DAG: #kv.stream<plane = "keys", kind = "sink", {{.*}}, layout = #[[KS]]>
// CHECK-DAG: #kv.stream<plane = "keys", kind = "original", {{.*}}, layout = #[[K]]>
// CHECK-DAG: #kv.stream<plane = "keys", kind = "code", {{.*}}, layout = #[[K]]>
// CHECK-DAG: #kv.stream<plane = "values", kind = "sink", {{.*}}, layout = #[[VS]]>
// CHECK-DAG: #kv.stream<plane = "values", kind = "original", {{.*}}, layout = #[[V]]>
// CHECK-DAG: #kv.stream<plane = "values", kind = "code", {{.*}}, layout = #[[VC]]>
// CHECK: kv.step @codes

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  kv.step @codes shape #kv.shape<heads = 4, kv_heads = 2, head_dim = 24, value_dim = 20, io = f32> policy #kv.policy<keys = #kv.affine_channel<bits = 4, group = 16, flush = 32, residual = 0, scales = f16>, values = #kv.affine_token<bits = 8, group = 10, flush = 1, residual = 7, scales = f16>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 3, window = 40>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]> streams [
    #kv.stream<plane = "keys", kind = "sink", origin = 0, encoding = #kv.float<f32>>,
    #kv.stream<plane = "keys", kind = "original", origin = 3, encoding = #kv.float<f32>>,
    #kv.stream<plane = "keys", kind = "code", origin = 3, encoding = #kv.affine_channel<bits = 4, group = 16, flush = 32, residual = 0, scales = f16>>,
    #kv.stream<plane = "values", kind = "sink", origin = 0, encoding = #kv.float<f32>>,
    #kv.stream<plane = "values", kind = "original", origin = 3, encoding = #kv.float<f32>>,
    #kv.stream<plane = "values", kind = "code", origin = 3, encoding = #kv.affine_token<bits = 8, group = 10, flush = 1, residual = 7, scales = f16>>] {
  ^bb0(%cache: !kv.cache, %q: tensor<4x24xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<4x24xf32> -> tensor<4x20xf32>, tensor<4xf32>
    kv.yield %out, %lse : tensor<4x20xf32>, tensor<4xf32>
  }
}

// -----

// Blocks of channels follow from what is stored: of keys per token, one a group.
// Values per channel have scales of their own on each lane, so they need none.
// Codes last for the window, originals until they are coded.

// CHECK-DAG: #[[KO:layout[0-9]*]] = #kv.layout<heads = 2, tokens = 64, channels = 20, block = 10, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 4>
// CHECK-DAG: #[[KC:layout[0-9]*]] = #kv.layout<heads = 2, tokens = 64, channels = 20, block = 10, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>
// CHECK-DAG: #[[VO:layout[0-9]*]] = #kv.layout<heads = 2, tokens = 64, channels = 24, block = 24, lanes_on = "channels", lanes = 8, vectors = 1, pages = 4>
// CHECK-DAG: #[[VC:layout[0-9]*]] = #kv.layout<heads = 2, tokens = 64, channels = 24, block = 24, lanes_on = "channels", lanes = 8, vectors = 1, pages = 5>
// CHECK-DAG: #kv.stream<plane = "keys", kind = "original", {{.*}}, layout = #[[KO]]>
// CHECK-DAG: #kv.stream<plane = "keys", kind = "code", {{.*}}, layout = #[[KC]]>
// CHECK-DAG: #kv.stream<plane = "values", kind = "original", {{.*}}, layout = #[[VO]]>
// CHECK-DAG: #kv.stream<plane = "values", kind = "code", {{.*}}, layout = #[[VC]]>
// CHECK: kv.step @turned

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  kv.step @turned shape #kv.shape<heads = 4, kv_heads = 2, head_dim = 20, value_dim = 24, io = f32> policy #kv.policy<keys = #kv.affine_token<bits = 8, group = 10, flush = 3, residual = 5, scales = f16>, values = #kv.affine_channel<bits = 4, group = 8, flush = 16, residual = 4, scales = f16>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 0, window = 70>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]> streams [
    #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>>,
    #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_token<bits = 8, group = 10, flush = 3, residual = 5, scales = f16>>,
    #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>>,
    #kv.stream<plane = "values", kind = "code", origin = 0, encoding = #kv.affine_channel<bits = 4, group = 8, flush = 16, residual = 4, scales = f16>>] {
  ^bb0(%cache: !kv.cache, %q: tensor<4x20xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<4x20xf32> -> tensor<4x24xf32>, tensor<4xf32>
    kv.yield %out, %lse : tensor<4x24xf32>, tensor<4xf32>
  }
}

// -----

// Wider vectors: longer pages, where little is stored too.

// CHECK-DAG: #kv.layout<heads = 1, tokens = 32, channels = 8, block = 8, lanes_on = "tokens", lanes = 16, vectors = 2, pages = 6>
// CHECK-DAG: #kv.layout<heads = 1, tokens = 32, channels = 8, block = 8, lanes_on = "channels", lanes = 16, vectors = 1, pages = 6>
// CHECK: kv.step @floats

module attributes {kv.target = #kv.target<name = "x86-64-v4", lanes = 16, registers = 32>} {
  kv.step @floats shape #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32> policy #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 0, window = 9>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]> streams [
    #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>>,
    #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>>] {
  ^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
    kv.yield %out, %lse : tensor<2x8xf32>, tensor<2xf32>
  }
}

// -----

// What rollback holds is stored no more, and lies in pages: 100 tokens besides.

// CHECK-DAG: #kv.layout<heads = 1, tokens = 32, channels = 8, block = 8, lanes_on = "tokens", lanes = 16, vectors = 2, pages = 9>
// CHECK-DAG: #kv.layout<heads = 1, tokens = 32, channels = 8, block = 8, lanes_on = "channels", lanes = 16, vectors = 1, pages = 9>
// CHECK: kv.step @back

module attributes {kv.target = #kv.target<name = "x86-64-v4", lanes = 16, registers = 32>} {
  kv.step @back shape #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32> policy #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 0, window = 9>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>], rollback = 100> streams [
    #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>>,
    #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>>] {
  ^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
    kv.yield %out, %lse : tensor<2x8xf32>, tensor<2xf32>
  }
}

// -----

// A page has whole groups, though no 64 tokens have.

// CHECK-COUNT-4: #kv.layout<heads = 1, tokens = 48,
// CHECK: kv.step @groups

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  kv.step @groups shape #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32> policy #kv.policy<keys = #kv.affine_channel<bits = 8, group = 48, flush = 48, residual = 0, scales = f16>, values = #kv.affine_channel<bits = 8, group = 48, flush = 48, residual = 0, scales = f16>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 500>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]> streams [
    #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>>,
    #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_channel<bits = 8, group = 48, flush = 48, residual = 0, scales = f16>>,
    #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>>,
    #kv.stream<plane = "values", kind = "code", origin = 0, encoding = #kv.affine_channel<bits = 8, group = 48, flush = 48, residual = 0, scales = f16>>] {
  ^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
    kv.yield %out, %lse : tensor<2x8xf32>, tensor<2xf32>
  }
}

// -----

// expected-error@below {{'kv.step' op needs a target: a module attribute kv.target}}
kv.step @lost shape #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32> policy #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 500>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>]> streams [
  #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>>,
  #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>>] {
^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>):
  %out, %lse = kv.attend %cache, %q : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
  kv.yield %out, %lse : tensor<2x8xf32>, tensor<2xf32>
}


// -----

// A scale for all tokens leaves pages as they would be without, and all
// originals stay: 500 tokens and a piece more.

// CHECK-DAG: kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #layout{{[0-9]*}}>
// CHECK-DAG: #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 11>
// CHECK: kv.step @anew

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  kv.step @anew shape #kv.shape<heads = 2, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32> policy #kv.policy<keys = #kv.affine_all<bits = 4, scales = f16>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 500>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 0.25 : f64>], rollback = 3> streams [
    #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>>,
    #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_all<bits = 4, scales = f16>>,
    #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>>] {
  ^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>):
    %out, %lse = kv.attend %cache, %q : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
    kv.yield %out, %lse : tensor<2x8xf32>, tensor<2xf32>
  }
}
