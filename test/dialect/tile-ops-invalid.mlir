// RUN: kvc-opt %s -verify-diagnostics -split-input-file

// What operations on tiles and pages refuse.

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%v: !kv.view, %i: index) {
  // expected-error@below {{'kv.page' op takes a stream's number, 0 to 7, not -1}}
  %p = kv.page %v[-1] at %i : !kv.page<#keys>
  return
}

// -----

#bare = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>>
func.func @f(%v: !kv.view, %i: index) {
  // expected-error@below {{'kv.page' op needs a stream whose layout is chosen}}
  %p = kv.page %v[0] at %i : !kv.page<#bare>
  return
}

// -----

func.func @f(%b: memref<9x13xf32>, %i: index) {
  // expected-error@below {{'kv.rows' op takes rows of 12 from a buffer of 'memref<9x13xf32>'}}
  %t = kv.rows %b[%i] : memref<9x13xf32> -> !kv.tile<3x12>
  return
}

// -----

func.func @f(%b: memref<12xf32>, %i: index) {
  // expected-error@below {{'kv.rows' op takes rows of 12 from a buffer of 'memref<12xf32>'}}
  %t = kv.rows %b[%i] : memref<12xf32> -> !kv.tile<3x12>
  return
}

// -----

func.func @f(%b: memref<9x?xf32>, %i: index) {
  // expected-error@below {{'kv.rows' op takes rows of 12 from a buffer of 'memref<9x?xf32>'}}
  %t = kv.rows %b[%i] : memref<9x?xf32> -> !kv.tile<3x12>
  return
}

// -----

func.func @f(%b: memref<9x12xf64>, %i: index) {
  // expected-error@below {{'kv.rows' op takes rows of f32, f16 or bf16, not of 'f64'}}
  %t = kv.rows %b[%i] : memref<9x12xf64> -> !kv.tile<3x12>
  return
}

// -----

func.func @f(%t: !kv.tile<3x12>, %a: memref<2x6xf32>) {
  // expected-error@below {{'kv.rotate' op takes a point of the position axis, not #kv.own}}
  %r = kv.rotate %t as #kv.own by %a : memref<2x6xf32>, !kv.tile<3x12>
  return
}

// -----

func.func @f(%t: !kv.tile<3x12>, %a: memref<2x5xf32>) {
  // expected-error@below {{'kv.rotate' op takes angles of 2x6, not 'memref<2x5xf32>'}}
  %r = kv.rotate %t as #kv.absolute<<theta = 1.0, dims = 12, pairing = "half">> by %a : memref<2x5xf32>, !kv.tile<3x12>
  return
}

// -----

func.func @f(%t: !kv.tile<3x12>, %a: memref<1x6xf32>) {
  // expected-error@below {{'kv.rotate' op takes angles of 2x6, not 'memref<1x6xf32>'}}
  %r = kv.rotate %t as #kv.absolute<<theta = 1.0, dims = 12, pairing = "half">> by %a : memref<1x6xf32>, !kv.tile<3x12>
  return
}

// -----

func.func @f(%t: !kv.tile<3x12>, %a: memref<6xf32>) {
  // expected-error@below {{'kv.rotate' op takes angles of 2x6, not 'memref<6xf32>'}}
  %r = kv.rotate %t as #kv.absolute<<theta = 1.0, dims = 12, pairing = "half">> by %a : memref<6xf32>, !kv.tile<3x12>
  return
}

// -----

func.func @f(%t: !kv.tile<3x12>, %a: memref<2x2x6xf32>) {
  // expected-error@below {{'kv.rotate' op has 3 rows for the angles of 2 tokens}}
  %r = kv.rotate %t as #kv.absolute<<theta = 1.0, dims = 12, pairing = "half">> by %a : memref<2x2x6xf32>, !kv.tile<3x12>
  return
}

// -----

func.func @f(%t: !kv.tile<3x12>, %a: memref<?x2x6xf32>) {
  // expected-error@below {{'kv.rotate' op takes angles of a known number of tokens, not 'memref<?x2x6xf32>'}}
  %r = kv.rotate %t as #kv.absolute<<theta = 1.0, dims = 12, pairing = "half">> by %a : memref<?x2x6xf32>, !kv.tile<3x12>
  return
}

// -----

func.func @f(%t: !kv.tile<3x12>, %a: memref<2x6x1xf32>) {
  // expected-error@below {{'kv.rotate' op takes angles of 2x6, not 'memref<2x6x1xf32>'}}
  %r = kv.rotate %t as #kv.absolute<<theta = 1.0, dims = 12, pairing = "half">> by %a : memref<2x6x1xf32>, !kv.tile<3x12>
  return
}

