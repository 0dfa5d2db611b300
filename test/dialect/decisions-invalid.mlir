// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.target, #kv.schedule and #kv.segment refuse.

// expected-error@below {{lanes is a power of two up to 1024, not 0}}
#a = #kv.target<name = "x", lanes = 0, registers = 16>

// -----

// expected-error@below {{lanes is a power of two up to 1024, not 6}}
#a = #kv.target<name = "x", lanes = 6, registers = 16>

// -----

// expected-error@below {{lanes is a power of two up to 1024, not 4611686018427387904}}
#a = #kv.target<name = "x", lanes = 4611686018427387904, registers = 16>

// -----

// expected-error@below {{registers is at least 8, not 7}}
#a = #kv.target<name = "x", lanes = 8, registers = 7>

// -----

// expected-error@below {{lane is vector or invocation, not thread}}
#a = #kv.target<name = "x", lanes = 8, registers = 16, lane = "thread">

// -----

// expected-error@below {{heads is 1 to 2147483647, not 0}}
#a = #kv.schedule<heads = 0, run = 64, rows = 16>

// -----

// expected-error@below {{run is 1 to 2147483647, not -1}}
#a = #kv.schedule<heads = 4, run = -1, rows = 16>

// -----

// expected-error@below {{rows is 1 to 2147483647, not 0}}
#a = #kv.schedule<heads = 4, run = 64, rows = 0>

// -----

// expected-error@below {{rows is 1 to 2147483647, not 2147483648}}
#a = #kv.schedule<heads = 4, run = 64, rows = 2147483648>

// -----

// expected-error@below {{prefetch is 0 to 64 runs, not -1}}
#a = #kv.schedule<heads = 4, run = 64, rows = 16, prefetch = -1>

// -----

// expected-error@below {{prefetch is 0 to 64 runs, not 65}}
#a = #kv.schedule<heads = 4, run = 64, rows = 16, prefetch = 65>

// -----

// expected-error@below {{expected integer value}}
// expected-error@below {{failed to parse KV_SegmentAttr parameter 'keys'}}
#a = #kv.segment<keys = first, values = 1, rotation = 0>

// -----

// expected-error@below {{dot is "vpmadd", "sdot" or not there, not "vnni"}}
#a = #kv.target<name = "x", lanes = 8, registers = 16, dot = "vnni">

// -----

// expected-error@below {{arithmetic is i16 or i8, not 'i32'}}
#a = #kv.schedule<heads = 1, run = 64, rows = 1, arithmetic = i32>
