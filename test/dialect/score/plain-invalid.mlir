// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.plain refuses.

// expected-error@below {{scale is a finite f64, not 1.000000e+00 : f32}}
#a = #kv.plain<scale = 1.0 : f32>

// -----

// Infinity.
// expected-error@below {{scale is a finite f64, not 0x7FF0000000000000}}
#a = #kv.plain<scale = 0x7FF0000000000000 : f64>

// -----

// NaN.
// expected-error@below {{scale is a finite f64, not 0x7FF8000000000000}}
#a = #kv.plain<scale = 0x7FF8000000000000 : f64>

// -----

// expected-error@below {{invalid kind of attribute specified}}
// expected-error@below {{failed to parse KV_PlainAttr parameter 'scale'}}
#a = #kv.plain<scale = 1>
