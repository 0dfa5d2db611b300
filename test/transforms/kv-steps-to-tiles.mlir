// RUN: kvc-opt %s --kv-steps-to-tiles --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

// One stream a plane and a window of 12 of at most 16 tokens a page: what a
// step's functions look like where nothing is coded.

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 16, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 0, window = 12>, position = #kv.absolute<<theta = 1.0 : f64, dims = 8, pairing = "half">>, depth = #kv.own, score = [#kv.plain<scale = 0.25 : f64>]>
#keys = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 2, tokens = 16, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 2>>
#values = #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 2, tokens = 16, channels = 16, block = 16, lanes_on = "channels", lanes = 8, vectors = 2, pages = 2>>

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // CHECK: kv.step @own {{.*}} {
  // CHECK-NEXT: }
  kv.step @own shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = 1, rotation = 0>] schedule <heads = 2, run = 64> {
  ^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x16xf32>):
    %0 = kv.append %cache, %k, %v : tensor<2x8xf32>, tensor<2x16xf32>
    %1 = kv.evict %0
    %2 = kv.code %1
    %out, %lse = kv.attend %2, %q : tensor<4x8xf32> -> tensor<4x16xf32>, tensor<4xf32>
    kv.yield %2, %out, %lse : !kv.cache, tensor<4x16xf32>, tensor<4xf32>
  }
}

// [begin, end) of each stream.
// CHECK-LABEL: func.func private @own_ranges(
// CHECK-SAME:    %[[SEEN:[a-z0-9_]+]]: index) -> (index, index, index, index) {
// CHECK-DAG:   %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG:   %[[C12:[a-z0-9_]+]] = arith.constant 12 : index
// CHECK:       %[[GONE:[a-z0-9_]+]] = arith.subi %[[SEEN]], %[[C12]]
// CHECK:       %[[FIRST:[a-z0-9_]+]] = arith.maxsi %[[GONE]], %[[C0]]
// CHECK:       %[[END:[a-z0-9_]+]] = arith.maxsi %[[FIRST]], %[[SEEN]]
// CHECK:       return %[[FIRST]], %[[END]]

// The one query index is the newest token's.
// CHECK-LABEL: func.func private @own_indices(
// CHECK-SAME:    %[[SEEN:[a-z0-9_]+]]: index) -> index {
// CHECK:       %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK:       %[[P:[a-z0-9_]+]] = arith.subi %[[SEEN]], %[[C1]]
// CHECK:       return %[[P]]

// CHECK-LABEL: func.func private @own_live(
// CHECK-SAME:    %{{.*}}: index) -> (index, index) {

// stored, codes, scales, residual, sinks, originals, rollback: 2 heads of 8 and
// of 16 channels take 512 and 1024 bits a token.
// CHECK-LABEL: func.func private @own_plan(
// CHECK-DAG:   %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG:   %[[KEYS:[a-z0-9_]+]] = arith.constant 512 : index
// CHECK-DAG:   %[[VALUES:[a-z0-9_]+]] = arith.constant 1024 : index
// CHECK:       arith.muli %{{.*}}, %[[KEYS]]
// CHECK:       arith.muli %{{.*}}, %[[VALUES]]
// CHECK:       return %[[STORED:[a-z0-9_]+]], %[[C0]], %[[C0]], %[[RESIDUAL:[a-z0-9_]+]], %[[C0]], %[[C0]], %[[C0]]

