// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.softcap refuses.

// expected-error@below {{cap is an f64 of 1e-30 to 1e30, not 1.000000e+00 : f32}}
#a = #kv.softcap<cap = 1.0 : f32>

// -----

// expected-error@below {{cap is an f64 of 1e-30 to 1e30, not 0.000000e+00}}
#a = #kv.softcap<cap = 0.0>

// -----

// expected-error@below {{cap is an f64 of 1e-30 to 1e30, not -1.000000e+00}}
#a = #kv.softcap<cap = -1.0>

// -----

// expected-error@below {{cap is an f64 of 1e-30 to 1e30, not 0x7FF8000000000000}}
#a = #kv.softcap<cap = 0x7FF8000000000000 : f64>