// -----

func.func @f(%t: !kv.tile<3x12>, %a: memref<?x6xf32>) {
  // expected-error@below {{'kv.rotate' op takes angles of 2x6, not 'memref<?x6xf32>'}}
  %r = kv.rotate %t as #kv.absolute<<theta = 1.0, dims = 12, pairing = "half">> by %a : memref<?x6xf32>, !kv.tile<3x12>
  return
}

// -----

func.func @f(%t: !kv.tile<3x11>, %a: memref<2x6xf32>) {
  // expected-error@below {{'kv.rotate' op rotates column 11 of 11}}
  %r = kv.rotate %t as #kv.absolute<<theta = 1.0, dims = 12, pairing = "half">> by %a : memref<2x6xf32>, !kv.tile<3x11>
  return
}

// -----

#bare = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>>
func.func @f(%t: !kv.tile<3x12>) {
  // expected-error@below {{'kv.arrange' op needs a stream whose layout is chosen}}
  %o = kv.arrange %t for #bare : !kv.tile<3x12> -> !kv.tile<3x16>
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x12>) {
  // expected-error@below {{'kv.arrange' op gives 16 columns, not 12}}
  %o = kv.arrange %t for #keys : !kv.tile<3x12> -> !kv.tile<3x12>
  return
}

// -----

#tkeys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 8, group = 5, flush = 1, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 5, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x12>) {
  // expected-error@below {{'kv.arrange' op gives 3 sums, not 2}}
  %o, %z = kv.arrange %t for #tkeys : !kv.tile<3x12> -> !kv.tile<3x24>, !kv.tile<3x2>
  return
}

// -----

#tkeys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 8, group = 5, flush = 1, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 5, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%z: !kv.tile<3x10>, %p: !kv.page<#tkeys>, %i: index) {
  // expected-error@below {{'kv.fits' op takes 15 terms, not 10}}
  %ok = kv.fits %z from %p head %i run %i, %i, %i : !kv.tile<3x10>, !kv.page<#tkeys>
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%z: !kv.tile<3x5>, %p: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.fits' op asks for keys whose scales go into the result}}
  %ok = kv.fits %z from %p head %i run %i, %i, %i : !kv.tile<3x5>, !kv.page<#keys>
  return
}

// -----

#bare = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>>
func.func @f(%t: !kv.tile<3x16>, %p: !kv.page<#bare>, %i: index) {
  // expected-error@below {{'kv.fold' op needs a stream whose layout is chosen}}
  %o, %z = kv.fold %t from %p head %i run %i, %i, %i scales "operand" : !kv.tile<3x16>, !kv.page<#bare> -> !kv.tile<3x16>, !kv.tile<3x1>
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x16>, %p: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.fold' op folds scales into "result", the stream's go into "operand"}}
  %o, %z = kv.fold %t from %p head %i run %i, %i, %i scales "result" : !kv.tile<3x16>, !kv.page<#keys> -> !kv.tile<3x16>, !kv.tile<3x1>
  return
}

// -----

#tkeys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 8, group = 5, flush = 1, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 5, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x16>, %p: !kv.page<#tkeys>, %i: index) {
  // expected-error@below {{'kv.fold' op folds scales into "operand", the stream's go into "result"}}
  %o, %z = kv.fold %t from %p head %i run %i, %i, %i scales "operand" : !kv.tile<3x16>, !kv.page<#tkeys> -> !kv.tile<3x16>, !kv.tile<3x1>
  return
}

// -----

#values = #kv.stream<plane = "values", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 8, group = 5, flush = 1, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 5, lanes_on = "channels", lanes = 8, vectors = 1, pages = 5>>
func.func @f(%t: !kv.tile<3x16>, %p: !kv.page<#values>, %i: index) {
  // expected-error@below {{'kv.fold' op folds scales into "result", the stream's go into "operand"}}
  %o, %z = kv.fold %t from %p head %i run %i, %i, %i scales "result" : !kv.tile<3x16>, !kv.page<#values> -> !kv.tile<3x16>, !kv.tile<3x1>
  return
}

// -----

#plain = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x16>, %p: !kv.page<#plain>, %i: index) {
  // expected-error@below {{'kv.fold' op folds scales into "none", the stream's go into "none"}}
  %o, %z = kv.fold %t from %p head %i run %i, %i, %i scales "none" : !kv.tile<3x16>, !kv.page<#plain> -> !kv.tile<3x16>, !kv.tile<3x1>
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x16>, %p: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.fold' op attribute 'scales' failed to satisfy constraint: none, operand or result}}
  %o, %z = kv.fold %t from %p head %i run %i, %i, %i scales "both" : !kv.tile<3x16>, !kv.page<#keys> -> !kv.tile<3x16>, !kv.tile<3x1>
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x16>, %p: !kv.page<#keys>, %i: index) {
  // expected-error@below {{integer literal not valid for specified type}}
  %o, %z = kv.fold %t from %p head %i run %i, %i, %i scales 5 : i64 : !kv.tile<3x16>, !kv.page<#keys> -> !kv.tile<3x16>, !kv.tile<3x1>
  return
}

