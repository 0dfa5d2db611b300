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
  kv.step @own shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = 1, rotation = 0>] schedule <heads = 2, run = 64, rows = 16> {
  ^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x16xf32>):
    %0 = kv.append %cache, %k, %v : tensor<2x8xf32>, tensor<2x16xf32>
    %1 = kv.evict %0
    %2 = kv.code %1
    %out, %lse = kv.attend %2, %q : tensor<4x8xf32> -> tensor<4x16xf32>, tensor<4xf32>
    kv.yield %2, %out, %lse : !kv.cache, tensor<4x16xf32>, tensor<4xf32>
  }
}

// [begin, end) of each stream; nothing where it ends before it begins.
// CHECK-LABEL: func.func private @own_ranges(
// CHECK-SAME:    %[[SEEN:[a-z0-9_]+]]: index) -> (index, index, index, index) {
// CHECK-DAG:   %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG:   %[[C12:[a-z0-9_]+]] = arith.constant 12 : index
// CHECK:       %[[GONE:[a-z0-9_]+]] = arith.subi %[[SEEN]], %[[C12]]
// CHECK:       %[[FIRST:[a-z0-9_]+]] = arith.maxsi %[[GONE]], %[[C0]]
// CHECK:       return %[[FIRST]], %[[SEEN]], %[[FIRST]], %[[SEEN]]

// What stays in pages: also what was stored at the longest length less rollback,
// which is 0 here.
// CHECK-LABEL: func.func private @own_held(
// CHECK-SAME:    %[[SEEN:[a-z0-9_]+]]: index, %[[REACHED:[a-z0-9_]+]]: index) -> (index, index, index, index) {
// CHECK-DAG:   %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG:   %[[C12:[a-z0-9_]+]] = arith.constant 12 : index
// CHECK:       %[[GONE:[a-z0-9_]+]] = arith.subi %[[SEEN]], %[[C12]]
// CHECK:       %[[FIRST:[a-z0-9_]+]] = arith.maxsi %[[GONE]], %[[C0]]
// CHECK:       %[[BACK:[a-z0-9_]+]] = arith.maxsi %[[REACHED]], %[[C0]]
// CHECK:       %[[GONEBACK:[a-z0-9_]+]] = arith.subi %[[BACK]], %[[C12]]
// CHECK:       %[[FIRSTBACK:[a-z0-9_]+]] = arith.maxsi %[[GONEBACK]], %[[C0]]
// CHECK:       %[[HELD:[a-z0-9_]+]] = arith.minsi %[[FIRST]], %[[FIRSTBACK]]
// CHECK:       return %[[HELD]], %[[SEEN]], %[[HELD]], %[[SEEN]]

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

