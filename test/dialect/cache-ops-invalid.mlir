// RUN: kvc-opt %s -verify-diagnostics -split-input-file

// What models, layers and steps refuse.

// expected-error@below {{'kv.model' op has no layer}}
kv.model @m io f32 {
}

// -----

kv.model @m io f32 {
  // expected-error@below {{'func.func' op is no kv.layer, which is all a model holds}}
  func.func private @f()
}

// -----

module {
  // expected-error@below {{'kv.layer' op expects parent op 'kv.model'}}
  kv.layer @l shape #kv.shape<heads = 1, kv_heads = 1, head_dim = 1, value_dim = 1, io = f32> policy #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []> step @step {
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
kv.model @m io f16 {
  // expected-error@below {{'kv.layer' op has io 'f32', its model has 'f16'}}
  kv.layer @l shape #shape policy #policy step @step {
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 1>, score = []>
kv.model @m io f32 {
  // expected-error@below {{'kv.layer' op is layer 0 and reads layer 1; an owner is an earlier layer}}
  kv.layer @l shape #shape policy #reading step @step {
  }
}

// -----

// A reader of itself is no owner either.
#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 1>, score = []>
kv.model @m io f32 {
  kv.layer @o shape #shape policy #policy step @step {
  }
  // expected-error@below {{'kv.layer' op is layer 1 and reads layer 1; an owner is an earlier layer}}
  kv.layer @l shape #shape policy #reading step @step {
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 9223372036854775807>, score = []>
kv.model @m io f32 {
  kv.layer @o shape #shape policy #policy step @step {
  }
  // expected-error@below {{'kv.layer' op is layer 1 and reads layer 9223372036854775807; an owner is an earlier layer}}
  kv.layer @l shape #shape policy #reading step @step {
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = []>
#second = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 1>, score = []>
kv.model @m io f32 {
  kv.layer @a shape #shape policy #policy step @step {
  }
  kv.layer @b shape #shape policy #reading step @step {
  }
  // expected-error@below {{'kv.layer' op reads layer 1, which stores nothing itself}}
  kv.layer @c shape #shape policy #second step @step {
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#other = #kv.shape<heads = 4, kv_heads = 4, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = []>
kv.model @m io f32 {
  kv.layer @a shape #shape policy #policy step @step {
  }
  // expected-error@below {{'kv.layer' op has another shape of keys and values than layer 0, which it reads}}
  kv.layer @b shape #other policy #reading step @step {
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#other = #kv.shape<heads = 4, kv_heads = 2, head_dim = 16, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = []>
kv.model @m io f32 {
  kv.layer @a shape #shape policy #policy step @step {
  }
  // expected-error@below {{'kv.layer' op has another shape of keys and values than layer 0, which it reads}}
  kv.layer @b shape #other policy #reading step @step {
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#other = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 8, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = []>
kv.model @m io f32 {
  kv.layer @a shape #shape policy #policy step @step {
  }
  // expected-error@below {{'kv.layer' op has another shape of keys and values than layer 0, which it reads}}
  kv.layer @b shape #other policy #reading step @step {
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#reading = #kv.policy<keys = #kv.affine_token<bits = 4, group = 6, flush = 1, residual = 0, scales = f16>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = []>
kv.model @m io f32 {
  kv.layer @a shape #shape policy #policy step @step {
  }
  // expected-error@below {{'kv.layer' op has another policy of its cache than layer 0, which it reads}}
  kv.layer @b shape #shape policy #reading step @step {
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.affine_token<bits = 4, group = 6, flush = 1, residual = 0, scales = f16>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = []>
kv.model @m io f32 {
  kv.layer @a shape #shape policy #policy step @step {
  }
  // expected-error@below {{'kv.layer' op has another policy of its cache than layer 0, which it reads}}
  kv.layer @b shape #shape policy #reading step @step {
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 4, tokens = 16>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = []>
kv.model @m io f32 {
  kv.layer @a shape #shape policy #policy step @step {
  }
  // expected-error@below {{'kv.layer' op has another policy of its cache than layer 0, which it reads}}
  kv.layer @b shape #shape policy #reading step @step {
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.absolute<<theta = 1.0, dims = 8, pairing = "half">>, depth = #kv.share<layer = 0>, score = []>
kv.model @m io f32 {
  kv.layer @a shape #shape policy #policy step @step {
  }
  // expected-error@below {{'kv.layer' op has another policy of its cache than layer 0, which it reads}}
  kv.layer @b shape #shape policy #reading step @step {
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
kv.model @m io f32 {
  // expected-error@below {{'kv.layer' op has either a body or a step that does it}}
  kv.layer @l shape #shape policy #policy {
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
kv.model @m io f32 {
  // expected-error@below {{'kv.layer' op has either a body or a step that does it}}
  kv.layer @l shape #shape policy #policy step @step {
  ^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
    %1 = kv.append %cache, %k, %v : tensor<2x8xf32>, tensor<2x6xf32>
    %out, %lse = kv.attend %1, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
    kv.yield %1, %out, %lse : !kv.cache, tensor<4x6xf32>, tensor<4xf32>
  }
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
// expected-error@below {{'kv.step' op takes '!kv.cache', 'tensor<4x8xf32>', its shape and policy want '!kv.cache', 'tensor<4x8xf32>', 'tensor<2x8xf32>', 'tensor<2x6xf32>'}}
kv.step @s shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>):
  %1 = kv.evict %cache
  %out, %lse = kv.attend %1, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  kv.yield %1, %out, %lse : !kv.cache, tensor<4x6xf32>, tensor<4xf32>
}

