// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.in_cache refuses.

// expected-error@below {{invalid kind of attribute specified}}
// expected-error@below {{failed to parse KV_InCacheAttr parameter 'rope'}}
#a = #kv.in_cache<#kv.own>

// -----

// expected-error@below {{expected '<'}}
// expected-error@below {{failed to parse KV_InCacheAttr parameter 'rope'}}
#a = #kv.in_cache<>

// -----

// expected-error@below {{expected '<'}}
// expected-error@below {{failed to parse KV_InCacheAttr parameter 'rope'}}
#a = #kv.in_cache<theta = 1.0, dims = 64, pairing = "half">

// -----

// expected-error@below {{dims is even and 2 to 65536, not 1}}
// expected-error@below {{failed to parse KV_InCacheAttr parameter 'rope'}}
#a = #kv.in_cache<<theta = 1.0, dims = 1, pairing = "half">>
