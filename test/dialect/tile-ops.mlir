// RUN: kvc-opt %s | kvc-opt | FileCheck %s

// The tile level is printed as it was read.

// Keys by channel: scales vary along the contracted dimension, so they go into
// the operand; by token into the result. Values the other way round.
#keys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
#plain = #kv.stream<plane = "keys", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
#tkeys = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 8, group = 5, flush = 1, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 5, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
#values = #kv.stream<plane = "values", kind = "code", origin = 4, encoding = #kv.affine_token<bits = 8, group = 5, flush = 1, residual = 0, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 5, lanes_on = "channels", lanes = 8, vectors = 1, pages = 5>>
#floats = #kv.stream<plane = "values", kind = "original", origin = 4, encoding = #kv.float<f32>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "channels", lanes = 8, vectors = 1, pages = 5>>
#all = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_all<bits = 4, scales = f16>, layout = <heads = 3, tokens = 64, channels = 12, block = 12, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 5>>
#bare = #kv.stream<plane = "keys", kind = "code", origin = 4, encoding = #kv.affine_channel<bits = 4, group = 32, flush = 64, residual = 0, scales = f16>>

// CHECK-DAG: #[[ALL:stream[0-9]*]] = #kv.stream<plane = "keys", kind = "code", {{.*}}affine_all
// CHECK-DAG: #[[KEYS:stream[0-9]*]] = #kv.stream<plane = "keys", kind = "code", {{.*}}affine_channel
// CHECK-DAG: #[[PLAIN:stream[0-9]*]] = #kv.stream<plane = "keys", kind = "original"
// CHECK-DAG: #[[VALUES:stream[0-9]*]] = #kv.stream<plane = "values", kind = "code"

// CHECK: func.func @queries
func.func @queries(%buffer: memref<9x12xf32>, %angles: memref<2x6xf32>, %row: index) {
  // CHECK: %[[Q:.*]] = kv.rows %{{.*}}[%{{.*}}] : memref<9x12xf32> -> <3x12>
  %q = kv.rows %buffer[%row] : memref<9x12xf32> -> !kv.tile<3x12>
  // CHECK: %[[R:.*]] = kv.rotate %[[Q]] as #kv.absolute<<theta = 1.000000e+00 : f64, dims = 12, pairing = "half">> by %{{.*}} : memref<2x6xf32>, <3x12>
  %r = kv.rotate %q as #kv.absolute<<theta = 1.0, dims = 12, pairing = "half">> by %angles : memref<2x6xf32>, !kv.tile<3x12>
  // CHECK: kv.rotate %[[Q]] as #kv.absolute<{{.*}}> by %{{.*}} exact : memref<2x6xf32>, <3x12>
  %e = kv.rotate %q as #kv.absolute<<theta = 1.0, dims = 12, pairing = "half">> by %angles exact : memref<2x6xf32>, !kv.tile<3x12>
  // CHECK: %[[S:.*]] = kv.scale %[[R]] by 1.250000e-01 : <3x12>
  %s = kv.scale %r by 0.125 : !kv.tile<3x12>
  // CHECK: %{{.*}} = kv.arrange %[[S]] for #[[KEYS]] : <3x12> -> <3x16>{{$}}
  %o = kv.arrange %s for #keys : !kv.tile<3x12> -> !kv.tile<3x16>
  // Three blocks of 5, 5 and 2 channels, each padded to words of 4.
  // CHECK: %{{.*}}, %{{.*}} = kv.arrange %[[S]] for #{{.*}} : <3x12> -> <3x24>, !kv.tile<3x3>
  %t, %z = kv.arrange %s for #tkeys : !kv.tile<3x12> -> !kv.tile<3x24>, !kv.tile<3x3>
  return
}