// -----

#bare = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>>
func.func @f(%t: !kv.tile<3x16>, %p: !kv.page<#bare>, %i: index) {
  // expected-error@below {{'kv.contract' op needs a stream whose layout is chosen}}
  %r = kv.contract %t with %p head %i run %i, %i, %i : !kv.tile<3x16>, !kv.page<#bare> -> !kv.tile<3x64>
  return
}

// -----

#values = #kv.stream<plane = "values", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 8, group = 5, flush = 1, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 5, lanes_on = "channels", lanes = 8, vectors = 1, pages = 5>>
func.func @f(%t: !kv.tile<3x16>, %p: !kv.page<#values>, %i: index) {
  // expected-error@below {{'kv.contract' op takes a page of keys}}
  %r = kv.contract %t with %p head %i run %i, %i, %i : !kv.tile<3x16>, !kv.page<#values> -> !kv.tile<3x64>
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x16>, %p: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.contract' op has scales in "result", the stream's go into "operand"}}
  %r = kv.contract %t with %p head %i run %i, %i, %i scales "result" : !kv.tile<3x16>, !kv.page<#keys> -> !kv.tile<3x64>
  return
}

// -----

#plain = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x16>, %p: !kv.page<#plain>, %i: index) {
  // expected-error@below {{'kv.contract' op has scales in "operand", the stream's go into "none"}}
  %r = kv.contract %t with %p head %i run %i, %i, %i scales "operand" : !kv.tile<3x16>, !kv.page<#plain> -> !kv.tile<3x64>
  return
}

// -----

#plain = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
#other = #kv.stream<plane = "keys", kind = "sink", origin = 0, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x16>, %p: !kv.page<#plain>, %o: !kv.page<#other>, %i: index) {
  // expected-error-re@below {{'kv.contract' op asks ahead for '!kv.page<{{.*}}kind = "sink"{{.*}}>' and reads '!kv.page<{{.*}}kind = "original"{{.*}}>'}}
  %r = kv.contract %t with %p head %i run %i, %i, %i ahead %o at %i : !kv.tile<3x16>, !kv.page<#plain> ahead !kv.page<#other> -> !kv.tile<3x64>
  return
}

// -----

#values = #kv.stream<plane = "values", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "channels", lanes = 8, vectors = 1, pages = 5>>
func.func @f(%t: !kv.tile<3x64>, %p: !kv.page<#values>, %s: !kv.state<3x12>, %i: index) {
  // expected-error@below {{'kv.accumulate' op has a page ahead just where it has a token ahead}}
  %r = "kv.accumulate"(%t, %p, %i, %i, %i, %i, %p, %s) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 0>}> : (!kv.tile<3x64>, !kv.page<#values>, index, index, index, index, !kv.page<#values>, !kv.state<3x12>) -> !kv.state<3x12>
  return
}

// -----

#bare = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>>
func.func @f(%t: !kv.tile<3x64>, %p: !kv.page<#bare>, %s: !kv.state<3x12>, %i: index) {
  // expected-error@below {{'kv.accumulate' op needs a stream whose layout is chosen}}
  %r = kv.accumulate %t with %p head %i run %i, %i, %i into %s : !kv.tile<3x64>, !kv.page<#bare>, !kv.state<3x12> -> !kv.state<3x12>
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x64>, %p: !kv.page<#keys>, %s: !kv.state<3x12>, %i: index) {
  // expected-error@below {{'kv.accumulate' op takes a page of values}}
  %r = kv.accumulate %t with %p head %i run %i, %i, %i into %s : !kv.tile<3x64>, !kv.page<#keys>, !kv.state<3x12> -> !kv.state<3x12>
  return
}

// -----

#values = #kv.stream<plane = "values", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 8, group = 5, flush = 1, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 5, lanes_on = "channels", lanes = 8, vectors = 1, pages = 5>>
func.func @f(%t: !kv.tile<3x64>, %p: !kv.page<#values>, %s: !kv.state<3x12>, %i: index) {
  // expected-error@below {{'kv.accumulate' op has scales in "result", the stream's go into "operand"}}
  %r = kv.accumulate %t with %p head %i run %i, %i, %i into %s scales "result" : !kv.tile<3x64>, !kv.page<#values>, !kv.state<3x12> -> !kv.state<3x12>
  return
}

