// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.shape refuses.

// expected-error@below {{heads is 1 to 65536, not 0}}
#a = #kv.shape<heads = 0, kv_heads = 2, head_dim = 64, value_dim = 32, io = f32>

// -----

// expected-error@below {{heads is 1 to 65536, not -1}}
#a = #kv.shape<heads = -1, kv_heads = 2, head_dim = 64, value_dim = 32, io = f32>

// -----

// expected-error@below {{heads is 1 to 65536, not 65537}}
#a = #kv.shape<heads = 65537, kv_heads = 2, head_dim = 64, value_dim = 32, io = f32>

// -----

// expected-error@below {{kv_heads is 1 to 65536, not 0}}
#a = #kv.shape<heads = 4, kv_heads = 0, head_dim = 64, value_dim = 32, io = f32>

// -----

// expected-error@below {{kv_heads is 1 to 65536, not -1}}
#a = #kv.shape<heads = 4, kv_heads = -1, head_dim = 64, value_dim = 32, io = f32>

// -----

// expected-error@below {{kv_heads is 1 to 65536, not 65537}}
#a = #kv.shape<heads = 4, kv_heads = 65537, head_dim = 64, value_dim = 32, io = f32>

// -----

// expected-error@below {{head_dim is 1 to 65536, not 0}}
#a = #kv.shape<heads = 4, kv_heads = 2, head_dim = 0, value_dim = 32, io = f32>

// -----

// expected-error@below {{head_dim is 1 to 65536, not -1}}
#a = #kv.shape<heads = 4, kv_heads = 2, head_dim = -1, value_dim = 32, io = f32>

// -----

// expected-error@below {{head_dim is 1 to 65536, not 65537}}
#a = #kv.shape<heads = 4, kv_heads = 2, head_dim = 65537, value_dim = 32, io = f32>

// -----

// expected-error@below {{value_dim is 1 to 65536, not 0}}
#a = #kv.shape<heads = 4, kv_heads = 2, head_dim = 64, value_dim = 0, io = f32>

// -----

// expected-error@below {{value_dim is 1 to 65536, not -1}}
#a = #kv.shape<heads = 4, kv_heads = 2, head_dim = 64, value_dim = -1, io = f32>

// -----

// expected-error@below {{value_dim is 1 to 65536, not 65537}}
#a = #kv.shape<heads = 4, kv_heads = 2, head_dim = 64, value_dim = 65537, io = f32>

// -----

// expected-error@below {{kv_heads is 3, which does not divide heads 4}}
#a = #kv.shape<heads = 4, kv_heads = 3, head_dim = 64, value_dim = 32, io = f32>

// -----

// expected-error@below {{kv_heads is 4, which does not divide heads 2}}
#a = #kv.shape<heads = 2, kv_heads = 4, head_dim = 64, value_dim = 32, io = f32>

// -----

// expected-error@below {{io is f32, f16 or bf16, not 'f64'}}
#a = #kv.shape<heads = 4, kv_heads = 2, head_dim = 64, value_dim = 32, io = f64>

// -----

// expected-error@below {{io is f32, f16 or bf16, not 'tensor<2xf32>'}}
#a = #kv.shape<heads = 4, kv_heads = 2, head_dim = 64, value_dim = 32, io = tensor<2xf32>>
