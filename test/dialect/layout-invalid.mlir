// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.layout refuses.

// expected-error@below {{lanes_on is "tokens" or "channels", not "rows"}}
#a = #kv.layout<heads = 3, tokens = 64, channels = 64, block = 64, lanes_on = "rows", lanes = 8, vectors = 2, pages = 5>

// -----

// expected-error@below {{heads is 1 to 65536, not 0}}
#a = #kv.layout<heads = 0, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>

// -----

// expected-error@below {{heads is 1 to 65536, not 65537}}
#a = #kv.layout<heads = 65537, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>

// -----

// expected-error@below {{tokens is 1 to 16777216, not 0}}
#a = #kv.layout<heads = 3, tokens = 0, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>

// -----

// expected-error@below {{tokens is 1 to 16777216, not 16777217}}
#a = #kv.layout<heads = 3, tokens = 16777217, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>

// -----

// expected-error@below {{channels is 1 to 65536, not 0}}
#a = #kv.layout<heads = 3, tokens = 64, channels = 0, block = 64, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>

// -----

// expected-error@below {{channels is 1 to 65536, not 65537}}
#a = #kv.layout<heads = 3, tokens = 64, channels = 65537, block = 64, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>

// -----

// expected-error@below {{block is 1 to 65536, not 0}}
#a = #kv.layout<heads = 3, tokens = 64, channels = 64, block = 0, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>

// -----

// expected-error@below {{block is 1 to 65536, not 65537}}
#a = #kv.layout<heads = 3, tokens = 64, channels = 64, block = 65537, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>

// -----

// expected-error@below {{lanes is 1 to 1024, not 0}}
#a = #kv.layout<heads = 3, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 0, vectors = 2, pages = 5>

// -----

// expected-error@below {{lanes is 1 to 1024, not 1025}}
#a = #kv.layout<heads = 3, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 1025, vectors = 2, pages = 5>

// -----

// expected-error@below {{vectors is 1 to 1024, not 0}}
#a = #kv.layout<heads = 3, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 0, pages = 5>

// -----

// expected-error@below {{vectors is 1 to 1024, not 1025}}
#a = #kv.layout<heads = 3, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 1025, pages = 5>

// -----

// expected-error@below {{pages is 1 to 2147483647, not 0}}
#a = #kv.layout<heads = 3, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 0>

// -----

// expected-error@below {{pages is 1 to 2147483647, not 2147483648}}
#a = #kv.layout<heads = 3, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 2147483648>

// -----

// The product is 0 in 64 bits.
// expected-error@below {{lanes is 1 to 1024, not 4294967296}}
#a = #kv.layout<heads = 3, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 4294967296, vectors = 4294967296, pages = 5>

// -----

// expected-error@below {{block is 65, more than the channels, 64}}
#a = #kv.layout<heads = 3, tokens = 64, channels = 64, block = 65, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>

// -----

// expected-error@below {{tokens is 60, which is not a multiple of lanes * vectors, 16}}
#a = #kv.layout<heads = 3, tokens = 60, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>