// -----

#floats = #kv.stream<plane = "values", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "channels", lanes = 8, vectors = 1, pages = 5>>
func.func @f(%t: !kv.tile<3x64>, %p: !kv.page<#floats>, %s: !kv.state<3x12>, %i: index) {
  // expected-error@below {{'kv.accumulate' op has scales in "operand", the stream's go into "none"}}
  %r = kv.accumulate %t with %p head %i run %i, %i, %i into %s scales "operand" : !kv.tile<3x64>, !kv.page<#floats>, !kv.state<3x12> -> !kv.state<3x12>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index) {
  // expected-error@below {{'kv.logit' op takes a point of the score axis, not #kv.own}}
  %l = kv.logit %t by #kv.own head %i run %i, %i, %i each 3 at {
  ^bb0(%row: index):
    kv.yield %row : index
  } : !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index) {
  // expected-error@below {{'kv.logit' op has 3 rows, which is no multiple of 2 a token}}
  %l = kv.logit %t by #kv.plain<scale = 1.0> head %i run %i, %i, %i each 2 at {
  ^bb0(%row: index):
    kv.yield %row : index
  } : !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index) {
  // expected-error@below {{'kv.logit' op has 3 rows, which is no multiple of 0 a token}}
  %l = kv.logit %t by #kv.plain<scale = 1.0> head %i run %i, %i, %i each 0 at {
  ^bb0(%row: index):
    kv.yield %row : index
  } : !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index) {
  // expected-error@below {{'kv.logit' op has a region that is not given one index}}
  %l = kv.logit %t by #kv.plain<scale = 1.0> head %i run %i, %i, %i each 3 at {
    kv.yield %i : index
  } : !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index) {
  // expected-error@below {{'kv.logit' op has a region that is not given one index}}
  %l = kv.logit %t by #kv.plain<scale = 1.0> head %i run %i, %i, %i each 3 at {
  ^bb0(%row: i32):
    kv.yield %i : index
  } : !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index) {
  // expected-error@below {{'kv.logit' op has a region that does not yield 1 index}}
  %l = kv.logit %t by #kv.plain<scale = 1.0> head %i run %i, %i, %i each 3 at {
  ^bb0(%row: index):
    kv.yield %row, %row : index, index
  } : !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index) {
  // expected-error@below {{'kv.logit' op has a region that does not yield 1 index}}
  %l = kv.logit %t by #kv.plain<scale = 1.0> head %i run %i, %i, %i each 3 at {
  ^bb0(%row: index):
    %x = arith.addi %row, %i : index
  } : !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index, %w: i1) {
  // expected-error@below {{'kv.mask' op has 3 rows, which is no multiple of 2 a token}}
  %m = kv.mask %t run %i, %i, %i unless %w each 2 but {
  ^bb0(%row: index):
    kv.yield %row, %row : index, index
  } : !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index, %w: i1) {
  // expected-error@below {{'kv.mask' op has 3 rows, which is no multiple of -1 a token}}
  %m = kv.mask %t run %i, %i, %i unless %w each -1 but {
  ^bb0(%row: index):
    kv.yield %row, %row : index, index
  } : !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index, %w: i1) {
  // expected-error@below {{'kv.mask' op has a region that is not given one index}}
  %m = kv.mask %t run %i, %i, %i unless %w each 3 but {
    kv.yield %i, %i : index, index
  } : !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index, %w: i1) {
  // expected-error@below {{'kv.mask' op has a region that does not yield 2 indices}}
  %m = kv.mask %t run %i, %i, %i unless %w each 3 but {
  ^bb0(%row: index):
    kv.yield %row : index
  } : !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index, %w: i1) {
  // expected-error@below {{'kv.mask' op has a region that does not yield 2 indices}}
  %m = kv.mask %t run %i, %i, %i unless %w each 3 but {
  ^bb0(%row: index):
    kv.yield %row, %w : index, i1
  } : !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index, %w: i1) {
  // expected-error@below {{'kv.mask' op has a region of borders just where it has rows a token and what tells whole runs}}
  %m = "kv.mask"(%t, %i, %i, %i, %w) ({}) {each = 3 : i64} : (!kv.tile<3x64>, index, index, index, i1) -> !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index, %w: i1) {
  // expected-error@below {{'kv.mask' op has a region of borders just where it has rows a token and what tells whole runs}}
  %m = "kv.mask"(%t, %i, %i, %i, %w) ({
  ^bb0(%row: index):
    kv.yield %row, %row : index, index
  }) : (!kv.tile<3x64>, index, index, index, i1) -> !kv.tile<3x64>
  return
}

