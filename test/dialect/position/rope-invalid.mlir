// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.rope refuses.

// expected-error@below {{theta is an f64 of at least 1, not -1.000000e+00}}
#a = #kv.rope<theta = -1.0, dims = 64, pairing = "half">

// -----

// expected-error@below {{theta is an f64 of at least 1, not 5.000000e-01}}
#a = #kv.rope<theta = 0.5, dims = 64, pairing = "half">

// -----

// Infinity.
// expected-error@below {{theta is an f64 of at least 1, not 0x7FF0000000000000}}
#a = #kv.rope<theta = 0x7FF0000000000000 : f64, dims = 64, pairing = "half">

// -----

// NaN.
// expected-error@below {{theta is an f64 of at least 1, not 0x7FF8000000000000}}
#a = #kv.rope<theta = 0x7FF8000000000000 : f64, dims = 64, pairing = "half">

// -----

// expected-error@below {{theta is an f64 of at least 1, not 1.000000e+00 : f32}}
#a = #kv.rope<theta = 1.0 : f32, dims = 64, pairing = "half">

// -----

// expected-error@below {{invalid kind of attribute specified}}
// expected-error@below {{failed to parse KV_RopeAttr parameter 'theta'}}
#a = #kv.rope<theta = 10, dims = 64, pairing = "half">

// -----

// expected-error@below {{dims is even and 2 to 65536, not 0}}
#a = #kv.rope<theta = 1.0, dims = 0, pairing = "half">

// -----

// expected-error@below {{dims is even and 2 to 65536, not -2}}
#a = #kv.rope<theta = 1.0, dims = -2, pairing = "half">

// -----

// expected-error@below {{dims is even and 2 to 65536, not 63}}
#a = #kv.rope<theta = 1.0, dims = 63, pairing = "half">

// -----

// expected-error@below {{dims is even and 2 to 65536, not 9223372036854775806}}
#a = #kv.rope<theta = 1.0, dims = 9223372036854775806, pairing = "half">

// -----

// expected-error@below {{pairing is "half" or "interleaved", not "quarter"}}
#a = #kv.rope<theta = 1.0, dims = 64, pairing = "quarter">

// -----

// expected-error@below {{scaling "ntk" has the exponent dims / (dims - 2), so dims is not 2}}
#a = #kv.rope<theta = 2.0, dims = 2, pairing = "half", scaling = <"ntk", {factor = 2.0 : f64}>>

// -----

// expected-error@below {{scaling "yarn" divides by the logarithm of theta, so theta is not 1}}
#a = #kv.rope<theta = 1.0, dims = 4, pairing = "half", scaling = <"yarn", {attention_factor = 1.5 : f64, beta_fast = 32.0 : f64, beta_slow = 1.0 : f64, factor = 8.0 : f64, original_context = 4096.0 : f64, truncate = true}>>

// -----

// expected-error@below {{expected string}}
// expected-error@below {{failed to parse KV_RopeAttr parameter 'pairing'}}
#a = #kv.rope<theta = 1.0, dims = 64, pairing = half>