// -----

// A reader takes no keys and values.
#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = []>
// expected-error@below {{'kv.step' op takes '!kv.cache', 'tensor<4x8xf32>', 'tensor<2x8xf32>', 'tensor<2x6xf32>', its shape and policy want '!kv.cache', 'tensor<4x8xf32>'}}
kv.step @s shape #shape policy #reading {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
  %out, %lse = kv.attend %cache, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  kv.yield %out, %lse : tensor<4x6xf32>, tensor<4xf32>
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
// expected-error@below {{'kv.step' op does not end in kv.yield}}
kv.step @s shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
  %1 = kv.evict %cache
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
// expected-error@below {{'kv.step' op does not end in kv.yield}}
kv.step @s shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = []>
kv.step @s shape #shape policy #reading {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>):
  // expected-error@below {{'kv.evict' op changes a cache that the layer only reads}}
  %1 = kv.evict %cache
  %out, %lse = kv.attend %1, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  kv.yield %out, %lse : tensor<4x6xf32>, tensor<4xf32>
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = []>
kv.step @s shape #shape policy #reading {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>):
  // expected-error@below {{'kv.code' op changes a cache that the layer only reads}}
  %1 = kv.code %cache
  %out, %lse = kv.attend %1, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  kv.yield %out, %lse : tensor<4x6xf32>, tensor<4xf32>
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = []>
kv.step @s shape #shape policy #reading {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>):
  %k = arith.constant dense<0.0> : tensor<2x8xf32>
  %v = arith.constant dense<0.0> : tensor<2x6xf32>
  // expected-error@below {{'kv.append' op changes a cache that the layer only reads}}
  %1 = kv.append %cache, %k, %v : tensor<2x8xf32>, tensor<2x6xf32>
  %out, %lse = kv.attend %1, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  kv.yield %out, %lse : tensor<4x6xf32>, tensor<4xf32>
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
kv.step @s shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
  // expected-error@below {{'kv.append' op takes '!kv.cache', 'tensor<2x8xf32>', 'tensor<2x8xf32>', its layer's shape and policy want '!kv.cache', 'tensor<2x8xf32>', 'tensor<2x6xf32>'}}
  %1 = kv.append %cache, %k, %k : tensor<2x8xf32>, tensor<2x8xf32>
  %out, %lse = kv.attend %1, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  kv.yield %1, %out, %lse : !kv.cache, tensor<4x6xf32>, tensor<4xf32>
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
kv.step @s shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
  // expected-error@below {{'kv.attend' op takes '!kv.cache', 'tensor<2x8xf32>', its layer's shape and policy want '!kv.cache', 'tensor<4x8xf32>'}}
  %out, %lse = kv.attend %cache, %k : tensor<2x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  kv.yield %cache, %out, %lse : !kv.cache, tensor<4x6xf32>, tensor<4xf32>
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
kv.step @s shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
  // expected-error@below {{'kv.attend' op gives 'tensor<4x8xf32>', 'tensor<4xf32>', its layer's shape and policy want 'tensor<4x6xf32>', 'tensor<4xf32>'}}
  %out, %lse = kv.attend %cache, %q : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>
  kv.yield %cache, %out, %lse : !kv.cache, tensor<4x8xf32>, tensor<4xf32>
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
kv.step @s shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
  %out, %lse = kv.attend %cache, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  // expected-error@below {{'kv.yield' op gives 'tensor<4x6xf32>', 'tensor<4xf32>', its layer's shape and policy want '!kv.cache', 'tensor<4x6xf32>', 'tensor<4xf32>'}}
  kv.yield %out, %lse : tensor<4x6xf32>, tensor<4xf32>
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#reading = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = []>
kv.step @s shape #shape policy #reading {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>):
  %out, %lse = kv.attend %cache, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  // expected-error@below {{'kv.yield' op gives nothing, its layer's shape and policy want 'tensor<4x6xf32>', 'tensor<4xf32>'}}
  kv.yield
}

