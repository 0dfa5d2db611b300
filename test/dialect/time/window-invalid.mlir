// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.window refuses.

// expected-error@below {{sinks are 0 to 2147483647, not -1}}
#a = #kv.window<sinks = -1, window = 4>

// -----

// expected-error@below {{sinks are 0 to 2147483647, not 2147483648}}
#a = #kv.window<sinks = 2147483648, window = 4>

// -----

// expected-error@below {{window is 1 to 2147483647, not 0}}
#a = #kv.window<sinks = 0, window = 0>

// -----

// expected-error@below {{window is 1 to 2147483647, not 2147483648}}
#a = #kv.window<sinks = 0, window = 2147483648>