// -----

func.func @f(%t: !kv.tile<3x64>, %i: index, %w: i1) {
  // expected-error@below {{'kv.mask' op has a region of borders just where it has rows a token and what tells whole runs}}
  %m = "kv.mask"(%t, %i, %i, %i) ({
  ^bb0(%row: index):
    kv.yield %row, %row : index, index
  }) {each = 3 : i64} : (!kv.tile<3x64>, index, index, index) -> !kv.tile<3x64>
  return
}

// -----

func.func @f(%s: !kv.state<3x12>, %o: memref<?x9x13xf32>, %l: memref<?x9xf32>, %i: index) {
  // expected-error@below {{'kv.finish' op meets rows of 12 in a buffer of tokens, not in 'memref<?x9x13xf32>'}}
  kv.finish %s to %o[%i] of %i each 3, %l : !kv.state<3x12>, memref<?x9x13xf32>, memref<?x9xf32>
  return
}

// -----

func.func @f(%s: !kv.state<3x12>, %o: memref<9x12xf32>, %l: memref<?x9xf32>, %i: index) {
  // expected-error@below {{'kv.finish' op meets rows of 12 in a buffer of tokens, not in 'memref<9x12xf32>'}}
  kv.finish %s to %o[%i] of %i each 3, %l : !kv.state<3x12>, memref<9x12xf32>, memref<?x9xf32>
  return
}

// -----

func.func @f(%s: !kv.state<3x12>, %o: memref<?x9x12xi32>, %l: memref<?x9xf32>, %i: index) {
  // expected-error@below {{'kv.finish' op meets rows of f32, f16 or bf16, not of 'i32'}}
  kv.finish %s to %o[%i] of %i each 3, %l : !kv.state<3x12>, memref<?x9x12xi32>, memref<?x9xf32>
  return
}

// -----

func.func @f(%s: !kv.state<3x12>, %o: memref<?x9x12xf32>, %l: memref<?x9xf32>, %i: index) {
  // expected-error@below {{'kv.finish' op has 3 rows, which is no multiple of 2 a token}}
  kv.finish %s to %o[%i] of %i each 2, %l : !kv.state<3x12>, memref<?x9x12xf32>, memref<?x9xf32>
  return
}

// -----

func.func @f(%s: !kv.state<3x12>, %o: memref<?x9x12xf32>, %l: memref<?x9xf32>, %i: index) {
  // expected-error@below {{'kv.finish' op has 3 rows, which is no multiple of 0 a token}}
  kv.finish %s to %o[%i] of %i each 0, %l : !kv.state<3x12>, memref<?x9x12xf32>, memref<?x9xf32>
  return
}

// -----

func.func @f(%s: !kv.state<3x12>, %o: memref<?x9x12xf32>, %l: memref<?xf32>, %i: index) {
  // expected-error@below {{'kv.finish' op writes lse by token and head, not to 'memref<?xf32>'}}
  kv.finish %s to %o[%i] of %i each 3, %l : !kv.state<3x12>, memref<?x9x12xf32>, memref<?xf32>
  return
}

// -----

func.func @f(%b: memref<?x9x13xf32>, %i: index) {
  // expected-error@below {{'kv.rows' op meets rows of 12 in a buffer of tokens, not in 'memref<?x9x13xf32>'}}
  %t = kv.rows %b[%i] of %i each 3 : memref<?x9x13xf32> -> !kv.tile<6x12>
  return
}

// -----

func.func @f(%b: memref<9x12xf32>, %i: index) {
  // expected-error@below {{'kv.rows' op meets rows of 12 in a buffer of tokens, not in 'memref<9x12xf32>'}}
  %t = kv.rows %b[%i] of %i each 3 : memref<9x12xf32> -> !kv.tile<6x12>
  return
}

// -----

func.func @f(%b: memref<?x9x12xf64>, %i: index) {
  // expected-error@below {{'kv.rows' op meets rows of f32, f16 or bf16, not of 'f64'}}
  %t = kv.rows %b[%i] of %i each 3 : memref<?x9x12xf64> -> !kv.tile<6x12>
  return
}

// -----

func.func @f(%b: memref<?x9x12xf32>, %i: index) {
  // expected-error@below {{'kv.rows' op has 6 rows, which is no multiple of 4 a token}}
  %t = kv.rows %b[%i] of %i each 4 : memref<?x9x12xf32> -> !kv.tile<6x12>
  return
}

// -----

func.func @f(%b: memref<?x9x12xf32>, %i: index) {
  // expected-error@below {{'kv.rows' op has 6 rows, which is no multiple of 0 a token}}
  %t = kv.rows %b[%i] of %i each 0 : memref<?x9x12xf32> -> !kv.tile<6x12>
  return
}