// -----

// expected-error@below {{'kv.yield' op expects parent op to be one of 'kv.layer, kv.step, kv.mask, kv.logit, kv.settle_state'}}
kv.yield

// -----

// Two operations change one moment.
#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
kv.step @s shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
  %1 = kv.evict %cache
  // expected-error@below {{'kv.code' op takes a moment of the cache that another operation takes too}}
  %2 = kv.code %cache
  %out, %lse = kv.attend %1, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  kv.yield %1, %out, %lse : !kv.cache, tensor<4x6xf32>, tensor<4xf32>
}

// -----

// A moment is yielded after it was taken.
#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
kv.step @s shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
  %1 = kv.evict %cache
  %out, %lse = kv.attend %1, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  // expected-error@below {{'kv.yield' op takes a moment of the cache that another operation takes too}}
  kv.yield %cache, %out, %lse : !kv.cache, tensor<4x6xf32>, tensor<4xf32>
}

// -----

// A moment is read after it was taken.
#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
kv.step @s shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
  %1 = kv.evict %cache
  // expected-error@below {{'kv.attend' op reads a moment of the cache that is gone}}
  %out, %lse = kv.attend %cache, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  kv.yield %1, %out, %lse : !kv.cache, tensor<4x6xf32>, tensor<4xf32>
}

// -----

// A moment of a result likewise.
#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
kv.step @s shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
  %1 = kv.evict %cache
  %2 = kv.code %1
  // expected-error@below {{'kv.attend' op reads a moment of the cache that is gone}}
  %out, %lse = kv.attend %1, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  kv.yield %2, %out, %lse : !kv.cache, tensor<4x6xf32>, tensor<4xf32>
}

// -----

