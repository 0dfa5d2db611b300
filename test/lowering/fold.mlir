// RUN: kvc-opt %s --kv-lower-tiles --canonicalize --cse | FileCheck %s

#keysToken = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_token<bits = 8, group = 10, flush = 1, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 20, block = 10, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#keysChannel = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_channel<bits = 8, group = 16, flush = 16, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 16, block = 16, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#keysFloat = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#valuesToken = #kv.stream<plane = "values", kind = "code", origin = 0, encoding = #kv.affine_token<bits = 8, group = 8, flush = 1, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 16, block = 8, lanes_on = "channels", lanes = 8, vectors = 1, pages = 3>>
#valuesChannel = #kv.stream<plane = "values", kind = "code", origin = 0, encoding = #kv.affine_channel<bits = 8, group = 16, flush = 16, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 16, block = 16, lanes_on = "channels", lanes = 8, vectors = 2, pages = 3>>
module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // Storage order is channel order: nothing is to be done.
  // CHECK-LABEL: func.func @arrange_nothing(
  // CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<2x16xf32>
  // CHECK-NEXT:  return %[[Q]]
  func.func @arrange_nothing(%q: !kv.tile<2x8>) -> !kv.tile<2x8> {
    %o = kv.arrange %q for #keysFloat : <2x8> -> <2x8>
    return %o : !kv.tile<2x8>
  }
  // Blocks of ten channels are padded to whole words; padding is zero. A sum a
  // block.
  // CHECK-LABEL: func.func @arrange_blocks(
  // CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<2x32xf32>
  // CHECK:       vector.store %cst
  // CHECK:       scf.for %[[CHANNEL:[a-z0-9]+]] = %c0 to %c20
  // CHECK:         %[[BLOCK:.*]] = arith.divui %[[CHANNEL]], %c10
  // CHECK:         %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c12
  // CHECK:         %[[WITHIN:.*]] = arith.remui %[[CHANNEL]], %c10
  // CHECK:         %[[COLUMN:.*]] = arith.addi %[[FIRST]], %[[WITHIN]]
  // CHECK:         %[[X:.*]] = memref.load %[[Q]][%[[ROW:[a-z0-9]+]], %[[CHANNEL]]]
  // CHECK:         memref.store %[[X]], %[[O:[a-z0-9_]+]][%[[ROW]], %[[COLUMN]]]
  // CHECK:       scf.for %[[BLOCK:[a-z0-9]+]] = %c0 to %c2 step
  // CHECK:         %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c12
  // CHECK:         %[[SUM:.*]] = scf.for %[[N:[a-z0-9]+]] = %c0 to %c12 step %c1 iter_args(%[[OLD:[a-z0-9]+]] =
  // CHECK:           %[[COLUMN:.*]] = arith.addi %[[FIRST]], %[[N]]
  // CHECK:           %[[X:.*]] = memref.load %[[O]][%[[ROW]], %[[COLUMN]]]
  // CHECK:           arith.addf %[[OLD]], %[[X]]
  // CHECK:         memref.store %[[SUM]], %[[Z:[a-z0-9_]+]][%[[ROW]], %[[BLOCK]]]
  // CHECK:       return %[[O]], %[[Z]]
  func.func @arrange_blocks(%q: !kv.tile<2x20>) -> (!kv.tile<2x24>, !kv.tile<2x2>) {
    %o, %z = kv.arrange %q for #keysToken : <2x20> -> <2x24>, !kv.tile<2x2>
    return %o, %z : !kv.tile<2x24>, !kv.tile<2x2>
  }
  // The center is -zero / scale, rounded, among the codes; the rest is
  // zero + center * scale. Query times scale, and the sum of query times rest.
  // CHECK-LABEL: func.func @fold_query(
  // CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<1x32xf32>, %[[PAGE:[a-z0-9]+]]: memref<320xi32>,
  // CHECK-DAG:   %[[LARGEST:.*]] = arith.constant dense<2.550000e+02>
  // CHECK:       scf.for %[[CHANNEL:[a-z0-9]+]] = %c0 to %c16 step %c8 iter_args(%[[TOTAL:[a-z0-9]+]] =
  // CHECK:         %[[PAIRS:.*]] = vector.load %[[PAGE]]
  // CHECK:         %[[SCALE:.*]] = arith.extf
  // CHECK:         %[[ZERO:.*]] = arith.extf
  // CHECK:         %[[MINUS:.*]] = arith.subf %{{.*}}, %[[ZERO]]
  // CHECK:         %[[NEAR:.*]] = arith.divf %[[MINUS]], %[[SCALE]]
  // CHECK:         arith.cmpf olt, %{{.*}}, %[[LARGEST]]
  // CHECK:         %[[CENTER:.*]] = math.roundeven
  // CHECK:         %[[REST:.*]] = {{(math|vector)}}.fma %[[CENTER]], %[[SCALE]], %[[ZERO]]
  // CHECK:         vector.store %[[CENTER]], %[[C:[a-z0-9_]+]][%c0, %[[CHANNEL]]]
  // CHECK:         %[[X:.*]] = vector.load %[[Q]][%c0, %[[CHANNEL]]]
  // CHECK:         %[[SCALED:.*]] = arith.mulf %[[X]], %[[SCALE]]
  // CHECK:         vector.store %[[SCALED]], %[[O:[a-z0-9_]+]][%c0, %[[CHANNEL]]]
  // CHECK:         vector.fma %[[X]], %[[REST]], %[[TOTAL]]
  // CHECK:       memref.store %{{.*}}, %[[Z:[a-z0-9_]+]][%c0, %c0]
  // CHECK:       return %[[O]], %[[Z]], %[[C]]
  func.func @fold_query(%q: !kv.tile<1x16>, %page: !kv.page<#keysChannel>, %h: index, %t: index, %lead: index, %n: index) -> (!kv.tile<1x16>, !kv.tile<1x1>, !kv.tile<1x16>) {
    %o, %z, %c = kv.fold %q from %page head %h run %t, %lead, %n scales "operand" : <1x16>, <#keysChannel> -> <1x16>, <1x1>, !kv.tile<1x16>
    return %o, %z, %c : !kv.tile<1x16>, !kv.tile<1x1>, !kv.tile<1x16>
  }
  // For two blocks of channels and two heads: rows head * 2 + block.
  // CHECK-LABEL: func.func @fold_weights(
  // CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<2x80xf32>, %[[PAGE:[a-z0-9]+]]: memref<384xi32>, %{{.*}}: index, %[[TOKEN:[a-z0-9]+]]: index, %[[LEAD:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index)
  // CHECK:       scf.for %[[BLOCK:[a-z0-9]+]] = %c0 to %c2
  // CHECK:         %[[ROW:.*]] = arith.addi %[[BLOCK]], %c2
  // CHECK:         %[[OFFSET:.*]] = arith.remui %[[TOKEN]], %c64
  // CHECK:         %[[BASE:.*]] = arith.subi %[[OFFSET]], %[[LEAD]]
  // CHECK:         scf.for %[[COLUMN:[a-z0-9]+]] = %c0 to %[[COUNT]] step %c8
  // CHECK:           arith.addi %[[BASE]], %[[COLUMN]]
  // CHECK:           vector.store %{{.*}}, %[[C:[a-z0-9_]+]][%[[BLOCK]], %[[COLUMN]]]
  // CHECK:           vector.load %[[W]][%c0, %[[COLUMN]]]
  // CHECK:           vector.store %{{.*}}, %[[O:[a-z0-9_]+]][%[[BLOCK]], %[[COLUMN]]]
  // CHECK:           vector.load %[[W]][%c1, %[[COLUMN]]]
  // CHECK:           vector.store %{{.*}}, %[[O]][%[[ROW]], %[[COLUMN]]]
  // CHECK:         memref.store %{{.*}}, %[[Z:[a-z0-9_]+]][%c0, %[[BLOCK]]]
  // CHECK:         memref.store %{{.*}}, %[[Z]][%c1, %[[BLOCK]]]
  func.func @fold_weights(%w: !kv.tile<2x64>, %page: !kv.page<#valuesToken>, %h: index, %t: index, %lead: index, %n: index) -> (!kv.tile<4x64>, !kv.tile<2x2>, !kv.tile<2x64>) {
    %o, %z, %c = kv.fold %w from %page head %h run %t, %lead, %n scales "operand" : <2x64>, <#valuesToken> -> <4x64>, <2x2>, !kv.tile<2x64>
    return %o, %z, %c : !kv.tile<4x64>, !kv.tile<2x2>, !kv.tile<2x64>
  }
  // Scales in the result: the weights as they are, and their sums.
  // CHECK-LABEL: func.func @sum_weights(
  // CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<2x80xf32>, %[[PAGE:[a-z0-9]+]]:
  // CHECK-NOT:   %[[PAGE]]
  // CHECK:       return %[[W]],
  func.func @sum_weights(%w: !kv.tile<2x64>, %page: !kv.page<#valuesChannel>, %h: index, %t: index, %lead: index, %n: index) -> (!kv.tile<2x64>, !kv.tile<2x1>) {
    %o, %z = kv.fold %w from %page head %h run %t, %lead, %n scales "result" : <2x64>, <#valuesChannel> -> <2x64>, <2x1>
    return %o, %z : !kv.tile<2x64>, !kv.tile<2x1>
  }
  // Channels on the lanes: two vectors, two heads, four codes a word. Words begin
  // where the run's columns do.
  // CHECK-LABEL: func.func @accumulate(
  // CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<2x80xf32>, %[[Z:[a-z0-9]+]]: memref<2x16xf32>, %[[ALPHA:[a-z0-9]+]]: memref<2x16xf32>, %[[STATE:[a-z0-9]+]]: memref<4x32xf32>, %[[PAGE:[a-z0-9]+]]: memref<320xi32>, %{{.*}}: index, %[[TOKEN:[a-z0-9]+]]: index, %[[LEAD:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index)
  // CHECK:       %[[OFFSET:.*]] = arith.remui %[[TOKEN]], %c64
  // CHECK:       %[[BASE:.*]] = arith.subi %[[OFFSET]], %[[LEAD]]
  // CHECK:       %[[FROM:.*]] = arith.divui %[[BASE]], %c4
  // CHECK:       %[[MORE:.*]] = arith.addi %[[COUNT]], %c3
  // CHECK:       %[[WORDS:.*]] = arith.divui %[[MORE]], %c4
  // CHECK:       %[[TO:.*]] = arith.addi %[[FROM]], %[[WORDS]]
  // CHECK:       %[[SUMS:[a-z0-9]+]]:4 = scf.for %{{.*}} = %[[FROM]] to %[[TO]]
  // CHECK-COUNT-2: vector.load %[[PAGE]]
  // CHECK-NOT:     vector.load
  // CHECK-COUNT-16: vector.fma
  // CHECK-NOT:     vector.fma
  // CHECK:         scf.yield
  // acc = acc * alpha + (sum * scale + total * rest).
  // CHECK:       memref.load %[[Z]][%c0, %c0]
  // CHECK:       %[[SCALED:.*]] = arith.mulf %[[SUMS]]#0,
  // CHECK:       %[[SUM:.*]] = vector.fma %{{.*}}, %{{.*}}, %[[SCALED]]
  // CHECK:       %[[A:.*]] = memref.load %[[ALPHA]][%c0, %c0]
  // CHECK:       %[[FACTOR:.*]] = vector.broadcast %[[A]]
  // CHECK:       %[[OLD:.*]] = vector.load %[[STATE]][%c2, %c0]
  // CHECK:       %[[NEW:.*]] = vector.fma %[[OLD]], %[[FACTOR]], %[[SUM]]
  // CHECK:       vector.store %[[NEW]], %[[STATE]][%c2, %c0]
  // CHECK:       return %[[STATE]]
  func.func @accumulate(%w: !kv.tile<2x64>, %z: !kv.tile<2x1>, %alpha: !kv.tile<2x1>, %state: !kv.state<2x16>, %page: !kv.page<#valuesChannel>, %h: index, %t: index, %lead: index, %n: index) -> !kv.state<2x16> {
    %r = kv.accumulate %w zeros %z with %page head %h run %t, %lead, %n into %state rescale %alpha scales "result" schedule <heads = 2, run = 64, rows = 1> : <2x64>, <#valuesChannel>, <2x16> zeros !kv.tile<2x1> rescale !kv.tile<2x1> -> <2x16>
    return %r : !kv.state<2x16>
  }
}