// -----

#bare = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>>
func.func @f(%t: !kv.tile<1x12>, %p: !kv.page<#bare>, %i: index) {
  // expected-error@below {{'kv.encode' op needs a stream whose layout is chosen}}
  %n = kv.encode %t to %p head %i at %i : !kv.tile<1x12>, !kv.page<#bare>
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<1x12>, %p: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.encode' op writes to an encoding that has scales, which kv.quantize makes}}
  %n = kv.encode %t to %p head %i at %i : !kv.tile<1x12>, !kv.page<#keys>
  return
}

// -----

#plain = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<2x12>, %p: !kv.page<#plain>, %i: index) {
  // expected-error@below {{'kv.encode' op writes one row of 12 channels, not '!kv.tile<2x12>'}}
  %n = kv.encode %t to %p head %i at %i : !kv.tile<2x12>, !kv.page<#plain>
  return
}

// -----

#plain = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<1x13>, %p: !kv.page<#plain>, %i: index) {
  // expected-error@below {{'kv.encode' op writes one row of 12 channels, not '!kv.tile<1x13>'}}
  %n = kv.encode %t to %p head %i at %i : !kv.tile<1x13>, !kv.page<#plain>
  return
}

// -----

#plain = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
#bare = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>>
func.func @f(%o: !kv.page<#plain>, %c: !kv.page<#bare>, %i: index) {
  // expected-error@below {{'kv.quantize' op needs a stream whose layout is chosen}}
  %n = kv.quantize %o to %c head %i tokens %i, %i : !kv.page<#plain>, !kv.page<#bare>
  return
}

// -----

#swapped = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "channels", lanes = 8, vectors = 1, pages = 5>>
#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%o: !kv.page<#swapped>, %c: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.quantize' op needs originals and codes of the same tokens, channels and lanes a page}}
  %n = kv.quantize %o to %c head %i tokens %i, %i : !kv.page<#swapped>, !kv.page<#keys>
  return
}

// -----

// Blocks of channels differ.
#plain = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
#tkeys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 8, group = 5, flush = 1, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 5, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%o: !kv.page<#plain>, %c: !kv.page<#tkeys>, %i: index) {
  // expected-error@below {{'kv.quantize' op needs originals and codes of the same tokens, channels and lanes a page}}
  %n = kv.quantize %o to %c head %i tokens %i, %i : !kv.page<#plain>, !kv.page<#tkeys>
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%o: !kv.page<#keys>, %c: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.quantize' op takes originals, which have no scales, not #kv.affine_channel}}
  %n = kv.quantize %o to %c head %i tokens %i, %i : !kv.page<#keys>, !kv.page<#keys>
  return
}

// -----

#bare = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>>
func.func @f(%p: !kv.page<#bare>, %b: memref<?xf32>, %i: index) {
  // expected-error@below {{'kv.decode' op needs a stream whose layout is chosen}}
  kv.decode %p head %i tokens %i, %i into %b[%i of %i] : !kv.page<#bare>, memref<?xf32>
  return
}

// -----

// An unranked buffer.
func.func @f(%b: memref<*xf32>, %i: index) {
  // expected-error@below {{invalid kind of type specified: expected builtin.memref, but found 'memref<*xf32>'}}
  %t = kv.rows %b[%i] : memref<*xf32> -> !kv.tile<3x12>
  return
}

// -----

#values = #kv.stream<plane = "values", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "channels", lanes = 8, vectors = 1, pages = 5>>
func.func @f(%t: !kv.tile<3x64>, %p: !kv.page<#values>, %s: !kv.state<3x12>, %i: index) {
  // expected-error@below {{'kv.accumulate' op gives '!kv.state<3x13>' of '!kv.state<3x12>'}}
  %r = kv.accumulate %t with %p head %i run %i, %i, %i into %s : !kv.tile<3x64>, !kv.page<#values>, !kv.state<3x12> -> !kv.state<3x13>
  return
}

// -----

func.func @init_state_rank(%l: memref<1x9xf32>, %i: index) {
  // expected-error@below {{'kv.init_state' op starts from a buffer of f32, one a head, not 'memref<1x9xf32>'}}
  %0 = kv.init_state from %l[%i] each 3 : !kv.state<3x12> from memref<1x9xf32>
  return
}

// -----

func.func @init_state_type(%l: memref<9xi32>, %i: index) {
  // expected-error@below {{'kv.init_state' op starts from a buffer of f32, one a head, not 'memref<9xi32>'}}
  %0 = kv.init_state from %l[%i] each 3 : !kv.state<3x12> from memref<9xi32>
  return
}