// One head of keys and the two queries that meet it: rotated and scaled once, then
// run by run through an online softmax, over what lies in [from, to).
// CHECK-LABEL: func.func private @own_attend(
// CHECK-SAME:    %[[VIEW:[a-z0-9_]+]]: !kv.view, %[[HEAD:[a-z0-9_]+]]: index, %[[SEEN:[a-z0-9_]+]]: index, %{{[a-z0-9_]+}}: index, %[[NEWEST:[a-z0-9_]+]]: index, %[[FROM:[a-z0-9_]+]]: index, %[[TO:[a-z0-9_]+]]: index, %[[Q:[a-z0-9_]+]]: memref<1x4x8xf32>, %[[ANGLES:[a-z0-9_]+]]: memref<1x2x4xf32>, %[[OUT:[a-z0-9_]+]]: memref<1x4x16xf32>, %[[LSE:[a-z0-9_]+]]: memref<1x4xf32>) {
// CHECK-DAG:   %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG:   %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK-DAG:   %[[C2:[a-z0-9_]+]] = arith.constant 2 : index
// CHECK-DAG:   %[[C12:[a-z0-9_]+]] = arith.constant 12 : index
// CHECK-DAG:   %[[C16:[a-z0-9_]+]] = arith.constant 16 : index
// CHECK:       %[[FIRSTROW:[a-z0-9_]+]] = arith.muli %[[HEAD]], %[[C2]]
// CHECK:       %[[ROWS:[a-z0-9_]+]] = kv.rows %[[Q]][%[[FIRSTROW]]] of %[[C1]] each 2 : memref<1x4x8xf32> -> <2x8>
// CHECK:       %[[TURNED:[a-z0-9_]+]] = kv.rotate %[[ROWS]] {{.*}} by %[[ANGLES]] exact
// CHECK:       %[[QUERY:[a-z0-9_]+]] = kv.scale %[[TURNED]] by 2.500000e-01
// CHECK:       %[[NOTHING:[a-z0-9_]+]] = kv.init_state : <2x16>
// Where the query is beyond the newest token: what is stored, less what its window
// excludes.
// CHECK:       %[[LENGTH:[a-z0-9_]+]] = arith.minsi %[[SEEN]], %[[NEWEST]]
// CHECK:       %[[GONE:[a-z0-9_]+]] = arith.subi %[[SEEN]], %[[C12]]
// CHECK:       %[[LIVE:[a-z0-9_]+]] = arith.maxsi %[[GONE]], %[[C0]]
// CHECK:       %[[BEGIN:[a-z0-9_]+]] = arith.maxsi %{{.*}}, %[[FROM]]
// CHECK:       %[[END:[a-z0-9_]+]] = arith.minsi %[[LENGTH]], %[[TO]]
// CHECK:       %[[ALL:[a-z0-9_]+]]:2 = scf.while (%{{.*}} = %[[BEGIN]], %{{.*}} = %[[NOTHING]])
// CHECK:       ^bb0(%[[TOKEN:[a-z0-9_]+]]: index, %[[STATE:[a-z0-9_]+]]: !kv.state<2x16>):
// A run ends at the next page border; its columns begin at a multiple of 16.
// CHECK:         %[[NUMBER:[a-z0-9_]+]] = arith.divui %[[TOKEN]], %[[C16]]
// CHECK:         %[[NEXT:[a-z0-9_]+]] = arith.addi %[[NUMBER]], %[[C1]]
// CHECK:         %[[BORDER:[a-z0-9_]+]] = arith.muli %[[NEXT]], %[[C16]]
// CHECK:         %[[STOP:[a-z0-9_]+]] = arith.minsi %[[END]], %[[BORDER]]
// CHECK:         %[[LEAD:[a-z0-9_]+]] = arith.remui %[[TOKEN]], %[[C16]]
// CHECK:         %[[LENGTH:[a-z0-9_]+]] = arith.subi %[[STOP]], %[[TOKEN]]
// CHECK:         %[[COUNT:[a-z0-9_]+]] = arith.addi %[[LENGTH]], %[[LEAD]]
// CHECK:         %[[KEYS:[a-z0-9_]+]] = kv.page %[[VIEW]][0] at %[[TOKEN]]
// CHECK:         %[[VALUES:[a-z0-9_]+]] = kv.page %[[VIEW]][1] at %[[TOKEN]]
// CHECK:         %[[DOTS:[a-z0-9_]+]] = kv.contract %[[QUERY]] with %[[KEYS]] head %[[HEAD]] run %[[TOKEN]], %[[LEAD]], %[[COUNT]] schedule <heads = 2, run = 64, rows = 16>
// CHECK:         %[[LOGITS:[a-z0-9_]+]] = kv.mask %[[DOTS]] run %[[TOKEN]], %[[LEAD]], %[[COUNT]] : <2x64>
// CHECK:         %[[W:[a-z0-9_]+]], %[[ALPHA:[a-z0-9_]+]], %[[NEXTSTATE:[a-z0-9_]+]] = kv.softmax_update %[[LOGITS]], %[[STATE]] columns %[[COUNT]]
// CHECK:         %[[ACC:[a-z0-9_]+]] = kv.accumulate %[[W]] with %[[VALUES]] head %[[HEAD]] run %[[TOKEN]], %[[LEAD]], %[[COUNT]] into %[[NEXTSTATE]] rescale %[[ALPHA]] schedule
// CHECK:         scf.yield %[[STOP]], %[[ACC]]
// CHECK:       kv.finish %[[ALL]]#1 to %[[OUT]][%[[FIRSTROW]]] of %[[C1]] each 2, %[[LSE]]

