// RUN: kvc-opt %s --kv-lower-tiles --canonicalize --cse | FileCheck %s

// Keys have tokens on the lanes and sum over channels: a code is decoded once for
// all heads in lockstep, and each slot of a word is one fma a head and vector.

#keysFloat = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#valuesFloat = #kv.stream<plane = "values", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "channels", lanes = 8, vectors = 1, pages = 3>>
#keysChannel = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_channel<bits = 8, group = 16, flush = 16, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#keysToken = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_token<bits = 8, group = 8, flush = 1, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // A block is two vectors of tokens, from the block that the run's columns begin
  // in; two heads in lockstep, one code a word.
  // CHECK-LABEL: func.func @floats(
  // CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<2x16xf32>, %[[PAGE:[a-z0-9]+]]: memref<512xi32>, %[[HEAD:[a-z0-9]+]]: index, %[[TOKEN:[a-z0-9]+]]: index, %[[LEAD:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index)
  // CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
  // CHECK-DAG:   %[[C8:.*]] = arith.constant 8 : index
  // CHECK-DAG:   %[[C15:.*]] = arith.constant 15 : index
  // CHECK-DAG:   %[[C16:.*]] = arith.constant 16 : index
  // CHECK-DAG:   %[[C64:.*]] = arith.constant 64 : index
  // CHECK:       %[[TILE:.*]] = memref.alloca() {{.*}}: memref<2x80xf32>
  // CHECK:       %[[OFFSET:.*]] = arith.remui %[[TOKEN]], %[[C64]]
  // CHECK:       %[[BASE:.*]] = arith.subi %[[OFFSET]], %[[LEAD]]
  // CHECK:       %[[FIRST:.*]] = arith.divui %[[BASE]], %[[C16]]
  // CHECK:       %[[MORE:.*]] = arith.addi %[[COUNT]], %[[C15]]
  // CHECK:       %[[BLOCKS:.*]] = arith.divui %[[MORE]], %[[C16]]
  // CHECK:       scf.for %[[NUMBER:[a-z0-9]+]] = %[[C0]] to %[[BLOCKS]]
  // CHECK:         %[[BLOCK:.*]] = arith.addi %[[FIRST]], %[[NUMBER]]
  // CHECK:         %[[SUMS:[a-z0-9]+]]:4 = scf.for %{{.*}} = %[[C0]] to %[[C8]]
  // CHECK-COUNT-2:   vector.load %[[PAGE]]
  // CHECK-NOT:       vector.load %[[PAGE]]
  // CHECK:           memref.load %[[Q]][%[[C0]],
  // CHECK-COUNT-2:   vector.fma
  // CHECK:           memref.load %[[Q]][%[[C1]],
  // CHECK-COUNT-2:   vector.fma
  // CHECK-NOT:       vector.fma
  // CHECK:         %[[COLUMN:.*]] = arith.muli %[[NUMBER]], %[[C16]]
  // CHECK-DAG:     vector.store %[[SUMS]]#0, %[[TILE]][%[[C0]], %[[COLUMN]]]
  // CHECK-DAG:     vector.store %[[SUMS]]#2, %[[TILE]][%[[C1]], %[[COLUMN]]]
  // CHECK-DAG:     vector.store %[[SUMS]]#1, %[[TILE]][%[[C0]],
  // CHECK-DAG:     vector.store %[[SUMS]]#3, %[[TILE]][%[[C1]],
  // CHECK:       return %[[TILE]]
  func.func @floats(%q: !kv.tile<2x8>, %page: !kv.page<#keysFloat>, %h: index, %t: index, %lead: index, %n: index) -> !kv.tile<2x64> {
    %s = kv.contract %q with %page head %h run %t, %lead, %n scales "none" schedule <heads = 2, run = 64, rows = 1> : <2x8>, <#keysFloat> -> <2x64>
    return %s : !kv.tile<2x64>
  }

  // Without a schedule heads go one by one.
  // CHECK-LABEL: func.func @one_by_one(
  // CHECK:       scf.for %[[NUMBER:[a-z0-9]+]] =
  // CHECK:         scf.for %[[HEAD:[a-z0-9]+]] = %c0 to %c2 step %c1
  // CHECK:           scf.for %[[CHANNEL:[a-z0-9]+]] = {{.*}} -> (vector<8xf32>, vector<8xf32>)
  // CHECK:             memref.load %{{.*}}[%[[HEAD]], %[[CHANNEL]]]
  // CHECK:           vector.store %{{.*}}[%[[HEAD]],
  // CHECK-NOT:   scf.for
  // CHECK:       return
  func.func @one_by_one(%q: !kv.tile<2x8>, %page: !kv.page<#keysFloat>, %h: index, %t: index, %lead: index, %n: index) -> !kv.tile<2x64> {
    %s = kv.contract %q with %page head %h run %t, %lead, %n scales "none" : <2x8>, <#keysFloat> -> <2x64>
    return %s : !kv.tile<2x64>
  }

  // Rows of several tokens that ask: as many as go in lockstep are a step of a
  // loop, the rest follows behind it.
  // CHECK-LABEL: func.func @many_rows(
  // CHECK:       scf.for %[[NUMBER:[a-z0-9]+]] =
  // CHECK:         scf.for %[[ROW:[a-z0-9]+]] = %c0 to %c6 step %c3
  // CHECK:           scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
  // CHECK-COUNT-6:     vector.fma
  // CHECK-NOT:         vector.fma
  // CHECK:         scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>)
  // CHECK:           memref.load %{{.*}}[%c6,
  // CHECK-COUNT-2:   vector.fma
  // CHECK-NOT:       vector.fma
  // CHECK:       return
  func.func @many_rows(%q: !kv.tile<7x8>, %page: !kv.page<#keysFloat>, %h: index, %t: index, %lead: index, %n: index) -> !kv.tile<7x64> {
    %s = kv.contract %q with %page head %h run %t, %lead, %n scales "none" schedule <heads = 3, run = 64, rows = 7> : <7x8>, <#keysFloat> -> <7x64>
    return %s : !kv.tile<7x64>
  }

  // Scales in the operand: four codes a word, each less its channel's center, and
  // the sum of what zeros come to at the end.
  // CHECK-LABEL: func.func @in_the_operand(
  // CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<1x16xf32>, %[[SUMS:[a-z0-9]+]]: memref<1x16xf32>, %[[CENTERS:[a-z0-9]+]]: memref<1x16xf32>, %[[PAGE:[a-z0-9]+]]: memref<
  // CHECK:         %[[DOTS:[a-z0-9]+]]:2 = scf.for %{{.*}} = %c0 to %c2
  // CHECK-COUNT-2:   vector.load %[[PAGE]]
  // A slot: center, codes less center, operand, fma.
  // CHECK:           %[[CENTER:.*]] = memref.load %[[CENTERS]][%c0, %[[COLUMN:[a-z0-9]+]]]
  // CHECK:           %[[CENTERV:.*]] = vector.broadcast %[[CENTER]]
  // CHECK:           %[[A:.*]] = arith.subf %{{.*}}, %[[CENTERV]]
  // CHECK:           %[[B:.*]] = arith.subf %{{.*}}, %[[CENTERV]]
  // CHECK:           %[[X:.*]] = memref.load %[[Q]][%c0, %[[COLUMN]]]
  // CHECK:           %[[XV:.*]] = vector.broadcast %[[X]]
  // CHECK:           vector.fma %[[XV]], %[[A]],
  // CHECK:           vector.fma %[[XV]], %[[B]],
  // CHECK-COUNT-6:   vector.fma
  // CHECK-NOT:       vector.fma
  // CHECK:         %[[ZERO:.*]] = memref.load %[[SUMS]][%c0, %c0]
  // CHECK:         %[[ZEROV:.*]] = vector.broadcast %[[ZERO]]
  // CHECK:         arith.addf %[[DOTS]]#0, %[[ZEROV]]
  // CHECK:         arith.addf %[[DOTS]]#1, %[[ZEROV]]
  func.func @in_the_operand(%q: !kv.tile<1x8>, %sums: !kv.tile<1x1>, %centers: !kv.tile<1x8>, %page: !kv.page<#keysChannel>, %h: index, %t: index, %lead: index, %n: index) -> !kv.tile<1x64> {
    %s = kv.contract %q zeros %sums centers %centers with %page head %h run %t, %lead, %n scales "operand" schedule <heads = 1, run = 64, rows = 1> : <1x8>, <#keysChannel> zeros !kv.tile<1x1> centers !kv.tile<1x8> -> <1x64>
    return %s : !kv.tile<1x64>
  }

  // Scales in the result: a vector of pairs a vector of tokens; centers lie on
  // the lanes, and are subtracted from each code.
  // CHECK-LABEL: func.func @in_the_result(
  // CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<1x16xf32>, %[[SUMS:[a-z0-9]+]]: memref<1x16xf32>, %[[PAGE:[a-z0-9]+]]: memref<
  // CHECK:         %[[PARTS:[a-z0-9]+]]:2 = scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>)
  // CHECK-COUNT-2:   vector.load %[[PAGE]]
  // CHECK-COUNT-2:   arith.subf
  // CHECK:           memref.load %[[Q]]
  // CHECK-COUNT-8:   vector.fma
  // CHECK-NOT:       vector.fma
  // CHECK:           scf.yield
  // scale times the part, then rest times the query's sum.
  // CHECK:         %[[SCALED:.*]] = vector.fma %[[PARTS]]#0, %[[SCALE:[a-z0-9]+]],
  // CHECK:         %[[TOTAL:.*]] = memref.load %[[SUMS]]
  // CHECK:         %[[TOTALV:.*]] = vector.broadcast %[[TOTAL]]
  // CHECK:         vector.fma %[[TOTALV]], %{{.*}}, %[[SCALED]]
  func.func @in_the_result(%q: !kv.tile<1x8>, %sums: !kv.tile<1x1>, %page: !kv.page<#keysToken>, %h: index, %t: index, %lead: index, %n: index) -> !kv.tile<1x64> {
    %s = kv.contract %q zeros %sums with %page head %h run %t, %lead, %n scales "result" schedule <heads = 1, run = 64, rows = 1> : <1x8>, <#keysToken> zeros !kv.tile<1x1> -> <1x64>
    return %s : !kv.tile<1x64>
  }

  // As a line is read, the one of the same place is asked for in a page ahead:
  // of keys some blocks further on, of values some words.
  // CHECK-LABEL: func.func @keys_ahead(
  // CHECK-SAME:    %[[PAGE:[a-z0-9]+]]: memref<512xi32>, %[[AHEAD:[a-z0-9]+]]: memref<512xi32>, %{{.*}}: index, %[[T:[a-z0-9]+]]: index, %[[LEAD:[a-z0-9]+]]: index, %{{.*}}: index, %[[LATER:[a-z0-9]+]]: index)
  // CHECK:       %[[LATEROFFSET:.*]] = arith.remui %[[LATER]], %c64
  // CHECK:       %[[LATERBLOCK:.*]] = arith.divui %[[LATEROFFSET]], %c16
  // CHECK:       %[[WORDS:.*]] = arith.muli %[[LATERBLOCK]], %c128
  // CHECK:       %[[THERE:.*]] = arith.addi %{{.*}}, %[[WORDS]]
  // CHECK:       %[[BY:.*]] = arith.subi %[[THERE]], %{{.*}}
  // CHECK:       scf.for
  // CHECK:         scf.for
  // CHECK:           %[[ADDRESS:.*]] = arith.addi
  // CHECK:           %[[ASKED:.*]] = arith.addi %[[ADDRESS]], %[[BY]]
  // CHECK-NEXT:      memref.prefetch %[[AHEAD]][%[[ASKED]]], read, locality<2>, data : memref<512xi32>
  // CHECK-NOT:       memref.prefetch
  // CHECK:           vector.load %[[PAGE]][%[[ADDRESS]]]
  // CHECK:       return
  func.func @keys_ahead(%q: !kv.tile<2x8>, %page: !kv.page<#keysFloat>, %ahead: !kv.page<#keysFloat>, %h: index, %t: index, %lead: index, %n: index, %u: index) -> !kv.tile<2x64> {
    %s = kv.contract %q with %page head %h run %t, %lead, %n ahead %ahead at %u scales "none" schedule <heads = 2, run = 64, rows = 1> : <2x8>, <#keysFloat> ahead !kv.page<#keysFloat> -> <2x64>
    return %s : !kv.tile<2x64>
  }

  // CHECK-LABEL: func.func @values_ahead(
  // CHECK-SAME:    %[[PAGE:[a-z0-9]+]]: memref<512xi32>, %[[AHEAD:[a-z0-9]+]]: memref<512xi32>, %{{.*}}: index, %[[T:[a-z0-9]+]]: index, %{{.*}}: index, %{{.*}}: index, %[[LATER:[a-z0-9]+]]: index,
  // CHECK-DAG:   %[[THERE:.*]] = arith.remui %[[LATER]], %c64
  // CHECK-DAG:   %[[HERE:.*]] = arith.remui %[[T]], %c64
  // CHECK:       %[[BETWEEN:.*]] = arith.subi %[[THERE]], %[[HERE]]
  // CHECK:       %[[BY:.*]] = arith.muli %[[BETWEEN]], %c8
  // CHECK:         %[[ASKED:.*]] = arith.addi %{{.*}}, %[[BY]]
  // CHECK-NEXT:    memref.prefetch %[[AHEAD]][%[[ASKED]]], read, locality<2>, data : memref<512xi32>
  // CHECK-NOT:     memref.prefetch
  // CHECK:       return
  func.func @values_ahead(%w: !kv.tile<2x64>, %page: !kv.page<#valuesFloat>, %ahead: !kv.page<#valuesFloat>, %h: index, %t: index, %lead: index, %n: index, %u: index, %state: !kv.state<2x8>) -> !kv.state<2x8> {
    %s = kv.accumulate %w with %page head %h run %t, %lead, %n ahead %ahead at %u into %state scales "none" schedule <heads = 2, run = 64, rows = 1> : <2x64>, <#valuesFloat> ahead !kv.page<#valuesFloat>, <2x8> -> <2x8>
    return %s : !kv.state<2x8>
  }
}
