// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.affine_channel refuses.

// expected-error@below {{flush is 100, which is not a multiple of group 32}}
#a = #kv.affine_channel<bits = 4, group = 32, flush = 100, residual = 0, scales = f16>

// -----

// expected-error@below {{codes have 8, 4 or 2 bits, not 1}}
#a = #kv.affine_channel<bits = 1, group = 32, flush = 128, residual = 0, scales = f16>

// -----

// expected-error@below {{codes have 8, 4 or 2 bits, not 0}}
#a = #kv.affine_channel<bits = 0, group = 32, flush = 128, residual = 0, scales = f16>

// -----

// expected-error@below {{codes have 8, 4 or 2 bits, not -4}}
#a = #kv.affine_channel<bits = -4, group = 32, flush = 128, residual = 0, scales = f16>

// -----

// A number that is no 64-bit integer.
// expected-error@below {{integer value too large}}
// expected-error@below {{failed to parse KV_AffineChannelAttr parameter 'bits'}}
#a = #kv.affine_channel<bits = 99999999999999999999, group = 32, flush = 128, residual = 0, scales = f16>

// -----

// expected-error@below {{group is 1 to 2147483647, not 0}}
#a = #kv.affine_channel<bits = 4, group = 0, flush = 128, residual = 0, scales = f16>

// -----

// expected-error@below {{group is 1 to 2147483647, not -9223372036854775808}}
#a = #kv.affine_channel<bits = 4, group = -9223372036854775808, flush = 1, residual = 0, scales = f16>

// -----

// expected-error@below {{group is 1 to 2147483647, not 9223372036854775807}}
#a = #kv.affine_channel<bits = 4, group = 9223372036854775807, flush = 9223372036854775807, residual = 0, scales = f16>

// -----

// expected-error@below {{flush is 1 to 2147483647, not 0}}
#a = #kv.affine_channel<bits = 4, group = 32, flush = 0, residual = 0, scales = f16>

// -----

// expected-error@below {{flush is 1 to 2147483647, not -32}}
#a = #kv.affine_channel<bits = 4, group = 32, flush = -32, residual = 0, scales = f16>

// -----

// expected-error@below {{residual is 0 to 2147483647, not -1}}
#a = #kv.affine_channel<bits = 4, group = 32, flush = 128, residual = -1, scales = f16>

// -----

// expected-error@below {{residual is 0 to 2147483647, not 2147483648}}
#a = #kv.affine_channel<bits = 4, group = 32, flush = 128, residual = 2147483648, scales = f16>

// -----

// expected-error@below {{scales are f16, bf16 or f32, not 'f64'}}
#a = #kv.affine_channel<bits = 4, group = 32, flush = 128, residual = 0, scales = f64>

// -----

// expected-error@below {{scales are f16, bf16 or f32, not 'vector<2xf16>'}}
#a = #kv.affine_channel<bits = 4, group = 32, flush = 128, residual = 0, scales = vector<2xf16>>

// -----

// expected-error@below {{duplicate or unknown struct parameter name: bits}}
#a = #kv.affine_channel<bits = 4, bits = 4, flush = 1, residual = 0, scales = f16>

// -----

// expected-error@below {{expected ','}}
#a = #kv.affine_channel<bits = 4, group = 32, flush = 128, residual = 0>
