// RUN: kvc-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// What #kv.policy refuses.

// expected-error@below {{residual is kept without codes, not as #kv.affine_token}}
#a = #kv.policy<
  keys = #kv.float<f32>,
  values = #kv.float<f32>,
  residual = #kv.affine_token<bits = 4, group = 32, flush = 1, residual = 0, scales = f16>,
  key_sinks = #kv.float<f32>,
  value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 12>,
  position = #kv.unrotated,
  depth = #kv.own,
  score = []>

// -----

// expected-error@below {{key_sinks is kept without codes, not as #kv.affine_token}}
#a = #kv.policy<
  keys = #kv.float<f32>,
  values = #kv.float<f32>,
  residual = #kv.float<f32>,
  key_sinks = #kv.affine_token<bits = 4, group = 32, flush = 1, residual = 0, scales = f16>,
  value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 12>,
  position = #kv.unrotated,
  depth = #kv.own,
  score = []>

// -----

// expected-error@below {{value_sinks is kept without codes, not as #kv.affine_token}}
#a = #kv.policy<
  keys = #kv.float<f32>,
  values = #kv.float<f32>,
  residual = #kv.float<f32>,
  key_sinks = #kv.float<f32>,
  value_sinks = #kv.affine_token<bits = 4, group = 32, flush = 1, residual = 0, scales = f16>,
  time = #kv.window<sinks = 4, window = 12>,
  position = #kv.unrotated,
  depth = #kv.own,
  score = []>

// -----