// Keys are rotated, values are not; both are counted.
// CHECK-LABEL: func.func private @own_append(
// CHECK-SAME:    %[[VIEW:[a-z0-9_]+]]: !kv.view, %[[TOKEN:[a-z0-9_]+]]: index, %[[K:[a-z0-9_]+]]: memref<2x8xf32>, %[[V:[a-z0-9_]+]]: memref<2x16xf32>, %[[ANGLES:[a-z0-9_]+]]: memref<2x4xf32>) -> index {
// CHECK:       %[[PAGE:[a-z0-9_]+]] = kv.page %[[VIEW]][0] at %[[TOKEN]]
// CHECK:       %[[KCOUNT:[a-z0-9_]+]] = scf.for %[[HEAD:[a-z0-9_]+]] =
// CHECK:         %[[ROW:[a-z0-9_]+]] = kv.rows %[[K]][%[[HEAD]]] : memref<2x8xf32> -> <1x8>
// CHECK:         %[[TURNED:[a-z0-9_]+]] = kv.rotate %[[ROW]] as #kv.absolute{{.*}} by %[[ANGLES]]
// CHECK:         kv.encode %[[TURNED]] to %[[PAGE]] head %[[HEAD]] at %[[TOKEN]]
// CHECK:       %[[PAGE:[a-z0-9_]+]] = kv.page %[[VIEW]][1] at %[[TOKEN]]
// CHECK:       %[[COUNT:[a-z0-9_]+]] = scf.for %[[HEAD:[a-z0-9_]+]] = {{.*}} iter_args(%{{.*}} = %[[KCOUNT]])
// CHECK-NOT:     kv.rotate
// CHECK:         kv.rows %[[V]][%[[HEAD]]]
// CHECK:         kv.encode
// CHECK:       return %[[COUNT]]

// Nothing is coded.
// CHECK-LABEL: func.func private @own_code(
// CHECK-NEXT:  %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-NEXT:  return %[[C0]]

// CHECK-LABEL: func.func private @own_read_keys(
// CHECK-SAME:    !kv.view, %{{.*}}: index, %[[FROM:[a-z0-9_]+]]: index, %[[TO:[a-z0-9_]+]]: index, %[[ROW:[a-z0-9_]+]]: index, %[[ROWS:[a-z0-9_]+]]: index, %[[BUFFER:[a-z0-9_]+]]: memref<?xf32>) {
// CHECK:       kv.decode %{{.*}} head %{{.*}} tokens %{{.*}}, %{{.*}} into %[[BUFFER]][%{{.*}} of %[[ROWS]]] : <#stream>, memref<?xf32>
// CHECK-LABEL: func.func private @own_read_values(
// CHECK:       kv.page %{{.*}}[1]

