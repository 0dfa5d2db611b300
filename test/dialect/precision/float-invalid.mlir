// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.float refuses.

// expected-error@below {{float planes are f32, f16 or bf16, not 'f64'}}
#a = #kv.float<f64>

// -----

// expected-error@below {{float planes are f32, f16 or bf16, not 'i32'}}
#a = #kv.float<i32>

// -----

// expected-error@below {{expected non-function type}}
// expected-error@below {{failed to parse KV_FloatPrecisionAttr parameter 'type'}}
#a = #kv.float<>

// -----

// expected-error@below {{expected '<'}}
#a = #kv.float
