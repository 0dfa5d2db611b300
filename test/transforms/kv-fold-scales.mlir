// RUN: kvc-opt %s --pass-pipeline='builtin.module(func.func(kv-fold-scales))' | FileCheck %s
// Folding twice changes nothing.
// RUN: kvc-opt %s --pass-pipeline='builtin.module(func.func(kv-fold-scales,kv-fold-scales))' | FileCheck %s

// Whether a scale varies along the contracted dimension decides where it goes.

#across = #kv.affine_channel<bits = 4, group = 8, flush = 8, residual = 0, scales = f16>
#each = #kv.affine_token<bits = 4, group = 10, flush = 1, residual = 0, scales = f16>
#keysFloat = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 20, block = 20, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#keysChannel = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #across, layout = #kv.layout<heads = 1, tokens = 64, channels = 20, block = 20, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#keysToken = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #each, layout = #kv.layout<heads = 1, tokens = 64, channels = 20, block = 10, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#valuesFloat = #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 20, block = 20, lanes_on = "channels", lanes = 8, vectors = 1, pages = 3>>
#valuesChannel = #kv.stream<plane = "values", kind = "code", origin = 0, encoding = #across, layout = #kv.layout<heads = 1, tokens = 64, channels = 20, block = 20, lanes_on = "channels", lanes = 8, vectors = 1, pages = 3>>
#valuesToken = #kv.stream<plane = "values", kind = "code", origin = 0, encoding = #each, layout = #kv.layout<heads = 1, tokens = 64, channels = 20, block = 10, lanes_on = "channels", lanes = 8, vectors = 1, pages = 3>>

// No scales: the query's channels in storage order, once, where it is made.
// CHECK-LABEL: func.func @keys_float
// CHECK:       %[[Q:[a-z0-9_]+]] = kv.rows
// CHECK-NEXT:  %[[OPERAND:[a-z0-9_]+]] = kv.arrange %[[Q]] for #{{.*}} : <3x20> -> <3x20>
// CHECK-NEXT:  scf.for
// CHECK-NEXT:    kv.page
// CHECK-NEXT:    kv.contract %[[OPERAND]] with %{{.*}} scales "none" :
func.func @keys_float(%view: !kv.view, %buffer: memref<3x20xf32>, %h: index, %t: index, %n: index) {
  %q = kv.rows %buffer[%h] : memref<3x20xf32> -> <3x20>
  scf.for %i = %h to %n step %t {
    %page = kv.page %view[0] at %t : <#keysFloat>
    %s = kv.contract %q with %page head %h run %t, %h, %n : <3x20>, <#keysFloat> -> <3x64>
  }
  return
}

// One scale a channel: it varies along what is summed over, so it goes into the
// query, in each run; zeros become a sum, and codes are taken from their centers.
// CHECK-LABEL: func.func @keys_per_channel
// CHECK:       %[[Q:[a-z0-9_]+]] = kv.rows
// CHECK-NEXT:  scf.for
// CHECK-NEXT:    %[[PAGE:[a-z0-9_]+]] = kv.page
// CHECK-NEXT:    %[[OPERAND:[a-z0-9_]+]], %[[SUMS:[a-z0-9_]+]], %[[CENTERS:[a-z0-9_]+]] = kv.fold %[[Q]] from %[[PAGE]] head %[[H:[a-z0-9_]+]] run %[[T:[a-z0-9_]+]], %[[H]], %[[N:[a-z0-9_]+]] scales "operand" : <3x20>, {{.*}} -> <3x24>, <3x1>, !kv.tile<1x24>
// CHECK-NEXT:    kv.contract %[[OPERAND]] zeros %[[SUMS]] centers %[[CENTERS]] with %[[PAGE]] head %[[H]] run %[[T]], %[[H]], %[[N]] scales "operand" :
func.func @keys_per_channel(%view: !kv.view, %buffer: memref<3x20xf32>, %h: index, %t: index, %n: index) {
  %q = kv.rows %buffer[%h] : memref<3x20xf32> -> <3x20>
  scf.for %i = %h to %n step %t {
    %page = kv.page %view[0] at %t : <#keysChannel>
    %s = kv.contract %q with %page head %h run %t, %h, %n : <3x20>, <#keysChannel> -> <3x64>
  }
  return
}

// One scale a token and block of channels: it goes into the result. Nothing of
// the query's share depends on a page: a sum a block, made once.
// CHECK-LABEL: func.func @keys_per_token
// CHECK:       %[[Q:[a-z0-9_]+]] = kv.rows
// CHECK-NEXT:  %[[OPERAND:[a-z0-9_]+]], %[[SUMS:[a-z0-9_]+]] = kv.arrange %[[Q]] for #{{.*}} : <3x20> -> <3x32>, !kv.tile<3x2>
// CHECK-NEXT:  scf.for
// CHECK-NOT:     kv.fold
// CHECK:         kv.contract %[[OPERAND]] zeros %[[SUMS]] with %{{.*}} scales "result" :
func.func @keys_per_token(%view: !kv.view, %buffer: memref<3x20xf32>, %h: index, %t: index, %n: index) {
  %q = kv.rows %buffer[%h] : memref<3x20xf32> -> <3x20>
  scf.for %i = %h to %n step %t {
    %page = kv.page %view[0] at %t : <#keysToken>
    %s = kv.contract %q with %page head %h run %t, %h, %n : <3x20>, <#keysToken> -> <3x64>
  }
  return
}

