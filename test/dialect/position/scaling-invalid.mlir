// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.scaling refuses.

// expected-error@below {{scaling is "linear", "ntk", "llama3" or "yarn", not "dynamic"}}
#a = #kv.scaling<"dynamic", {factor = 2.0 : f64}>

// -----

// expected-error@below {{"low" is no number of scaling "linear"}}
#a = #kv.scaling<"linear", {factor = 2.0 : f64, low = 1.0 : f64}>

// -----

// expected-error@below {{factor is a positive f64}}
#a = #kv.scaling<"linear", {}>

// -----

// expected-error@below {{factor is a positive f64}}
#a = #kv.scaling<"linear", {factor = 2.0 : f32}>

// -----

// expected-error@below {{factor is a positive f64}}
#a = #kv.scaling<"ntk", {factor = 0.0 : f64}>

// -----

// expected-error@below {{factor is a positive f64}}
#a = #kv.scaling<"ntk", {factor = 0x7FF0000000000000 : f64}>

// -----

// expected-error@below {{truncate is true or false}}
#a = #kv.scaling<"yarn", {attention_factor = 1.5 : f64, beta_fast = 32.0 : f64, beta_slow = 1.0 : f64, factor = 8.0 : f64, original_context = 4096.0 : f64, truncate = 1 : i32}>
