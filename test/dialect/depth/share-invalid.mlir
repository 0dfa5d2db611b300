// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.share refuses.

// expected-error@below {{a layer's number is not negative, as -1 is}}
#a = #kv.share<layer = -1>

// -----

// expected-error@below {{expected '<'}}
#a = #kv.share