// expected-error@below {{score is a list of score points; #kv.own is none}}
#a = #kv.policy<
  keys = #kv.float<f32>,
  values = #kv.float<f32>,
  residual = #kv.float<f32>,
  key_sinks = #kv.float<f32>,
  value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 12>,
  position = #kv.unrotated,
  depth = #kv.own,
  score = [#kv.plain<scale = 1.0>, #kv.own]>

// -----

#a = #kv.policy<
  // expected-error@below {{invalid kind of attribute specified}}
  // expected-error@below {{failed to parse KV_PolicyAttr parameter 'keys' which is to be a `PrecisionAttrInterface`}}
  keys = #kv.own,
  values = #kv.float<f32>,
  residual = #kv.float<f32>,
  key_sinks = #kv.float<f32>,
  value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 12>,
  position = #kv.unrotated,
  depth = #kv.own,
  score = []>

// -----

#a = #kv.policy<
  keys = #kv.float<f32>,
  // expected-error@below {{invalid kind of attribute specified}}
  // expected-error@below {{failed to parse KV_PolicyAttr parameter 'values' which is to be a `PrecisionAttrInterface`}}
  values = #kv.own,
  residual = #kv.float<f32>,
  key_sinks = #kv.float<f32>,
  value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 12>,
  position = #kv.unrotated,
  depth = #kv.own,
  score = []>

// -----

#a = #kv.policy<
  keys = #kv.float<f32>,
  values = #kv.float<f32>,
  // expected-error@below {{invalid kind of attribute specified}}
  // expected-error@below {{failed to parse KV_PolicyAttr parameter 'residual' which is to be a `PrecisionAttrInterface`}}
  residual = #kv.own,
  key_sinks = #kv.float<f32>,
  value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 12>,
  position = #kv.unrotated,
  depth = #kv.own,
  score = []>

// -----

#a = #kv.policy<
  keys = #kv.float<f32>,
  values = #kv.float<f32>,
  residual = #kv.float<f32>,
  // expected-error@below {{invalid kind of attribute specified}}
  // expected-error@below {{failed to parse KV_PolicyAttr parameter 'key_sinks' which is to be a `PrecisionAttrInterface`}}
  key_sinks = #kv.own,
  value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 12>,
  position = #kv.unrotated,
  depth = #kv.own,
  score = []>

// -----

#a = #kv.policy<
  keys = #kv.float<f32>,
  values = #kv.float<f32>,
  residual = #kv.float<f32>,
  key_sinks = #kv.float<f32>,
  // expected-error@below {{invalid kind of attribute specified}}
  // expected-error@below {{failed to parse KV_PolicyAttr parameter 'value_sinks' which is to be a `PrecisionAttrInterface`}}
  value_sinks = #kv.own,
  time = #kv.window<sinks = 4, window = 12>,
  position = #kv.unrotated,
  depth = #kv.own,
  score = []>

// -----

#a = #kv.policy<
  keys = #kv.float<f32>,
  values = #kv.float<f32>,
  residual = #kv.float<f32>,
  key_sinks = #kv.float<f32>,
  value_sinks = #kv.float<f32>,
  // expected-error@below {{invalid kind of attribute specified}}
  // expected-error@below {{failed to parse KV_PolicyAttr parameter 'time' which is to be a `TimeAttrInterface`}}
  time = #kv.own,
  position = #kv.unrotated,
  depth = #kv.own,
  score = []>

// -----

#a = #kv.policy<
  keys = #kv.float<f32>,
  values = #kv.float<f32>,
  residual = #kv.float<f32>,
  key_sinks = #kv.float<f32>,
  value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 12>,
  // expected-error@below {{invalid kind of attribute specified}}
  // expected-error@below {{failed to parse KV_PolicyAttr parameter 'position' which is to be a `PositionAttrInterface`}}
  position = #kv.own,
  depth = #kv.own,
  score = []>

// -----

#a = #kv.policy<
  keys = #kv.float<f32>,
  values = #kv.float<f32>,
  residual = #kv.float<f32>,
  key_sinks = #kv.float<f32>,
  value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 12>,
  position = #kv.unrotated,
  // expected-error@below {{invalid kind of attribute specified}}
  // expected-error@below {{failed to parse KV_PolicyAttr parameter 'depth' which is to be a `DepthAttrInterface`}}
  depth = #kv.unrotated,
  score = []>

// -----

#a = #kv.policy<
  keys = #kv.float<f32>,
  values = #kv.float<f32>,
  residual = #kv.float<f32>,
  key_sinks = #kv.float<f32>,
  value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 12>,
  position = #kv.unrotated,
  depth = #kv.own,
  // expected-error@below {{invalid kind of attribute specified}}
  // expected-error@below {{failed to parse KV_PolicyAttr parameter 'score' which is to be a `::mlir::ArrayAttr`}}
  score = #kv.own>

// -----

// expected-error@below {{rollback is 0 to 2147483647, not -1}}
#a = #kv.policy<
  keys = #kv.float<f32>,
  values = #kv.float<f32>,
  residual = #kv.float<f32>,
  key_sinks = #kv.float<f32>,
  value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 12>,
  position = #kv.unrotated,
  depth = #kv.own,
  score = [],
  rollback = -1>

// -----

// expected-error@below {{rollback is 0 to 2147483647, not 2147483648}}
#a = #kv.policy<
  keys = #kv.float<f32>,
  values = #kv.float<f32>,
  residual = #kv.float<f32>,
  key_sinks = #kv.float<f32>,
  value_sinks = #kv.float<f32>,
  time = #kv.window<sinks = 4, window = 12>,
  position = #kv.unrotated,
  depth = #kv.own,
  score = [],
  rollback = 2147483648>

// -----

// expected-error@below {{arithmetic is i16 or i8, not 'f16'}}
#a = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = [], arithmetic = f16>

// -----

// expected-error@below {{arithmetic in 'i8' takes codes of at most 4 bits, not #kv.affine_token<bits = 8, group = 8, flush = 1, residual = 0, scales = f16>}}
#a = #kv.policy<keys = #kv.float<f32>, values = #kv.affine_token<bits = 8, group = 8, flush = 1, residual = 0, scales = f16>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 4, window = 12>, position = #kv.unrotated, depth = #kv.own, score = [], arithmetic = i8>
