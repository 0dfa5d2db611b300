// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.affine_all refuses.

// expected-error@below {{codes have 8, 4 or 2 bits, not 3}}
#a = #kv.affine_all<bits = 3, scales = f16>

// -----

// expected-error@below {{scales are f16, bf16 or f32, not 'i32'}}
#a = #kv.affine_all<bits = 4, scales = i32>

// -----

// expected-error@below {{expected ','}}
#a = #kv.affine_all<bits = 4>