// CHECK: func.func @fits
func.func @fits(%s: !kv.tile<3x12>, %page: !kv.page<#tkeys>, %h: index, %t: index, %lead: index, %n: index) -> i1 {
  // CHECK: %{{.*}}, %[[Z:.*]] = kv.arrange %{{.*}} for #{{.*}} : <3x12> -> <3x24, i16>, !kv.tile<3x15>
  %o, %z = kv.arrange %s for #tkeys : !kv.tile<3x12> -> !kv.tile<3x24, i16>, !kv.tile<3x15>
  // CHECK: kv.fits %[[Z]] from %{{.*}} head %{{.*}} run %{{.*}}, %{{.*}}, %{{.*}} : <3x15>, <#{{.*}}>
  %ok = kv.fits %z from %page head %h run %t, %lead, %n : !kv.tile<3x15>, !kv.page<#tkeys>
  return %ok : i1
}

// CHECK: func.func @attention
func.func @attention(%view: !kv.view, %q: !kv.tile<3x16>, %w: !kv.tile<3x64>, %t: index, %h: index, %lead: index, %n: index, %sinks: memref<?xf32>, %out: memref<1x9x12xf32>, %lse: memref<1x9xf32>) {
  // CHECK: %[[K:.*]] = kv.page %{{.*}}[1] at %{{.*}} : <#[[KEYS]]>{{$}}
  %keys = kv.page %view[1] at %t : !kv.page<#keys>
  %values = kv.page %view[4] at %t : !kv.page<#values>
  %floats = kv.page %view[5] at %t : !kv.page<#floats>
  %plain = kv.page %view[2] at %t : !kv.page<#plain>
  // CHECK: %[[O:.*]], %[[Z:.*]], %[[C:.*]] = kv.fold %{{.*}} from %[[K]] head %{{.*}} run %{{.*}}, %{{.*}}, %{{.*}} scales "operand" : <3x16>, <#[[KEYS]]> -> <3x16>, <3x1>, !kv.tile<1x16>
  %o, %z, %c = kv.fold %q from %keys head %h run %t, %lead, %n scales "operand" : !kv.tile<3x16>, !kv.page<#keys> -> !kv.tile<3x16>, !kv.tile<3x1>, !kv.tile<1x16>
  // CHECK: kv.contract %[[O]] zeros %[[Z]] centers %[[C]] with %[[K]] head %{{.*}} run %{{.*}}, %{{.*}}, %{{.*}} scales "operand" schedule <heads = 3, run = 64, rows = 16> : <3x16>, <#[[KEYS]]> zeros !kv.tile<3x1> centers !kv.tile<1x16> -> <3x64>
  %s = kv.contract %o zeros %z centers %c with %keys head %h run %t, %lead, %n scales "operand" schedule <heads = 3, run = 64, rows = 16> : !kv.tile<3x16>, !kv.page<#keys> zeros !kv.tile<3x1> centers !kv.tile<1x16> -> !kv.tile<3x64>
  // CHECK: kv.contract %{{.*}} with %{{.*}} head %{{.*}} run %{{.*}}, %{{.*}}, %{{.*}} : <3x16>, <#[[PLAIN]]> -> <3x64>
  %s0 = kv.contract %q with %plain head %h run %t, %lead, %n : !kv.tile<3x16>, !kv.page<#plain> -> !kv.tile<3x64>
  // CHECK: kv.contract %{{.*}} with %[[K]] head %{{.*}} run %{{.*}}, %{{.*}}, %{{.*}} ahead %[[K]] at %{{.*}} : <3x16>, <#[[KEYS]]> ahead !kv.page<#[[KEYS]]> -> <3x64>
  %s1 = kv.contract %q with %keys head %h run %t, %lead, %n ahead %keys at %t : !kv.tile<3x16>, !kv.page<#keys> ahead !kv.page<#keys> -> !kv.tile<3x64>
  // CHECK: kv.logit %{{.*}} by #kv.plain<scale = 1.000000e+00 : f64> head %{{.*}} run %{{.*}}, %{{.*}}, %{{.*}} each 3 at {
  // CHECK-NEXT: ^bb0(%[[ROW:.*]]: index):
  // CHECK-NEXT:   kv.yield %[[ROW]] : index
  // CHECK-NEXT: } : <3x64>
  %l = kv.logit %s by #kv.plain<scale = 1.0> head %h run %t, %lead, %n each 3 at {
  ^bb0(%row: index):
    kv.yield %row : index
  } : !kv.tile<3x64>
  // CHECK: kv.mask %{{.*}} run %{{.*}}, %{{.*}}, %{{.*}} : <3x64>
  %m = kv.mask %l run %t, %lead, %n : !kv.tile<3x64>
  // CHECK: kv.init_state : <3x12>
  %0 = kv.init_state : !kv.state<3x12>
  // CHECK: kv.init_state from %{{.*}}[%{{.*}}] each 3 : <3x12> from memref<?xf32>
  %sunk = kv.init_state from %sinks[%h] each 3 : !kv.state<3x12> from memref<?xf32>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = kv.softmax_update %{{.*}}, %{{.*}} columns %{{.*}} : <3x64>, <3x12> -> <3x1>
  %weights, %alpha, %1 = kv.softmax_update %m, %0 columns %n : !kv.tile<3x64>, !kv.state<3x12> -> !kv.tile<3x1>
  // CHECK: %{{.*}}, %{{.*}} = kv.fold %{{.*}} from %{{.*}} head %{{.*}} run %{{.*}}, %{{.*}}, %{{.*}} scales "operand" : <3x64>, <#[[VALUES]]> -> <9x64>, <9x1>
  %x, %y = kv.fold %weights from %values head %h run %t, %lead, %n scales "operand" : !kv.tile<3x64>, !kv.page<#values> -> !kv.tile<9x64>, !kv.tile<9x1>
  // CHECK: kv.accumulate %{{.*}} zeros %{{.*}} with %{{.*}} head %{{.*}} run %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}} rescale %{{.*}} scales "operand" schedule <heads = 3, run = 64, rows = 16> : <9x64>, <#[[VALUES]]>, <3x12> zeros !kv.tile<9x1> rescale !kv.tile<3x1> -> <3x12>
  %2 = kv.accumulate %x zeros %y with %values head %h run %t, %lead, %n into %1 rescale %alpha scales "operand" schedule <heads = 3, run = 64, rows = 16> : !kv.tile<9x64>, !kv.page<#values>, !kv.state<3x12> zeros !kv.tile<9x1> rescale !kv.tile<3x1> -> !kv.state<3x12>
  // CHECK: kv.accumulate %{{.*}} with %{{.*}} head %{{.*}} run %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}} : <3x64>, <#{{.*}}>, <3x12> -> <3x12>{{$}}
  %3 = kv.accumulate %weights with %floats head %h run %t, %lead, %n into %2 : !kv.tile<3x64>, !kv.page<#floats>, !kv.state<3x12> -> !kv.state<3x12>
  // CHECK: kv.accumulate %{{.*}} with %{{.*}} head %{{.*}} run %{{.*}}, %{{.*}}, %{{.*}} ahead %{{.*}} at %{{.*}} into %{{.*}} : <3x64>, <#[[VALUES]]> ahead !kv.page<#[[VALUES]]>, <3x12> -> <3x12>{{$}}
  %4 = kv.accumulate %weights with %values head %h run %t, %lead, %n ahead %values at %t into %2 : !kv.tile<3x64>, !kv.page<#values> ahead !kv.page<#values>, !kv.state<3x12> -> !kv.state<3x12>
  // CHECK: kv.finish %{{.*}} to %{{.*}}[%{{.*}}] of %{{.*}} each 3, %{{.*}} : <3x12>, memref<1x9x12xf32>, memref<1x9xf32>
  kv.finish %3 to %out[%h] of %n each 3, %lse : !kv.state<3x12>, memref<1x9x12xf32>, memref<1x9xf32>
  return
}