// 16 tokens ask together: one loop over what any of them attends to, from where
// the window begins of the first one that attends to any, to the newest, and a mask of borders for each.
// CHECK-LABEL: func.func private @own_attend_rows(
// CHECK-SAME:    %[[VIEW:[a-z0-9_]+]]: !kv.view, %[[HEAD:[a-z0-9_]+]]: index, %[[SEEN:[a-z0-9_]+]]: index, %[[ROWS:[a-z0-9_]+]]: index, %[[NEWEST:[a-z0-9_]+]]: index, %[[FROM:[a-z0-9_]+]]: index, %[[TO:[a-z0-9_]+]]: index, %[[Q:[a-z0-9_]+]]: memref<?x4x8xf32>, %[[ANGLES:[a-z0-9_]+]]: memref<16x2x4xf32>, %[[OUT:[a-z0-9_]+]]: memref<?x4x16xf32>, %[[LSE:[a-z0-9_]+]]: memref<?x4xf32>) {
// CHECK-DAG:   %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG:   %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK-DAG:   %[[C12:[a-z0-9_]+]] = arith.constant 12 : index
// CHECK:       %[[ASKED:[a-z0-9_]+]] = kv.rows %[[Q]][%[[FIRSTROW:[a-z0-9_]+]]] of %[[ROWS]] each 2 : memref<?x4x8xf32> -> <32x8>
// CHECK:       kv.rotate %[[ASKED]] {{.*}} by %[[ANGLES]] exact : memref<16x2x4xf32>, <32x8>
// CHECK:       %[[NOTHING:[a-z0-9_]+]] = kv.init_state : <32x16>
// CHECK:       %[[FIRSTEND:[a-z0-9_]+]] = arith.minsi %[[SEEN]], %[[NEWEST]]
// CHECK:       %[[MORE:[a-z0-9_]+]] = arith.subi %[[ROWS]], %[[C1]]
// CHECK:       %[[LAST:[a-z0-9_]+]] = arith.addi %[[SEEN]], %[[MORE]]
// CHECK:       %[[LASTEND:[a-z0-9_]+]] = arith.minsi %[[LAST]], %[[NEWEST]]
// CHECK:       %[[LASTGONE:[a-z0-9_]+]] = arith.subi %[[LAST]], %[[C12]]
// CHECK:       %[[LASTLIVE:[a-z0-9_]+]] = arith.maxsi %[[LASTGONE]], %[[C0]]
// CHECK:       %[[LASTBEGIN:[a-z0-9_]+]] = arith.maxsi %[[LASTLIVE]], %[[LASTLIVE]]
// CHECK:       %[[FIRST:[a-z0-9_]+]] = scf.while (%[[TRIED:[a-z0-9_]+]] = %[[C0]]) : (index) -> index {
// CHECK:         %[[ITS:[a-z0-9_]+]] = arith.addi %[[SEEN]], %[[TRIED]]
// CHECK:         %[[ITSEND:[a-z0-9_]+]] = arith.minsi %[[ITS]], %[[NEWEST]]
// CHECK:         %[[ITSFIRST:[a-z0-9_]+]] = arith.maxsi %{{.*}}, %[[FROM]]
// CHECK:         %[[ITSLAST:[a-z0-9_]+]] = arith.minsi %[[ITSEND]], %[[TO]]
// CHECK:         %[[EMPTY:[a-z0-9_]+]] = arith.cmpi sge, %[[ITSFIRST]], %[[ITSLAST]]
// CHECK:         %[[OTHERS:[a-z0-9_]+]] = arith.cmpi slt, %[[TRIED]], %[[MORE]]
// CHECK:         %[[ON:[a-z0-9_]+]] = arith.andi %[[EMPTY]], %[[OTHERS]]
// CHECK:         scf.condition(%[[ON]]) %[[TRIED]]
// CHECK:       %[[FIRSTLENGTH:[a-z0-9_]+]] = arith.addi %[[SEEN]], %[[FIRST]]
// CHECK:       arith.subi %[[FIRSTLENGTH]], %[[C12]]
// CHECK:       %[[BEGIN:[a-z0-9_]+]] = arith.maxsi %{{.*}}, %[[FROM]]
// CHECK:       %[[END:[a-z0-9_]+]] = arith.minsi %[[LASTEND]], %[[TO]]
// CHECK:       %[[ALL:[a-z0-9_]+]]:2 = scf.while (%{{.*}} = %[[BEGIN]], %{{.*}} = %[[NOTHING]])
// CHECK:       ^bb0(%[[TOKEN:[a-z0-9_]+]]: index, %[[STATE:[a-z0-9_]+]]: !kv.state<32x16>):
// CHECK:         %[[STOP:[a-z0-9_]+]] = arith.minsi %[[END]],
// CHECK:         %[[AFTER:[a-z0-9_]+]] = arith.cmpi sle, %[[LASTBEGIN]], %[[TOKEN]]
// CHECK:         %[[BEFORE:[a-z0-9_]+]] = arith.cmpi sle, %[[STOP]], %[[FIRSTEND]]
// CHECK:         %[[WHOLE:[a-z0-9_]+]] = arith.andi %[[AFTER]], %[[BEFORE]] : i1
// CHECK:         %[[DOTS:[a-z0-9_]+]] = kv.contract {{.*}} schedule <heads = 2, run = 64, rows = 16> : <32x8>, <#stream> -> <32x64>
// CHECK:         %[[LOGITS:[a-z0-9_]+]] = kv.mask %[[DOTS]] run %[[TOKEN]], %{{.*}}, %{{.*}} unless %[[WHOLE]] each 2 but {
// CHECK-NEXT:    ^bb0(%[[ROW:[a-z0-9_]+]]: index):
// CHECK:           %[[LENGTH:[a-z0-9_]+]] = arith.addi %[[SEEN]], %[[ROW]]
// CHECK:           %[[ROWEND:[a-z0-9_]+]] = arith.minsi %[[LENGTH]], %[[NEWEST]]
// CHECK:           %[[ROWGONE:[a-z0-9_]+]] = arith.subi %[[LENGTH]], %[[C12]]
// CHECK:           %[[ROWLIVE:[a-z0-9_]+]] = arith.maxsi %[[ROWGONE]], %[[C0]]
// CHECK:           %[[ROWBEGIN:[a-z0-9_]+]] = arith.maxsi %[[ROWLIVE]], %[[ROWLIVE]]
// CHECK:           kv.yield %[[ROWBEGIN]], %[[ROWEND]] : index, index
// CHECK-NEXT:    } : <32x64>
// CHECK:         kv.softmax_update %[[LOGITS]], %[[STATE]]
// CHECK:       kv.finish %[[ALL]]#1 to %[[OUT]][%[[FIRSTROW]]] of %[[ROWS]] each 2, %[[LSE]] : <32x16>

