// RUN: kvc-opt %s --kv-lower-tiles --canonicalize --cse | FileCheck %s

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // What a score point has for each head is one constant, wherever it is used.
  // CHECK:       memref.global "private" constant @[[SLOPES:.*]] : memref<2x2xf32> = dense<{{.*}}5.000000e-01, 0.000000e+00], [2.500000e-01, 0.000000e+00]]>
  // CHECK-NOT:   memref.global
  // Minus infinity before the lead and behind the count, up to where vectors and
  // words may reach: a multiple of 32 columns.
  // CHECK-LABEL: func.func @mask(
  // CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<2x80xf32>, %{{[a-z0-9]+}}: index, %[[LEAD:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index)
  // CHECK-DAG:   %[[MINUS:.*]] = arith.constant 0xFF800000 : f32
  // CHECK-DAG:   %[[C32:.*]] = arith.constant 32 : index
  // CHECK-DAG:   %[[C31:.*]] = arith.constant 31 : index
  // CHECK-DAG:   %[[C80:.*]] = arith.constant 80 : index
  // CHECK:       scf.for
  // CHECK:         %[[BEFORE:.*]] = arith.minsi %[[LEAD]], %[[C80]]
  // CHECK:         scf.for %[[J:[a-z0-9]+]] = %{{.*}} to %[[BEFORE]]
  // CHECK:           memref.store %[[MINUS]], %[[TILE]][%{{.*}}, %[[J]]]
  // CHECK:         %[[MORE:.*]] = arith.addi %[[COUNT]], %[[C31]]
  // CHECK:         %[[UNITS:.*]] = arith.divui %[[MORE]], %[[C32]]
  // CHECK:         %[[END:.*]] = arith.muli %[[UNITS]], %[[C32]]
  // CHECK:         %[[BEHIND:.*]] = arith.minsi %[[END]], %[[C80]]
  // CHECK:         scf.for %[[J:[a-z0-9]+]] = %[[COUNT]] to %[[BEHIND]]
  // CHECK:           memref.store %[[MINUS]], %[[TILE]][%{{.*}}, %[[J]]]
  func.func @mask(%tile: !kv.tile<2x64>, %token: index, %lead: index, %count: index) -> !kv.tile<2x64> {
    %r = kv.mask %tile run %token, %lead, %count : <2x64>
    return %r : !kv.tile<2x64>
  }

  // A tile that another reads is masked in a copy.
  // CHECK-LABEL: func.func @mask_of_a_shared_tile(
  // CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<2x80xf32>
  // CHECK:       %[[COPY:.*]] = memref.alloca() {{.*}}: memref<2x80xf32>
  // CHECK-NOT:   memref.store {{.*}} %[[TILE]]
  // CHECK:       memref.store %{{.*}}, %[[COPY]]
  func.func @mask_of_a_shared_tile(%tile: !kv.tile<2x64>, %token: index, %lead: index, %count: index) -> (!kv.tile<2x64>, !kv.tile<2x64>) {
    %r = kv.mask %tile run %token, %lead, %count : <2x64>
    return %tile, %r : !kv.tile<2x64>, !kv.tile<2x64>
  }

  // Tokens that ask have borders of their own: columns beyond them become minus
  // infinity, in all rows of the token, but where the run lies within them all.
  // CHECK-LABEL: func.func @mask_rows(
  // CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<6x80xf32>, %[[TOKEN:[a-z0-9]+]]: index, %[[LEAD:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index, %[[WHOLE:[a-z0-9]+]]: i1, %[[SEEN:[a-z0-9]+]]: index)
  // CHECK-DAG:   %[[LANES:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]>
  // CHECK-DAG:   %[[MINUS:.*]] = arith.constant dense<0xFF800000> : vector<8xf32>
  // CHECK:       scf.for %[[ROW:[a-z0-9]+]] = %c0 to %c6
  // CHECK:         %[[BEFORE:.*]] = arith.minsi %[[LEAD]], %c80
  // CHECK:       scf.if %[[WHOLE]] {
  // CHECK-NEXT:  } else {
  // CHECK:         %[[BASE:.*]] = arith.subi %[[TOKEN]], %[[LEAD]]
  // CHECK:         scf.for %[[ASKS:[a-z0-9]+]] = %c0 to %c2
  // CHECK:           %[[END:.*]] = arith.addi %[[SEEN]], %[[ASKS]]
  // CHECK:           scf.for %[[HEAD:[a-z0-9]+]] = %c0 to %c3
  // CHECK:             %[[ROWS:.*]] = arith.muli %[[ASKS]], %c3
  // CHECK:             %[[ROW:.*]] = arith.addi %[[ROWS]], %[[HEAD]]
  // CHECK:             scf.for %[[COLUMN:[a-z0-9]+]] = %c0 to %[[COUNT]] step %c8
  // CHECK:               %[[FIRST:.*]] = arith.addi %[[BASE]], %[[COLUMN]]
  // CHECK-DAG:           arith.subi %[[SEEN]], %[[FIRST]]
  // CHECK-DAG:           arith.subi %[[END]], %[[FIRST]]
  // CHECK-DAG:           %[[ABOVE:.*]] = arith.cmpi sle, %{{.*}}, %[[LANES]]
  // CHECK-DAG:           %[[BELOW:.*]] = arith.cmpi sgt, %{{.*}}, %[[LANES]]
  // CHECK:               %[[INSIDE:.*]] = arith.andi %[[ABOVE]], %[[BELOW]]
  // CHECK:               %[[X:.*]] = vector.load %[[TILE]][%[[ROW]], %[[COLUMN]]]
  // CHECK:               %[[Y:.*]] = arith.select %[[INSIDE]], %[[X]], %[[MINUS]]
  // CHECK:               vector.store %[[Y]], %[[TILE]][%[[ROW]], %[[COLUMN]]]
  func.func @mask_rows(%tile: !kv.tile<6x64>, %token: index, %lead: index, %count: index, %whole: i1, %seen: index) -> !kv.tile<6x64> {
    %r = kv.mask %tile run %token, %lead, %count unless %whole each 3 but {
    ^bb0(%row: index):
      %end = arith.addi %seen, %row : index
      kv.yield %seen, %end : index, index
    } : <6x64>
    return %r : !kv.tile<6x64>
  }

  // The numbers of the row's head, once a row.
  // CHECK-LABEL: func.func @logit_by_head(
  // CHECK-SAME:    %{{.*}}: memref<2x80xf32>, %[[HEAD:[a-z0-9]+]]: index
  // CHECK:       %[[TABLE:.*]] = memref.get_global @[[SLOPES]]
  // CHECK:       scf.for %[[ROW:[a-z0-9]+]] =
  // CHECK:         %[[AT:.*]] = arith.addi %[[HEAD]], %[[ROW]]
  // CHECK:         %[[SLOPE:.*]] = memref.load %[[TABLE]][%[[AT]], %c0{{.*}}]
  // CHECK:         %[[SLOPES8:.*]] = vector.broadcast %[[SLOPE]]
  // CHECK:         scf.for
  // CHECK:           math.fma %[[SLOPES8]], %{{.*}}
  // CHECK-NOT:     call
  func.func @logit_by_head(%tile: !kv.tile<2x64>, %head: index, %n: index) -> !kv.tile<2x64> {
    %r = kv.logit %tile by #kv.alibi<slopes = [0.5, 0.25]> head %head run %n, %n, %n each 2 at {
    ^bb0(%row: index):
      kv.yield %n : index
    } : !kv.tile<2x64>
    %s = kv.logit %r by #kv.alibi<slopes = [0.5, 0.25]> head %head run %n, %n, %n each 2 at {
    ^bb0(%row: index):
      kv.yield %n : index
    } : !kv.tile<2x64>
    return %s : !kv.tile<2x64>
  }

  // The maximum, alpha = exp(old - new), weights, the sum: without a call.
  // CHECK-LABEL: func.func @softmax_update(
  // CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<2x80xf32>, %[[STATE:[a-z0-9]+]]: memref<4x32xf32>, %[[COUNT:[a-z0-9]+]]: index)
  // CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
  // CHECK:       %[[ALPHA:.*]] = memref.alloca() {{.*}}: memref<2x16xf32>
  // CHECK:       scf.for %[[ROW:[a-z0-9]+]] =
  // CHECK:         %[[OLD:.*]] = memref.load %[[STATE]][%[[C0]], %[[ROW]]]
  // CHECK:         %[[MORE:.*]] = arith.cmpf ogt, %[[OLD]], %[[ROWS:[a-z0-9]+]]
  // CHECK:         %[[NEW:.*]] = arith.select %[[MORE]], %[[OLD]], %[[ROWS]]
  // CHECK:         memref.store %[[NEW]], %[[STATE]][%[[C0]], %[[ROW]]]
  // Where a row has met nothing yet its maximum is minus infinity: 0 is
  // subtracted instead.
  // CHECK:         %[[MET:.*]] = arith.cmpf ogt, %[[NEW]],
  // CHECK:         %[[FINITE:.*]] = arith.select %[[MET]], %[[NEW]],
  // CHECK:         arith.subf %[[OLD]], %[[FINITE]]
  // CHECK:         %[[FACTOR:.*]] = vector.extract
  // CHECK:         memref.store %[[FACTOR]], %[[ALPHA]][%[[ROW]], %[[C0]]]
  // CHECK:         %[[W:.*]] = scf.for
  // CHECK:           vector.store %{{.*}}, %[[TILE]][%[[ROW]],
  // CHECK:         %[[BEFORE:.*]] = memref.load %[[STATE]][%[[C1]], %[[ROW]]]
  // CHECK:         %[[KEPT:.*]] = arith.mulf %[[BEFORE]], %[[FACTOR]]
  // CHECK:         %[[SUM:.*]] = arith.addf %[[KEPT]],
  // CHECK:         memref.store %[[SUM]], %[[STATE]][%[[C1]], %[[ROW]]]
  // CHECK-NOT:   math.exp
  // CHECK-NOT:   call
  func.func @softmax_update(%tile: !kv.tile<2x64>, %state: !kv.state<2x16>, %count: index) -> (!kv.tile<2x64>, !kv.tile<2x1>, !kv.state<2x16>) {
    %w, %alpha, %next = kv.softmax_update %tile, %state columns %count : <2x64>, <2x16> -> <2x1>
    return %w, %alpha, %next : !kv.tile<2x64>, !kv.tile<2x1>, !kv.state<2x16>
  }

  // Column c's key lies index - (token - lead + c) before the query.
  // CHECK-LABEL: func.func @logit(
  // CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<2x80xf32>,
  // CHECK:       %[[FACTOR:.*]] = arith.constant dense<2.500000e-01> : vector<8xf32>
  // CHECK:       %[[X:.*]] = vector.load %[[TILE]]
  // CHECK:       %[[Y:.*]] = arith.mulf %[[X]], %[[FACTOR]]
  // CHECK:       vector.store %[[Y]], %[[TILE]]
  func.func @logit(%tile: !kv.tile<2x64>, %head: index, %index: index, %token: index, %lead: index, %count: index) -> !kv.tile<2x64> {
    %r = kv.logit %tile by #kv.plain<scale = 0.25 : f64> head %head run %token, %lead, %count each 2 at {
    ^bb0(%row: index):
      kv.yield %index : index
    } : <2x64>
    return %r : !kv.tile<2x64>
  }

  // Rows of several tokens: the index is the token's, the numbers are the head's.
  // CHECK-LABEL: func.func @logit_rows(
  // CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<4x80xf32>, %[[HEAD:[a-z0-9]+]]: index, %[[SEEN:[a-z0-9]+]]: index, %[[TOKEN:[a-z0-9]+]]: index, %[[LEAD:[a-z0-9]+]]: index,
  // CHECK:       %[[BASE:.*]] = arith.subi %[[TOKEN]], %[[LEAD]]
  // CHECK:       scf.for %[[ASKS:[a-z0-9]+]] = %c0 to %c2
  // CHECK:         %[[INDEX:.*]] = arith.addi %[[SEEN]], %[[ASKS]]
  // CHECK:         scf.for %[[H:[a-z0-9]+]] = %c0 to %c2
  // CHECK:           %[[ROWS:.*]] = arith.muli %[[ASKS]], %c2
  // CHECK:           %[[ROW:.*]] = arith.addi %[[ROWS]], %[[H]]
  // CHECK:           %[[AT:.*]] = arith.addi %[[HEAD]], %[[H]]
  // CHECK:           memref.load %{{.*}}[%[[AT]], %c0{{.*}}]
  // CHECK:           scf.for %[[COLUMN:[a-z0-9]+]] =
  // CHECK:             %[[PLACE:.*]] = arith.addi %[[BASE]], %[[COLUMN]]
  // CHECK:             arith.subi %[[INDEX]], %[[PLACE]]
  // CHECK:             vector.load %[[TILE]][%[[ROW]], %[[COLUMN]]]
  func.func @logit_rows(%tile: !kv.tile<4x64>, %head: index, %seen: index, %token: index, %lead: index, %count: index) -> !kv.tile<4x64> {
    %r = kv.logit %tile by #kv.alibi<slopes = [0.5, 0.25]> head %head run %token, %lead, %count each 2 at {
    ^bb0(%row: index):
      %index = arith.addi %seen, %row : index
      kv.yield %index : index
    } : !kv.tile<4x64>
    return %r : !kv.tile<4x64>
  }
}