// Four tokens ask together, three rows each.
// CHECK: func.func @tokens
func.func @tokens(%view: !kv.view, %q: memref<?x9x12xf16>, %angles: memref<4x2x6xf32>, %tile: !kv.tile<12x64>, %t: index, %h: index, %lead: index, %n: index, %whole: i1, %sinks: memref<9xf32>, %out: memref<?x9x12xbf16>, %lse: memref<?x9xf32>) {
  // CHECK: %[[Q:.*]] = kv.rows %{{.*}}[%{{.*}}] of %{{.*}} each 3 : memref<?x9x12xf16> -> <12x12>
  %a = kv.rows %q[%h] of %n each 3 : memref<?x9x12xf16> -> !kv.tile<12x12>
  // CHECK: kv.rotate %[[Q]] as #kv.absolute<{{.*}}> by %{{.*}} exact : memref<4x2x6xf32>, <12x12>
  %r = kv.rotate %a as #kv.absolute<<theta = 1.0, dims = 12, pairing = "half">> by %angles exact : memref<4x2x6xf32>, !kv.tile<12x12>
  // CHECK: kv.mask %{{.*}} run %{{.*}}, %{{.*}}, %{{.*}} unless %{{.*}} each 3 but {
  // CHECK-NEXT: ^bb0(%[[ROW:.*]]: index):
  // CHECK-NEXT:   %[[END:.*]] = arith.addi %{{.*}}, %[[ROW]] : index
  // CHECK-NEXT:   kv.yield %[[ROW]], %[[END]] : index, index
  // CHECK-NEXT: } : <12x64>
  %m = kv.mask %tile run %t, %lead, %n unless %whole each 3 but {
  ^bb0(%row: index):
    %end = arith.addi %t, %row : index
    kv.yield %row, %end : index, index
  } : !kv.tile<12x64>
  // CHECK: kv.init_state from %{{.*}}[%{{.*}}] each 3 : <12x12> from memref<9xf32>
  %s = kv.init_state from %sinks[%h] each 3 : !kv.state<12x12> from memref<9xf32>
  // CHECK: kv.finish %{{.*}} to %{{.*}}[%{{.*}}] of %{{.*}} each 3, %{{.*}} : <12x12>, memref<?x9x12xbf16>, memref<?x9xf32>
  kv.finish %s to %out[%h] of %n each 3, %lse : !kv.state<12x12>, memref<?x9x12xbf16>, memref<?x9xf32>
  return
}