// Parts of one token, in their order, as sums of 256 each: for each head of keys
// its queries' softmax.
// CHECK-LABEL: func.func private @own_merge(
// CHECK-SAME:    %[[PARTS:[a-z0-9_]+]]: !kv.parts, %[[COUNT:[a-z0-9_]+]]: index, %[[TOKEN:[a-z0-9_]+]]: index, %[[OUT:[a-z0-9_]+]]: memref<1x4x16xf32>, %[[LSE:[a-z0-9_]+]]: memref<1x4xf32, strided<[?, ?]>>) {
// CHECK-DAG:   %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG:   %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK-DAG:   %[[C2:[a-z0-9_]+]] = arith.constant 2 : index
// CHECK-DAG:   %[[C256:[a-z0-9_]+]] = arith.constant 256 : index
// CHECK-DAG:   %[[C4:[a-z0-9_]+]] = arith.constant 4 : index
// CHECK:       %[[FIRST:[a-z0-9_]+]] = arith.muli %[[TOKEN]], %[[C4]]
// CHECK:       scf.for %[[HEAD:[a-z0-9_]+]] = %[[C0]] to %[[C2]]
// CHECK:         %[[ROW:[a-z0-9_]+]] = arith.muli %[[HEAD]], %[[C2]]
// CHECK:         %[[NOTHING:[a-z0-9_]+]] = kv.init_state : <2x16>
// CHECK:         %[[ALL:[a-z0-9_]+]] = scf.for %[[BEGIN:[a-z0-9_]+]] = %[[C0]] to %[[COUNT]] step %[[C256]] iter_args(%[[STATE:[a-z0-9_]+]] = %[[NOTHING]])
// CHECK:           %[[MORE:[a-z0-9_]+]] = arith.addi %[[BEGIN]], %[[C256]]
// CHECK:           %[[END:[a-z0-9_]+]] = arith.minsi %[[MORE]], %[[COUNT]]
// CHECK:           %[[STRETCH:[a-z0-9_]+]] = scf.for %[[PART:[a-z0-9_]+]] = %[[BEGIN]] to %[[END]] step %[[C1]] iter_args(%[[BEFORE:[a-z0-9_]+]] =
// CHECK:             %[[AT:[a-z0-9_]+]] = arith.addi %[[FIRST]], %[[ROW]]
// CHECK:             %[[NEXT:[a-z0-9_]+]] = kv.load_state %[[PARTS]][%[[PART]]] at %[[AT]] : <2x16>
// CHECK:             %[[JOINED:[a-z0-9_]+]] = kv.merge_state %[[BEFORE]], %[[NEXT]]
// CHECK:             scf.yield %[[JOINED]]
// CHECK:           %[[SUM:[a-z0-9_]+]] = kv.merge_state %[[STATE]], %[[STRETCH]]
// CHECK:           scf.yield %[[SUM]]
// CHECK:         kv.finish %[[ALL]] to %[[OUT]][%[[ROW]]] of %[[C1]] each 2, %[[LSE]]

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
// CHECK:     func.func private @reader_attend(%{{.*}}: !kv.view, {{(%[a-z0-9]+: index, )+}}%{{.*}}: memref<1x4x8xf32>, %{{.*}}: memref<1x4x16xf32>, %{{.*}}: memref<1x4xf32>)
// CHECK-NOT: kv.rotate
// CHECK:     func.func private @reader_attend_rows(%{{.*}}: !kv.view, {{(%[a-z0-9]+: index, )+}}%{{.*}}: memref<?x4x8xf32>, %{{.*}}: memref<?x4x16xf32>, %{{.*}}: memref<?x4xf32>)
// CHECK-NOT: kv.rotate
// CHECK:     func.func private @reader_merge(
// CHECK-NOT: func.func private @reader_{{append|code|read}}
kv.step @reader shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = 1, rotation = 0>] schedule <heads = 2, run = 64, rows = 16> {
^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>):
  %out, %lse = kv.attend %cache, %q : tensor<4x8xf32> -> tensor<4x16xf32>, tensor<4xf32>
  kv.yield %out, %lse : tensor<4x16xf32>, tensor<4xf32>
}