// CHECK-LABEL: func.func @values_float
// CHECK-SAME:    %[[W:[a-z0-9_]+]]: !kv.tile<3x64>
// CHECK:       %[[PAGE:[a-z0-9_]+]] = kv.page
// CHECK-NEXT:  kv.accumulate %[[W]] with %[[PAGE]] {{.*}} into %{{.*}} rescale %{{.*}} scales "none" :
func.func @values_float(%view: !kv.view, %w: !kv.tile<3x64>, %alpha: !kv.tile<3x1>, %state: !kv.state<3x20>, %h: index, %t: index, %n: index) -> !kv.state<3x20> {
  %page = kv.page %view[0] at %t : <#valuesFloat>
  %next = kv.accumulate %w with %page head %h run %t, %h, %n into %state rescale %alpha : <3x64>, <#valuesFloat>, <3x20> rescale !kv.tile<3x1> -> <3x20>
  return %next : !kv.state<3x20>
}

// Summed over tokens of one group, a channel's scale is one number.
// CHECK-LABEL: func.func @values_per_channel
// CHECK-SAME:    %[[W:[a-z0-9_]+]]: !kv.tile<3x64>
// CHECK:       %[[PAGE:[a-z0-9_]+]] = kv.page
// CHECK-NEXT:  %[[OPERAND:[a-z0-9_]+]], %[[SUMS:[a-z0-9_]+]] = kv.fold %[[W]] from %[[PAGE]] {{.*}} scales "result" : <3x64>, {{.*}} -> <3x64>, <3x1>{{$}}
// CHECK-NEXT:  kv.accumulate %[[OPERAND]] zeros %[[SUMS]] with %[[PAGE]] {{.*}} scales "result" :
func.func @values_per_channel(%view: !kv.view, %w: !kv.tile<3x64>, %alpha: !kv.tile<3x1>, %state: !kv.state<3x20>, %h: index, %t: index, %n: index) -> !kv.state<3x20> {
  %page = kv.page %view[0] at %t : <#valuesChannel>
  %next = kv.accumulate %w with %page head %h run %t, %h, %n into %state rescale %alpha : <3x64>, <#valuesChannel>, <3x20> rescale !kv.tile<3x1> -> <3x20>
  return %next : !kv.state<3x20>
}

// A scale a token goes into the weights: a row for each head and block.
// CHECK-LABEL: func.func @values_per_token
// CHECK-SAME:    %[[W:[a-z0-9_]+]]: !kv.tile<3x64>
// CHECK:       %[[PAGE:[a-z0-9_]+]] = kv.page
// CHECK-NEXT:  %[[OPERAND:[a-z0-9_]+]], %[[SUMS:[a-z0-9_]+]], %[[CENTERS:[a-z0-9_]+]] = kv.fold %[[W]] from %[[PAGE]] {{.*}} scales "operand" : <3x64>, {{.*}} -> <6x64>, <3x2>, !kv.tile<2x64>
// CHECK-NEXT:  kv.accumulate %[[OPERAND]] zeros %[[SUMS]] centers %[[CENTERS]] with %[[PAGE]] {{.*}} scales "operand" :
func.func @values_per_token(%view: !kv.view, %w: !kv.tile<3x64>, %alpha: !kv.tile<3x1>, %state: !kv.state<3x20>, %h: index, %t: index, %n: index) -> !kv.state<3x20> {
  %page = kv.page %view[0] at %t : <#valuesToken>
  %next = kv.accumulate %w with %page head %h run %t, %h, %n into %state rescale %alpha : <3x64>, <#valuesToken>, <3x20> rescale !kv.tile<3x1> -> <3x20>
  return %next : !kv.state<3x20>
}

