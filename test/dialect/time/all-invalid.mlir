// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.all refuses.

// expected-error@below {{sinks are not negative, as -1 is}}
#a = #kv.all<sinks = -1, tokens = 3>

// -----

// expected-error@below {{tokens is more than sinks (4) and at most 2147483647, not 4}}
#a = #kv.all<sinks = 4, tokens = 4>

// -----

// expected-error@below {{tokens is more than sinks (0) and at most 2147483647, not 0}}
#a = #kv.all<sinks = 0, tokens = 0>

// -----

// expected-error@below {{tokens is more than sinks (0) and at most 2147483647, not 2147483648}}
#a = #kv.all<sinks = 0, tokens = 2147483648>

// -----

// expected-error@below {{expected ','}}
#a = #kv.all<tokens = 3>