// -----

// Codes: the coded border in all functions alike, and a group border in runs.

#shape = #kv.shape<heads = 1, kv_heads = 1, head_dim = 8, value_dim = 8, io = f32>
#codes = #kv.affine_channel<bits = 4, group = 8, flush = 16, residual = 3, scales = f16>
#policy = #kv.policy<keys = #codes, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 2, window = 40>, position = #kv.unrotated, depth = #kv.own, score = [#kv.plain<scale = 1.0 : f64>], rollback = 5>
#layout = #kv.layout<heads = 1, tokens = 48, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 2>
#keysSink = #kv.stream<plane = "keys", kind = "sink", origin = 0, encoding = #kv.float<f32>, layout = #layout>
#keysOriginal = #kv.stream<plane = "keys", kind = "original", origin = 2, encoding = #kv.float<f32>, layout = #layout>
#keysCode = #kv.stream<plane = "keys", kind = "code", origin = 2, encoding = #codes, layout = #layout>
#across = #kv.layout<heads = 1, tokens = 48, channels = 8, block = 8, lanes_on = "channels", lanes = 8, vectors = 1, pages = 2>
#valuesSink = #kv.stream<plane = "values", kind = "sink", origin = 0, encoding = #kv.float<f32>, layout = #across>
#valuesOriginal = #kv.stream<plane = "values", kind = "original", origin = 2, encoding = #kv.float<f32>, layout = #across>