// A loop would take one moment many times.
#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
kv.step @s shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x6xf32>):
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  scf.for %i = %0 to %1 step %1 {
    // expected-error@below {{'kv.evict' op uses a moment of the cache of another block}}
    %2 = kv.evict %cache
  }
  %out, %lse = kv.attend %cache, %q : tensor<4x8xf32> -> tensor<4x6xf32>, tensor<4xf32>
  kv.yield %cache, %out, %lse : !kv.cache, tensor<4x6xf32>, tensor<4xf32>
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.absolute<<theta = 1.0, dims = 10, pairing = "half">>, depth = #kv.own, score = []>
// expected-error@below {{'kv.step' op rotates channel 8 of a head of 8}}
kv.step @s shape #shape policy #policy {
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#keys = #kv.stream<plane = "keys", kind = "sink", origin = 0, encoding = #kv.float<f32>>
#values = #kv.stream<plane = "values", kind = "sink", origin = 0, encoding = #kv.float<f32>>
// expected-error@below {{'kv.step' op has a segment of streams that it does not have: #kv.segment<keys = 1, values = 1, rotation = 0>}}
kv.step @s shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 1, values = 1, rotation = 0>] {
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#keys = #kv.stream<plane = "keys", kind = "sink", origin = 0, encoding = #kv.float<f32>>
#values = #kv.stream<plane = "values", kind = "sink", origin = 0, encoding = #kv.float<f32>>
// expected-error@below {{'kv.step' op has a segment of streams that it does not have: #kv.segment<keys = 0, values = 0, rotation = 0>}}
kv.step @s shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = 0, rotation = 0>] {
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#keys = #kv.stream<plane = "keys", kind = "sink", origin = 0, encoding = #kv.float<f32>>
#values = #kv.stream<plane = "values", kind = "sink", origin = 0, encoding = #kv.float<f32>>
// expected-error@below {{'kv.step' op has a segment of streams that it does not have: #kv.segment<keys = -1, values = 1, rotation = 0>}}
kv.step @s shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = -1, values = 1, rotation = 0>] {
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#keys = #kv.stream<plane = "keys", kind = "sink", origin = 0, encoding = #kv.float<f32>>
#values = #kv.stream<plane = "values", kind = "sink", origin = 0, encoding = #kv.float<f32>>
// expected-error@below {{'kv.step' op has a segment of streams that it does not have: #kv.segment<keys = 0, values = 2, rotation = 0>}}
kv.step @s shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = 2, rotation = 0>] {
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#keys = #kv.stream<plane = "keys", kind = "sink", origin = 0, encoding = #kv.float<f32>>
#values = #kv.stream<plane = "values", kind = "sink", origin = 0, encoding = #kv.float<f32>>
// expected-error@below {{'kv.step' op has a segment of streams that it does not have: #kv.segment<keys = 0, values = -9223372036854775808, rotation = 0>}}
kv.step @s shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = -9223372036854775808, rotation = 0>] {
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#keys = #kv.stream<plane = "keys", kind = "sink", origin = 0, encoding = #kv.float<f32>>
#values = #kv.stream<plane = "values", kind = "sink", origin = 0, encoding = #kv.float<f32>>
// expected-error@below {{'kv.step' op has a segment of rotation 1, its position has 1}}
kv.step @s shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = 1, rotation = 1>] {
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
#keys = #kv.stream<plane = "keys", kind = "sink", origin = 0, encoding = #kv.float<f32>>
#values = #kv.stream<plane = "values", kind = "sink", origin = 0, encoding = #kv.float<f32>>
// expected-error@below {{'kv.step' op has a segment of rotation -1, its position has 1}}
kv.step @s shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = 1, rotation = -1>] {
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
// expected-error@below {{attribute 'streams' failed to satisfy constraint: streams}}
kv.step @s shape #shape policy #policy streams [1 : i64] {
}

// -----

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = []>
// expected-error@below {{attribute 'segments' failed to satisfy constraint: segments}}
kv.step @s shape #shape policy #policy segments [#kv.own] {
}

// -----

// Attributes of the wrong kind.
#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32>
// expected-error@below {{invalid kind of attribute specified}}
kv.step @s shape #kv.own policy #kv.own {
}

// -----

// expected-error@below {{Invalid attribute `policy` in property conversion: 1 : i64}}
"kv.step"() <{sym_name = "s", shape = #kv.shape<heads = 1, kv_heads = 1, head_dim = 1, value_dim = 1, io = f32>, policy = 1 : i64}> ({}) : () -> ()

// -----

func.func @f(%cache: !kv.cache, %k: tensor<?x8xf32>) {
  // expected-error@below {{'kv.append' op operand #1 must be statically shaped tensor of any type values, but got 'tensor<?x8xf32>'}}
  %1 = kv.append %cache, %k, %k : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// -----

#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = [#kv.alibi<slopes = [1.0, 0.5]>]>
kv.model @m io f32 {
  // expected-error@below {{'kv.layer' op has 4 query heads, #kv.alibi<slopes = [1.000000e+00, 5.000000e-01]> has numbers for 2}}
  kv.layer @l shape #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 6, io = f32> policy #policy step @step {
  }
}
