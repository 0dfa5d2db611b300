// RUN: kvc-opt %s --kv-lower-tiles -split-input-file -verify-diagnostics

// expected-error@below {{needs a target: a module attribute kv.target}}
module {
}

// -----

// Scales are to be folded first.

#keys = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  func.func @unfolded(%q: !kv.tile<2x8>, %page: !kv.page<#keys>, %h: index, %t: index, %n: index) -> !kv.tile<2x64> {
    // expected-error@below {{failed to legalize operation 'kv.contract'}}
    %s = kv.contract %q with %page head %h run %t, %h, %n : <2x8>, <#keys> -> <2x64>
    return %s : !kv.tile<2x64>
  }
}

// -----

// Where a lane is an invocation only attention is generated.

#keys = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
module attributes {kv.target = #kv.target<name = "vulkan", lanes = 8, registers = 32, lane = "invocation">} {
  func.func @encode(%x: !kv.tile<1x8>, %page: !kv.page<#keys>, %h: index, %t: index) -> index {
    // expected-error@below {{'kv.encode' op is not generated yet where a lane is an invocation: lanes would write into words that they share}}
    %n = kv.encode %x to %page head %h at %t : <1x8>, <#keys>
    return %n : index
  }
}

// -----

module attributes {kv.target = #kv.target<name = "vulkan", lanes = 8, registers = 32, lane = "invocation">} {
  func.func @load(%parts: !kv.parts, %i: index) -> !kv.state<2x8> {
    // expected-error@below {{'kv.load_state' op is not generated yet where a lane is an invocation: results are read and joined on the host}}
    %s = kv.load_state %parts[%i] at %i : !kv.state<2x8>
    return %s : !kv.state<2x8>
  }
}