// With a rollback of 5 there is held what was stored at the longest length less
// 5, in both its forms: originals of what was coded since, and codes and floats of
// what was evicted since.
// CHECK-LABEL: func.func private @coded_held(
// CHECK-SAME:    %[[SEEN:[a-z0-9_]+]]: index, %[[REACHED:[a-z0-9_]+]]: index)
// CHECK-DAG:   %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG:   %[[C5:[a-z0-9_]+]] = arith.constant 5 : index
// CHECK:       %[[SINKS:[a-z0-9_]+]] = arith.minsi %[[SEEN]],
// CHECK:       %[[FIRST:[a-z0-9_]+]] = arith.maxsi
// CHECK:       %[[BORDER:[a-z0-9_]+]] = arith.addi
// CHECK:       %[[ORIGINALS:[a-z0-9_]+]] = arith.maxsi %[[FIRST]], %[[BORDER]]
// CHECK:       %[[LESS:[a-z0-9_]+]] = arith.subi %[[REACHED]], %[[C5]]
// CHECK:       %[[BACK:[a-z0-9_]+]] = arith.maxsi %[[LESS]], %[[C0]]
// CHECK:       %[[FIRSTBACK:[a-z0-9_]+]] = arith.maxsi
// CHECK:       %[[BORDERBACK:[a-z0-9_]+]] = arith.addi
// CHECK:       %[[ORIGINALSBACK:[a-z0-9_]+]] = arith.maxsi %[[FIRSTBACK]], %[[BORDERBACK]]
// CHECK-DAG:   %[[HELD:[a-z0-9_]+]] = arith.minsi %[[ORIGINALS]], %[[ORIGINALSBACK]]
// CHECK-DAG:   %[[HELDLIVE:[a-z0-9_]+]] = arith.minsi %[[FIRST]], %[[FIRSTBACK]]
// CHECK:       return %[[C0]], %[[SINKS]], %[[HELD]], %[[SEEN]], %[[HELDLIVE]], %[[BORDER]], %[[C0]], %[[SINKS]], %[[HELDLIVE]], %[[SEEN]]

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
// CHECK:         kv.contract %{{.*}} with %[[PAGE]] {{.*}} schedule <heads = 1, run = 32, rows = 1> :
// CHECK:       scf.while
// CHECK:         kv.page %{{.*}}[1] at
// CHECK-NOT:   scf.while
// CHECK-NOT:   kv.fold
// CHECK-NOT:   kv.arrange
// A schedule of one row: a prefill asks token by token.
// CHECK-NOT:   @coded_attend_rows
// CHECK:     func.func private @coded_merge(
module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  kv.step @coded shape #shape policy #policy streams [#keysSink, #keysOriginal, #keysCode, #valuesSink, #valuesOriginal] segments [#kv.segment<keys = 0, values = 3, rotation = 0>, #kv.segment<keys = 2, values = 4, rotation = 0>, #kv.segment<keys = 1, values = 4, rotation = 0>] schedule <heads = 1, run = 32, rows = 1> {
  ^bb0(%cache: !kv.cache, %q: tensor<1x8xf32>, %k: tensor<1x8xf32>, %v: tensor<1x8xf32>):
    %0 = kv.append %cache, %k, %v : tensor<1x8xf32>, tensor<1x8xf32>
    %1 = kv.evict %0
    %2 = kv.code %1
    %out, %lse = kv.attend %2, %q : tensor<1x8xf32> -> tensor<1x8xf32>, tensor<1xf32>
    kv.yield %2, %out, %lse : !kv.cache, tensor<1x8xf32>, tensor<1xf32>
  }
}

