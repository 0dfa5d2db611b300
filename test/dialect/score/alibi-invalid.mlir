// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.alibi refuses.

// expected-error@below {{a slope is 0 to 1e28, not -1.000000e+00}}
#a = #kv.alibi<slopes = [1.0, -1.0]>

// -----

// expected-error@below {{a slope is 0 to 1e28, not 2.000000e+28}}
#a = #kv.alibi<slopes = [2.0e28]>

// -----

// expected-error@below {{there is one slope a query head, not none}}
#a = #kv.alibi<slopes = []>