// Logits are counted from a distance, and put right.
// CHECK: func.func @settle
func.func @settle(%t: !kv.tile<6x64>, %s: !kv.state<6x12>, %sinks: memref<9xf32>, %i: index) -> (!kv.tile<6x64>, !kv.state<6x12>, !kv.state<6x12>) {
  // CHECK: kv.logit %{{.*}} by #kv.alibi<slopes = [5.000000e-01]> head %[[I:.*]] run %{{.*}} each 3 at {
  // CHECK:   kv.yield %[[ROW:.*]], %[[I]] : index, index
  %l = kv.logit %t by #kv.alibi<slopes = [0.5]> head %i run %i, %i, %i each 3 at {
  ^bb0(%row: index):
    kv.yield %row, %i : index, index
  } : !kv.tile<6x64>
  // CHECK: kv.settle_state %[[S:.*]] by #kv.alibi<slopes = [5.000000e-01]> head %[[I]] each 3 at {
  %a = kv.settle_state %s by #kv.alibi<slopes = [0.5]> head %i each 3 at {
  ^bb0(%row: index):
    kv.yield %i : index
  } : !kv.state<6x12>
  // CHECK: kv.settle_state %[[S]] by #kv.alibi<slopes = [5.000000e-01]> head %[[I]] each 3 with %{{.*}} at {
  // CHECK: } : <6x12> with memref<9xf32>
  %b = kv.settle_state %s by #kv.alibi<slopes = [0.5]> head %i each 3 with %sinks at {
  ^bb0(%row: index):
    kv.yield %i : index
  } : !kv.state<6x12> with memref<9xf32>
  return %l, %a, %b : !kv.tile<6x64>, !kv.state<6x12>, !kv.state<6x12>
}

