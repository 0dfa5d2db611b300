// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.stream refuses.

// expected-error@below {{plane is "keys" or "values", not "queries"}}
#a = #kv.stream<plane = "queries", kind = "code", origin = 4, encoding = #kv.float<f32>>

// -----

// expected-error@below {{kind is "sink", "original" or "code", not "zero"}}
#a = #kv.stream<plane = "keys", kind = "zero", origin = 4, encoding = #kv.float<f32>>

// -----

// expected-error@below {{origin is not negative, as -4 is}}
#a = #kv.stream<plane = "keys", kind = "code", origin = -4, encoding = #kv.float<f32>>

// -----

// Eight codes of 4 bits are a word.
// expected-error@below {{a page has whole words of tokens, not 12}}
#a = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 4, group = 32, flush = 1, residual = 0, scales = f16>, layout = #kv.layout<heads = 3, tokens = 12, channels = 64, block = 64, lanes_on = "channels", lanes = 8, vectors = 2, pages = 5>>

// -----

// expected-error@below {{invalid kind of attribute specified}}
// expected-error@below {{failed to parse KV_StreamAttr parameter 'encoding' which is to be a `PrecisionAttrInterface`}}
#a = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.own>

// -----

// expected-error@below {{invalid kind of attribute specified}}
// expected-error@below {{failed to parse KV_StreamAttr parameter 'layout' which is to be a `LayoutAttr`}}
#a = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.float<f32>, layout = #kv.own>