// In integers a run whose numbers do not fit goes in f32. What does not depend
// on a page is made once before the loop, and a run asks whether it fits: in bytes, whose
// bound is for random input alone, nobody asks. Of weights without a scale there are two
// rows a head.
// CHECK-LABEL: func.func @integers
// CHECK-SAME:    %[[Q:[a-z0-9_]+]]: !kv.tile<3x20>, %[[W:[a-z0-9_]+]]: !kv.tile<3x64>
// CHECK:       %[[O:[a-z0-9_]+]], %[[Z:[a-z0-9_]+]], %[[FITS:[a-z0-9_]+]] = kv.fold %[[Q]] from %[[PAGE:[a-z0-9_]+]] {{.*}} scales "operand" : <3x20>, {{.*}} -> <3x24, i16>, <3x5> fits i1
// CHECK-NEXT:  scf.if %[[FITS]] -> (!kv.tile<3x64>) {
// CHECK-NEXT:    kv.contract %[[O]] zeros %[[Z]] with %[[PAGE]]
// CHECK-NEXT:    scf.yield
// CHECK-NEXT:  } else {
// CHECK-NEXT:    %[[X:[a-z0-9_]+]], %[[SUMS:[a-z0-9_]+]], %[[CENTERS:[a-z0-9_]+]] = kv.fold %[[Q]] from %[[PAGE]]
// CHECK-NEXT:    kv.contract %[[X]] zeros %[[SUMS]] centers %[[CENTERS]] with %[[PAGE]]
// CHECK-NEXT:    scf.yield
// CHECK:       %[[BYTES:[a-z0-9_]+]], %[[TERMS:[a-z0-9_]+]] = kv.arrange %[[Q]] for #{{.*}} : <3x20> -> <3x32, i16>, !kv.tile<3x10>
// CHECK:       %[[FINE:[a-z0-9_]+]] = kv.fits %[[TERMS]] from %[[TOKENS:[a-z0-9_]+]] head %[[H:[a-z0-9_]+]] run %[[T:[a-z0-9_]+]], %[[H]], %[[N:[a-z0-9_]+]] : <3x10>,
// CHECK-NEXT:  scf.if %[[FINE]] -> (!kv.tile<3x64>) {
// CHECK-NEXT:    kv.contract %[[BYTES]] zeros %[[TERMS]] with %[[TOKENS]]
// CHECK-NEXT:    scf.yield
// CHECK-NEXT:  } else {
// CHECK-NEXT:    %[[PLAIN:[a-z0-9_]+]], %[[SUM:[a-z0-9_]+]] = kv.arrange %[[Q]] for #{{.*}} : <3x20> -> <3x32>, !kv.tile<3x2>
// CHECK-NEXT:    kv.contract %[[PLAIN]] zeros %[[SUM]] with %[[TOKENS]]
// CHECK-NEXT:    scf.yield
// CHECK:       kv.fold %[[W]] from {{.*}} scales "result" : <3x64>, {{.*}} -> <6x64, i16>, <3x5> fits i1
// CHECK-NEXT:  scf.if %{{.*}} -> (!kv.state<3x20>) {
// CHECK:       kv.fold %[[W]] from {{.*}} scales "operand" : <3x64>, {{.*}} -> <6x64, i16>, <3x10> fits i1
// CHECK-NEXT:  scf.if %{{.*}} -> (!kv.state<3x20>) {
func.func @integers(%view: !kv.view, %q: !kv.tile<3x20>, %w: !kv.tile<3x64>, %state: !kv.state<3x20>, %h: index, %t: index, %n: index) -> (!kv.tile<3x64>, !kv.tile<3x64>, !kv.state<3x20>) {
  %k0 = kv.page %view[0] at %t : <#keysChannel>
  %a = kv.contract %q with %k0 head %h run %t, %h, %n schedule <heads = 1, run = 64, rows = 1, arithmetic = i16> : <3x20>, <#keysChannel> -> <3x64>
  %k1 = kv.page %view[1] at %t : <#keysToken>
  %b = kv.contract %q with %k1 head %h run %t, %h, %n schedule <heads = 1, run = 64, rows = 1, arithmetic = i16> : <3x20>, <#keysToken> -> <3x64>
  %v0 = kv.page %view[2] at %t : <#valuesChannel>
  %s0 = kv.accumulate %w with %v0 head %h run %t, %h, %n into %state schedule <heads = 1, run = 64, rows = 1, arithmetic = i16> : <3x64>, <#valuesChannel>, <3x20> -> <3x20>
  %v1 = kv.page %view[3] at %t : <#valuesToken>
  %s1 = kv.accumulate %w with %v1 head %h run %t, %h, %n into %s0 schedule <heads = 1, run = 64, rows = 1, arithmetic = i16> : <3x64>, <#valuesToken>, <3x20> -> <3x20>
  return %a, %b, %s1 : !kv.tile<3x64>, !kv.tile<3x64>, !kv.state<3x20>
}

// CHECK-LABEL: func.func @bytes
// CHECK:       %[[O:[a-z0-9_]+]], %[[Z:[a-z0-9_]+]] = kv.arrange %{{.*}} for #{{.*}} : <3x20> -> <3x32, i8>, !kv.tile<3x10>
// CHECK-NOT:   kv.fits
// CHECK:       kv.contract %[[O]] zeros %[[Z]]
func.func @bytes(%view: !kv.view, %q: !kv.tile<3x20>, %h: index, %t: index, %n: index) -> !kv.tile<3x64> {
  %k = kv.page %view[0] at %t : <#keysToken>
  %a = kv.contract %q with %k head %h run %t, %h, %n schedule <heads = 1, run = 64, rows = 1, arithmetic = i8> : <3x20>, <#keysToken> -> <3x64>
  return %a : !kv.tile<3x64>
}