// For each head of keys the two queries that meet it: rotated and scaled once,
// then run by run through an online softmax.
// CHECK-LABEL: func.func private @own_attend(
// CHECK-SAME:    %[[VIEW:[a-z0-9_]+]]: !kv.view, %[[SEEN:[a-z0-9_]+]]: index, %[[Q:[a-z0-9_]+]]: memref<4x8xf32>, %[[ANGLES:[a-z0-9_]+]]: memref<2x4xf32>, %[[OUT:[a-z0-9_]+]]: memref<4x16xf32>, %[[LSE:[a-z0-9_]+]]: memref<4xf32>) {
// CHECK-DAG:   %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK-DAG:   %[[C2:[a-z0-9_]+]] = arith.constant 2 : index
// CHECK-DAG:   %[[C16:[a-z0-9_]+]] = arith.constant 16 : index
// CHECK:       scf.for %[[HEAD:[a-z0-9_]+]] = %{{.*}} to %[[C2]] step %[[C1]] {
// CHECK:         %[[FIRSTROW:[a-z0-9_]+]] = arith.muli %[[HEAD]], %[[C2]]
// CHECK:         %[[ROWS:[a-z0-9_]+]] = kv.rows %[[Q]][%[[FIRSTROW]]] : memref<4x8xf32> -> <2x8>
// CHECK:         %[[TURNED:[a-z0-9_]+]] = kv.rotate %[[ROWS]] {{.*}} by %[[ANGLES]] exact
// CHECK:         %[[QUERY:[a-z0-9_]+]] = kv.scale %[[TURNED]] by 2.500000e-01
// CHECK:         %[[NOTHING:[a-z0-9_]+]] = kv.init_state : <2x16>
// CHECK:         %[[ALL:[a-z0-9_]+]]:2 = scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %[[NOTHING]])
// CHECK:         ^bb0(%[[TOKEN:[a-z0-9_]+]]: index, %[[STATE:[a-z0-9_]+]]: !kv.state<2x16>):
// A run ends at the next page border; its columns begin at a multiple of 16.
// CHECK:           %[[NUMBER:[a-z0-9_]+]] = arith.divui %[[TOKEN]], %[[C16]]
// CHECK:           %[[NEXT:[a-z0-9_]+]] = arith.addi %[[NUMBER]], %[[C1]]
// CHECK:           %[[BORDER:[a-z0-9_]+]] = arith.muli %[[NEXT]], %[[C16]]
// CHECK:           %[[STOP:[a-z0-9_]+]] = arith.minsi %{{.*}}, %[[BORDER]]
// CHECK:           %[[LEAD:[a-z0-9_]+]] = arith.remui %[[TOKEN]], %[[C16]]
// CHECK:           %[[LENGTH:[a-z0-9_]+]] = arith.subi %[[STOP]], %[[TOKEN]]
// CHECK:           %[[COUNT:[a-z0-9_]+]] = arith.addi %[[LENGTH]], %[[LEAD]]
// CHECK:           %[[KEYS:[a-z0-9_]+]] = kv.page %[[VIEW]][0] at %[[TOKEN]]
// CHECK:           %[[VALUES:[a-z0-9_]+]] = kv.page %[[VIEW]][1] at %[[TOKEN]]
// CHECK:           %[[DOTS:[a-z0-9_]+]] = kv.contract %[[QUERY]] with %[[KEYS]] head %[[HEAD]] run %[[TOKEN]], %[[LEAD]], %[[COUNT]] schedule <heads = 2, run = 64>
// CHECK:           %[[LOGITS:[a-z0-9_]+]] = kv.mask %[[DOTS]] but %[[LEAD]], %[[COUNT]]
// CHECK:           %[[W:[a-z0-9_]+]], %[[ALPHA:[a-z0-9_]+]], %[[NEXTSTATE:[a-z0-9_]+]] = kv.softmax_update %[[LOGITS]], %[[STATE]] columns %[[COUNT]]
// CHECK:           %[[ACC:[a-z0-9_]+]] = kv.accumulate %[[W]] with %[[VALUES]] head %[[HEAD]] run %[[TOKEN]], %[[LEAD]], %[[COUNT]] into %[[NEXTSTATE]] rescale %[[ALPHA]] schedule
// CHECK:           scf.yield %[[STOP]], %[[ACC]]
// CHECK:         kv.finish %[[ALL]]#1 to %[[OUT]][%[[FIRSTROW]]], %[[LSE]]

// -----

// A reader has no functions that store, and none that read: its owner has them.

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 16, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 99>, position = #kv.unrotated, depth = #kv.share<layer = 0>, score = [#kv.plain<scale = 1.0 : f64>]>
#keys = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 2, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#values = #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 2, tokens = 64, channels = 16, block = 16, lanes_on = "channels", lanes = 8, vectors = 2, pages = 3>>

// CHECK-NOT: func.func private @reader_{{append|code|read}}
// CHECK:     func.func private @reader_ranges
// CHECK-NOT: func.func private @reader_{{append|code|read}}
// Nothing is rotated: no angles.
// CHECK:     func.func private @reader_attend(%{{.*}}: !kv.view, %{{.*}}: index, %{{.*}}: memref<4x8xf32>, %{{.*}}: memref<4x16xf32>, %{{.*}}: memref<4xf32>)
// CHECK-NOT: kv.rotate
// CHECK-NOT: func.func private @reader_{{append|code|read}}
kv.step @reader shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = 1, rotation = 0>] schedule <heads = 2, run = 64> {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>):
  %out, %lse = kv.attend %cache, %q : tensor<4x8xf32> -> tensor<4x16xf32>, tensor<4xf32>
  kv.yield %out, %lse : tensor<4x16xf32>, tensor<4xf32>
}

// -----

// Codes: the coded border in all functions alike, and a group border in runs.