// -----

// The run after the next is asked for, or the last token's; not where many ask.

#shape = #kv.shape<heads = 4, kv_heads = 2, head_dim = 8, value_dim = 16, io = f32>
#policy = #kv.policy<keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 0, window = 12>, position = #kv.absolute<<theta = 1.0 : f64, dims = 8, pairing = "half">>, depth = #kv.own, score = [#kv.plain<scale = 0.25 : f64>]>
#keys = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 2, tokens = 16, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 2>>
#values = #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 2, tokens = 16, channels = 16, block = 16, lanes_on = "channels", lanes = 8, vectors = 2, pages = 2>>


// CHECK-LABEL: func.func private @ahead_attend(
// CHECK:       scf.while
// CHECK:         arith.muli
// CHECK:         %[[STOP:[a-z0-9_]+]] = arith.minsi %[[END:[a-z0-9_]+]], %{{.*}}
// CHECK:         %[[LATER:[a-z0-9_]+]] = arith.addi %[[STOP]], %c64
// CHECK:         %[[LAST:[a-z0-9_]+]] = arith.subi %[[END]], %c1
// CHECK:         %[[TOKEN:[a-z0-9_]+]] = arith.minsi %[[LATER]], %[[LAST]]
// CHECK:         %[[KEYS:[a-z0-9_]+]] = kv.page %{{.*}}[0] at %[[TOKEN]]
// CHECK:         kv.contract {{.*}} ahead %[[KEYS]] at %[[TOKEN]] schedule
// CHECK:         %[[VALUES:[a-z0-9_]+]] = kv.page %{{.*}}[1] at %[[TOKEN]]
// CHECK:         kv.accumulate {{.*}} ahead %[[VALUES]] at %[[TOKEN]] into
// CHECK-LABEL: func.func private @ahead_attend_rows(
// CHECK-NOT:     ahead %
// CHECK-LABEL: func.func private @ahead_merge(
module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  kv.step @ahead shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = 1, rotation = 0>] schedule <heads = 2, run = 64, rows = 16, prefetch = 2> {
  ^bb0(%cache: !kv.cache, %q: tensor<4x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x16xf32>):
    %0 = kv.append %cache, %k, %v : tensor<2x8xf32>, tensor<2x16xf32>
    %1 = kv.evict %0
    %2 = kv.code %1
    %out, %lse = kv.attend %2, %q : tensor<4x8xf32> -> tensor<4x16xf32>, tensor<4xf32>
    kv.yield %2, %out, %lse : !kv.cache, tensor<4x16xf32>, tensor<4xf32>
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
kv.step @nowhere shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = 1, rotation = 0>] schedule <heads = 1, run = 64, rows = 1> {
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
kv.step @early shape #shape policy #policy streams [#keys, #values] segments [#kv.segment<keys = 0, values = 1, rotation = 0>] schedule <heads = 1, run = 64, rows = 1> {
^bb0(%cache: !kv.cache, %q: tensor<1x8xf32>, %k: tensor<1x8xf32>, %v: tensor<1x8xf32>):
  %out, %lse = kv.attend %cache, %q : tensor<1x8xf32> -> tensor<1x8xf32>, tensor<1xf32>
  %0 = kv.append %cache, %k, %v : tensor<1x8xf32>, tensor<1x8xf32>
  %1 = kv.evict %0
  %2 = kv.code %1
  kv.yield %2, %out, %lse : !kv.cache, tensor<1x8xf32>, tensor<1xf32>
}

// -----