// Parts of a softmax are joined.
// CHECK: func.func @merge
// CHECK-SAME: (%[[PARTS:.*]]: !kv.parts, %[[I:.*]]: index, %[[ROW:.*]]: index) -> !kv.state<3x12>
func.func @merge(%parts: !kv.parts, %i: index, %row: index) -> !kv.state<3x12> {
  // CHECK: %[[A:.*]] = kv.load_state %[[PARTS]][%[[I]]] at %[[ROW]] : <3x12>
  %a = kv.load_state %parts[%i] at %row : !kv.state<3x12>
  // CHECK: kv.merge_state %[[A]], %[[A]] : <3x12>
  %b = kv.merge_state %a, %a : !kv.state<3x12>
  return %b : !kv.state<3x12>
}

// CHECK: func.func @writing
func.func @writing(%row: !kv.tile<1x12>, %o: !kv.page<#plain>, %c: !kv.page<#keys>, %all: !kv.page<#all>, %h: index, %from: index, %to: index, %buffer: memref<?xf32>) -> index {
  // CHECK: kv.encode %{{.*}} to %{{.*}} head %{{.*}} at %{{.*}} : <1x12>, <#[[PLAIN]]>
  %n = kv.encode %row to %o head %h at %from : !kv.tile<1x12>, !kv.page<#plain>
  // CHECK: kv.quantize %{{.*}} to %{{.*}} head %{{.*}} tokens %{{.*}}, %{{.*}} : <#[[PLAIN]]>, <#[[KEYS]]>
  %m = kv.quantize %o to %c head %h tokens %from, %to : !kv.page<#plain>, !kv.page<#keys>
  // CHECK: %[[NONE:.*]] = kv.init_extremes : <2x12>
  %none = kv.init_extremes : !kv.tile<2x12>
  // CHECK: %[[SOME:.*]] = kv.extremes %[[NONE]] with %{{.*}} head %{{.*}} tokens %{{.*}}, %{{.*}} : <2x12>, <#[[PLAIN]]>
  %some = kv.extremes %none with %o head %h tokens %from, %to : !kv.tile<2x12>, !kv.page<#plain>
  // CHECK: kv.quantize %{{.*}} to %{{.*}} head %{{.*}} tokens %{{.*}}, %{{.*}} by %[[SOME]] : <#[[PLAIN]]>, <#[[ALL]]> by !kv.tile<2x12>
  %a = kv.quantize %o to %all head %h tokens %from, %to by %some : !kv.page<#plain>, !kv.page<#all> by !kv.tile<2x12>
  // CHECK: kv.decode %{{.*}} head %{{.*}} tokens %{{.*}}, %{{.*}} into %{{.*}}[%{{.*}} of %{{.*}}] : <#[[KEYS]]>, memref<?xf32>
  kv.decode %c head %h tokens %from, %to into %buffer[%from of %to] : !kv.page<#keys>, memref<?xf32>
  return %n : index
}

// CHECK: func.func @snapshot
func.func @snapshot(%page: !kv.page<#tkeys>, %floats: !kv.page<#floats>, %h: index, %t: index, %e: memref<3x12xi32>, %p: memref<3x3xi32>) {
  // CHECK: kv.save %{{.*}} head %{{.*}} at %{{.*}}, %{{.*}} pairs %{{.*}} : <#{{.*}}>, memref<3x12xi32> pairs memref<3x3xi32>
  kv.save %page head %h at %t, %e pairs %p : !kv.page<#tkeys>, memref<3x12xi32> pairs memref<3x3xi32>
  // CHECK: kv.restore %{{.*}} head %{{.*}} at %{{.*}}, %{{.*}} : <#{{.*}}>, memref<3x12xi32>{{$}}
  kv.restore %floats head %h at %t, %e : !kv.page<#floats>, memref<3x12xi32>
  return
}