#shape = #kv.shape<heads = 1, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32>
#codes = #kv.affine_channel<bits = 4, group = 8, flush = 16, residual = 3, scales = f16>
#policy = #kv.policy<keys = #codes, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 2, window = 40>, position = #kv.unrotated, depth = #kv.own, score = [#kv.plain<scale = 1.0 : f64>]>
#layout = #kv.layout<heads = 1, tokens = 48, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 2>
#keysSink = #kv.stream<plane = "keys", kind = "sink", origin = 0, encoding = #kv.float<f32>, layout = #layout>
#keysOriginal = #kv.stream<plane = "keys", kind = "original", origin = 2, encoding = #kv.float<f32>, layout = #layout>
#keysCode = #kv.stream<plane = "keys", kind = "code", origin = 2, encoding = #codes, layout = #layout>
#across = #kv.layout<heads = 1, tokens = 48, channels = 8, block = 8, lanes_on = "channels", lanes = 8, vectors = 1, pages = 2>
#valuesSink = #kv.stream<plane = "values", kind = "sink", origin = 0, encoding = #kv.float<f32>, layout = #across>
#valuesOriginal = #kv.stream<plane = "values", kind = "original", origin = 2, encoding = #kv.float<f32>, layout = #across>

// Sinks go to the sinks' streams.
// CHECK-LABEL: func.func private @coded_append(
// CHECK-SAME:    %[[VIEW:[a-z0-9_]+]]: !kv.view, %[[TOKEN:[a-z0-9_]+]]: index, %{{.*}}: memref<1x8xf32>, %{{.*}}: memref<1x8xf32>) -> index
// CHECK:       %[[C2:[a-z0-9_]+]] = arith.constant 2 : index
// CHECK:       %[[ISSINK:[a-z0-9_]+]] = arith.cmpi slt, %[[TOKEN]], %[[C2]]
// CHECK:       scf.if %[[ISSINK]]
// CHECK:         kv.page %[[VIEW]][0] at
// CHECK:         kv.page %[[VIEW]][3] at
// CHECK:       } else {
// CHECK:         kv.page %[[VIEW]][1] at
// CHECK:         kv.page %[[VIEW]][4] at

// Codes of this length that were none before, run by run of one group.
// CHECK-LABEL: func.func private @coded_code(
// CHECK-SAME:    %{{.*}}: !kv.view, %[[SEEN:[a-z0-9_]+]]: index) -> index
// CHECK-DAG:   %[[C8:[a-z0-9_]+]] = arith.constant 8 : index
// CHECK-DAG:   %[[C16:[a-z0-9_]+]] = arith.constant 16 : index
// CHECK:       %[[BEFOREBLOCKS:[a-z0-9_]+]] = arith.divui %{{.*}}, %[[C16]]
// CHECK:       %[[BEFORECODED:[a-z0-9_]+]] = arith.muli %[[BEFOREBLOCKS]], %[[C16]]
// CHECK:       %[[BEFORE:[a-z0-9_]+]] = arith.addi %[[BEFORECODED]],
// CHECK:       %[[BEGIN:[a-z0-9_]+]] = arith.maxsi %{{.*}}, %[[BEFORE]]
// CHECK:       %[[BLOCKS:[a-z0-9_]+]] = arith.divui %{{.*}}, %[[C16]]
// CHECK:       %[[CODED:[a-z0-9_]+]] = arith.muli %[[BLOCKS]], %[[C16]]
// CHECK:       %[[NOW:[a-z0-9_]+]] = arith.addi %[[CODED]],
// CHECK:       scf.while (%{{.*}} = %[[BEGIN]],
// CHECK:         arith.cmpi slt, %{{.*}}, %[[NOW]]
// CHECK:         arith.divui %{{.*}}, %[[C8]]
// CHECK:         %[[FROM:[a-z0-9_]+]] = kv.page %{{.*}}[1] at
// CHECK:         %[[TO:[a-z0-9_]+]] = kv.page %{{.*}}[2] at
// CHECK:         kv.quantize %[[FROM]] to %[[TO]] head
// CHECK-NOT:   scf.while
// CHECK-LABEL: func.func private @coded_read_keys(