// Codes that are made anew: of what is stored at a length, first the extremes of
// all runs, then the codes of each. Nothing falls due in `code`.

// CHECK-LABEL: func.func private @anew_ranges(
// CHECK-SAME:    %[[SEEN:[a-z0-9_]+]]: index)
// CHECK:       %[[FIRST:.*]] = arith.maxsi
// CHECK:       return %[[FIRST]], %[[SEEN]], %[[FIRST]], %{{.*}}, %[[FIRST]], %[[SEEN]]

// CHECK-LABEL: func.func private @anew_code(
// CHECK-NOT:   kv.quantize
// CHECK:       return %c0

// CHECK-LABEL: func.func private @anew_recode(
// CHECK-SAME:    %[[VIEW:[a-z0-9_]+]]: !kv.view, %[[SEEN:[a-z0-9_]+]]: index) -> index {
// CHECK:       %[[FIRST:.*]] = arith.maxsi
// CHECK:       scf.for %[[HEAD:[a-z0-9_]+]] = %c0 to %c2 step %c1 iter_args(%[[ALL:[a-z0-9_]+]] = %c0)
// CHECK:         %[[NONE:.*]] = kv.init_extremes : <2x8>
// CHECK:         %[[FOUND:.*]]:2 = scf.while (%{{.*}} = %[[FIRST]], %{{.*}} = %[[NONE]])
// CHECK:         ^bb0(%[[TOKEN:[a-z0-9_]+]]: index, %[[SOME:[a-z0-9_]+]]: !kv.tile<2x8>):
// CHECK:           %[[FROM:.*]] = kv.page %[[VIEW]][0] at %[[TOKEN]]
// CHECK:           %[[MORE:.*]] = kv.extremes %[[SOME]] with %[[FROM]] head %[[HEAD]] tokens %[[TOKEN]], %[[STOP:[a-z0-9_]+]]
// CHECK:           scf.yield %[[STOP]], %[[MORE]]
// CHECK:         %[[LAST:.*]]:2 = scf.while (%{{.*}} = %[[FIRST]], %{{.*}} = %c0)
// CHECK:           kv.page %[[VIEW]][0]
// CHECK:           kv.page %[[VIEW]][1]
// CHECK:           %[[COUNT:.*]] = kv.quantize %{{.*}} by %[[FOUND]]#1
// CHECK:           scf.yield %{{.*}}, %[[COUNT]]
// The count of the last run is that of all.
// CHECK:         arith.addi %[[ALL]], %[[LAST]]#1

#shape = #kv.shape<heads = 2, kv_heads = 2, head_dim = 8, value_dim = 8, io = f32>
#policy = #kv.policy<keys = #kv.affine_all<bits = 4, scales = f16>, values = #kv.float<f32>, residual = #kv.float<f32>, key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.window<sinks = 0, window = 40>, position = #kv.unrotated, depth = #kv.own, score = [#kv.plain<scale = 0.25 : f64>], rollback = 3>
#original = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 2, tokens = 32, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#code = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_all<bits = 4, scales = f16>, layout = #kv.layout<heads = 2, tokens = 32, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#values = #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 2, tokens = 32, channels = 8, block = 8, lanes_on = "channels", lanes = 8, vectors = 1, pages = 3>>
module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  kv.step @anew shape #shape policy #policy streams [#original, #code, #values] segments [#kv.segment<keys = 1, values = 2, rotation = 0>] schedule <heads = 1, run = 64, rows = 1> {
  ^bb0(%cache: !kv.cache, %q: tensor<2x8xf32>, %k: tensor<2x8xf32>, %v: tensor<2x8xf32>):
    %0 = kv.append %cache, %k, %v : tensor<2x8xf32>, tensor<2x8xf32>
    %1 = kv.evict %0
    %2 = kv.code %1
    %out, %lse = kv.attend %2, %q : tensor<2x8xf32> -> tensor<2x8xf32>, tensor<2xf32>
    kv.yield %2, %out, %lse : !kv.cache, tensor<2x8xf32>, tensor<2xf32>
  }
}