// -----

func.func @init_state_each(%l: memref<9xf32>, %i: index) {
  // expected-error@below {{'kv.init_state' op has 3 rows, which is no multiple of 2 a token}}
  %0 = kv.init_state from %l[%i] each 2 : !kv.state<3x12> from memref<9xf32>
  return
}

// -----

func.func @merge_state_types(%a: !kv.state<3x12>, %b: !kv.state<2x12>) {
  // expected-error@below {{'kv.merge_state' op failed to verify that all of {state, other, next} have same type}}
  %0 = "kv.merge_state"(%a, %b) : (!kv.state<3x12>, !kv.state<2x12>) -> !kv.state<3x12>
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 8, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x12>, %p: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.fold' op has an operand of 'i8', which codes of #kv.affine_channel<bits = 8, group = 32, flush = 64, residual = 0, scales = f16> are not multiplied with}}
  %o, %z, %ok = kv.fold %t from %p head %i run %i, %i, %i scales "operand" : <3x12>, <#keys> -> <3x12, i8>, <3x5> fits i1
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 8, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x12>, %p: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.fold' op tells whether numbers fit just where it makes whole numbers}}
  %o, %z = kv.fold %t from %p head %i run %i, %i, %i scales "operand" : <3x12>, <#keys> -> <3x12, i16>, <3x5>
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 8, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x12>, %p: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.fold' op has no centers of whole numbers}}
  %o, %z, %c, %ok = kv.fold %t from %p head %i run %i, %i, %i scales "operand" : <3x12>, <#keys> -> <3x12, i16>, <3x5>, !kv.tile<1x12> fits i1
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 8, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x12>, %p: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.fold' op gives 3 rows of whole numbers, not 4}}
  %o, %z, %ok = kv.fold %t from %p head %i run %i, %i, %i scales "operand" : <3x12>, <#keys> -> <4x12, i16>, <3x5> fits i1
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 8, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%t: !kv.tile<3x12>, %p: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.fold' op gives 5 terms, not 1}}
  %o, %z, %ok = kv.fold %t from %p head %i run %i, %i, %i scales "operand" : <3x12>, <#keys> -> <3x12, i16>, <3x1> fits i1
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 8, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%o: !kv.tile<3x12, i16>, %z: !kv.tile<3x1>, %p: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.contract' op takes whole numbers with 3x5 terms, no centers, and scales}}
  %s = kv.contract %o zeros %z with %p head %i run %i, %i, %i scales "operand" : <3x12, i16>, <#keys> zeros !kv.tile<3x1> -> <3x64>
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 8, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%o: !kv.tile<3x12, i16>, %p: !kv.page<#keys>, %i: index) {
  // expected-error@below {{'kv.contract' op takes whole numbers with 3x5 terms, no centers, and scales}}
  %s = kv.contract %o with %p head %i run %i, %i, %i : <3x12, i16>, <#keys> -> <3x64>
  return
}

// -----

#plain = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
#all = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_all<bits = 4, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%o: !kv.page<#plain>, %c: !kv.page<#all>, %i: index) {
  // expected-error@below {{'kv.quantize' op needs the extremes of all tokens, which are one block of scales}}
  %n = kv.quantize %o to %c head %i tokens %i, %i : !kv.page<#plain>, !kv.page<#all>
  return
}

// -----

#plain = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%o: !kv.page<#plain>, %c: !kv.page<#keys>, %e: !kv.tile<2x12>, %i: index) {
  // expected-error@below {{'kv.quantize' op makes scales of its own tokens, without extremes of others}}
  %n = kv.quantize %o to %c head %i tokens %i, %i by %e : !kv.page<#plain>, !kv.page<#keys> by !kv.tile<2x12>
  return
}

// -----

#plain = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
#all = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_all<bits = 4, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%o: !kv.page<#plain>, %c: !kv.page<#all>, %e: !kv.tile<2x13>, %i: index) {
  // expected-error@below {{'kv.quantize' op has extremes of 13 channels, not 12}}
  %n = kv.quantize %o to %c head %i tokens %i, %i by %e : !kv.page<#plain>, !kv.page<#all> by !kv.tile<2x13>
  return
}

// -----

#plain = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%o: !kv.page<#plain>, %e: !kv.tile<3x12>, %i: index) {
  // expected-error@below {{'kv.extremes' op has 2 rows of extremes, not 3}}
  %n = kv.extremes %e with %o head %i tokens %i, %i : !kv.tile<3x12>, !kv.page<#plain>
  return
}

// -----