// Three segments: sinks, codes, originals; no scales are folded yet.
// CHECK-LABEL: func.func private @coded_attend(
// CHECK:       scf.while
// CHECK:         kv.page %{{.*}}[0] at
// CHECK:       scf.while
// CHECK:         %[[PAGE:[a-z0-9_]+]] = kv.page %{{.*}}[2] at
// CHECK:         kv.contract %{{.*}} with %[[PAGE]] {{.*}} schedule <heads = 1, run = 32> :
// CHECK:       scf.while
// CHECK:         kv.page %{{.*}}[1] at
// CHECK-NOT:   scf.while
// CHECK-NOT:   kv.fold
// CHECK-NOT:   kv.arrange
module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  kv.step @coded shape #shape policy #policy streams [#keysSink, #keysOriginal, #keysCode, #valuesSink, #valuesOriginal] segments [#kv.segment<keys = 0, values = 3, rotation = 0>, #kv.segment<keys = 2, values = 4, rotation = 0>, #kv.segment<keys = 1, values = 4, rotation = 0>] schedule <heads = 1, run = 32> {
  ^bb0(%cache: !kv.cache, %q: tensor<1x8xf32>, %k: tensor<1x8xf32>, %v: tensor<1x8xf32>):
    %0 = kv.append %cache, %k, %v : tensor<1x8xf32>, tensor<1x8xf32>
    %1 = kv.evict %0
    %2 = kv.code %1
    %out, %lse = kv.attend %2, %q : tensor<1x8xf32> -> tensor<1x8xf32>, tensor<1xf32>
    kv.yield %2, %out, %lse : !kv.cache, tensor<1x8xf32>, tensor<1xf32>
  }
}

// -----

// What is not decided, and what is not generated.

#shape = #kv.shape<heads = 1, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 99>, position = #kv.unrotated, depth = #kv.own, score = []>
// expected-error@below {{'kv.step' op needs streams, layouts and a schedule}}
kv.step @undecided shape #shape policy #policy {
^bb0(%cache: !kv.cache, %q: tensor<1x8xf32>, %k: tensor<1x8xf32>, %v: tensor<1x8xf32>):
  %0 = kv.append %cache, %k, %v : tensor<1x8xf32>, tensor<1x8xf32>
  %1 = kv.evict %0
  %2 = kv.code %1
  %out, %lse = kv.attend %2, %q : tensor<1x8xf32> -> tensor<1x8xf32>, tensor<1xf32>
  kv.yield %2, %out, %lse : !kv.cache, tensor<1x8xf32>, tensor<1xf32>
}

// -----

#shape = #kv.shape<heads = 1, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 99>, position = #kv.unrotated, depth = #kv.own, score = []>
#keys = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>>
#values = #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>>
// expected-error@below {{'kv.step' op has a stream without a layout: #kv.stream<plane = "keys"}}
kv.step @nowhere shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = 1, rotation = 0>] schedule <heads = 1, run = 64> {
^bb0(%cache: !kv.cache, %q: tensor<1x8xf32>, %k: tensor<1x8xf32>, %v: tensor<1x8xf32>):
  %0 = kv.append %cache, %k, %v : tensor<1x8xf32>, tensor<1x8xf32>
  %1 = kv.evict %0
  %2 = kv.code %1
  %out, %lse = kv.attend %2, %q : tensor<1x8xf32> -> tensor<1x8xf32>, tensor<1xf32>
  kv.yield %2, %out, %lse : !kv.cache, tensor<1x8xf32>, tensor<1xf32>
}

// -----

#shape = #kv.shape<heads = 1, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 0, tokens = 99>, position = #kv.unrotated, depth = #kv.own, score = []>
#keys = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#values = #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "channels", lanes = 8, vectors = 1, pages = 3>>
// expected-error@below {{'kv.step' op does other than kv.append, kv.evict, kv.code, kv.attend, kv.yield, which is all that is generated}}
kv.step @early shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = 1, rotation = 0>] schedule <heads = 1, run = 64> {
^bb0(%cache: !kv.cache, %q: tensor<1x8xf32>, %k: tensor<1x8xf32>, %v: tensor<1x8xf32>):
  %out, %lse = kv.attend %cache, %q : tensor<1x8xf32> -> tensor<1x8xf32>, tensor<1xf32>
  %0 = kv.append %cache, %k, %v : tensor<1x8xf32>, tensor<1x8xf32>
  %1 = kv.evict %0
  %2 = kv.code %1
  kv.yield %2, %out, %lse : !kv.cache, tensor<1x8xf32>, tensor<1xf32>
}