#plain = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%o: !kv.page<#plain>, %e: !kv.tile<2x11>, %i: index) {
  // expected-error@below {{'kv.extremes' op has extremes of 11 channels, not 12}}
  %n = kv.extremes %e with %o head %i tokens %i, %i : !kv.tile<2x11>, !kv.page<#plain>
  return
}

// -----

#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%o: !kv.page<#keys>, %e: !kv.tile<2x12>, %i: index) {
  // expected-error@below {{'kv.extremes' op looks at originals, which have no scales, not #kv.affine_channel}}
  %n = kv.extremes %e with %o head %i tokens %i, %i : !kv.tile<2x12>, !kv.page<#keys>
  return
}

// -----

#bare = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>>
func.func @f(%o: !kv.page<#bare>, %e: !kv.tile<2x12>, %i: index) {
  // expected-error@below {{'kv.extremes' op needs a stream whose layout is chosen}}
  %n = kv.extremes %e with %o head %i tokens %i, %i : !kv.tile<2x12>, !kv.page<#bare>
  return
}

// -----

func.func @f(%p: index, %i: index) {
  // expected-error@below {{'kv.init_extremes' op has 2 rows of extremes, not 1}}
  %e = kv.init_extremes : !kv.tile<1x12>
  return
}

// -----

#tkeys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 8, group = 5, flush = 1, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 5, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%p: !kv.page<#tkeys>, %i: index, %e: memref<3x13xi32>, %s: memref<3x3xi32>) {
  // expected-error@below {{'kv.save' op takes elements of 3x12xi32, not 'memref<3x13xi32>'}}
  kv.save %p head %i at %i, %e pairs %s : !kv.page<#tkeys>, memref<3x13xi32> pairs memref<3x3xi32>
  return
}

// -----

#tkeys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 8, group = 5, flush = 1, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 5, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%p: !kv.page<#tkeys>, %i: index, %e: memref<3x12xi32>) {
  // expected-error@below {{'kv.restore' op takes pairs just where the stream has scales}}
  kv.restore %p head %i at %i, %e : !kv.page<#tkeys>, memref<3x12xi32>
  return
}

// -----

#tkeys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 8, group = 5, flush = 1, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 5, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
func.func @f(%p: !kv.page<#tkeys>, %i: index, %e: memref<3x12xi32>, %s: memref<3x3xf32>) {
  // expected-error@below {{'kv.save' op takes pairs of 3x3xi32, not 'memref<3x3xf32>'}}
  kv.save %p head %i at %i, %e pairs %s : !kv.page<#tkeys>, memref<3x12xi32> pairs memref<3x3xf32>
  return
}

// -----

func.func @f(%s: !kv.state<6x12>, %i: index) {
  // expected-error@below {{'kv.settle_state' op takes a point of the score axis that falls with distance, not #kv.softcap<cap = 5.000000e-01 : f64>}}
  %r = kv.settle_state %s by #kv.softcap<cap = 0.5> head %i each 3 at {
  ^bb0(%row: index):
    kv.yield %i : index
  } : !kv.state<6x12>
  return
}

// -----

func.func @f(%s: !kv.state<6x12>, %i: index) {
  // expected-error@below {{'kv.settle_state' op takes a point of the score axis that falls with distance, not #kv.own}}
  %r = kv.settle_state %s by #kv.own head %i each 3 at {
  ^bb0(%row: index):
    kv.yield %i : index
  } : !kv.state<6x12>
  return
}

// -----

func.func @f(%s: !kv.state<6x12>, %i: index) {
  // expected-error@below {{'kv.settle_state' op has 6 rows, which is no multiple of 4 a token}}
  %r = kv.settle_state %s by #kv.alibi<slopes = [0.5]> head %i each 4 at {
  ^bb0(%row: index):
    kv.yield %i : index
  } : !kv.state<6x12>
  return
}

// -----

func.func @f(%s: !kv.state<6x12>, %i: index) {
  // expected-error@below {{'kv.settle_state' op has a region that does not yield 1 index}}
  %r = kv.settle_state %s by #kv.alibi<slopes = [0.5]> head %i each 3 at {
  ^bb0(%row: index):
    kv.yield %i, %i : index, index
  } : !kv.state<6x12>
  return
}

// -----

func.func @f(%s: !kv.state<6x12>, %i: index, %l: memref<9xf16>) {
  // expected-error@below {{'kv.settle_state' op starts from a buffer of f32, one a head, not 'memref<9xf16>'}}
  %r = kv.settle_state %s by #kv.alibi<slopes = [0.5]> head %i each 3 with %l at {
  ^bb0(%row: index):
    kv.yield %i : index
  } : !kv.state<6x12> with memref<9xf16>
  return
}
