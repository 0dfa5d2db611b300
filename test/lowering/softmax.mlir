// RUN: kvc-opt %s --kv-lower-tiles --canonicalize --cse | FileCheck %s

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // What a score point has for each head is one constant, wherever it is used.
  // CHECK:       memref.global "private" constant @[[SLOPES:.*]] : memref<2x2xf32> = dense<{{.*}}5.000000e-01, 0.000000e+00], [2.500000e-01, 0.000000e+00]]>
  // CHECK-NOT:   memref.global
  // Minus infinity before the lead and behind the count, up to where vectors and
  // words may reach: a multiple of 32 columns.
  // CHECK-LABEL: func.func @mask(
  // CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<2x80xf32>, %[[LEAD:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index)
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
  func.func @mask(%tile: !kv.tile<2x64>, %lead: index, %count: index) -> !kv.tile<2x64> {
    %r = kv.mask %tile but %lead, %count : <2x64>
    return %r : !kv.tile<2x64>
  }

  // A tile that another reads is masked in a copy.
  // CHECK-LABEL: func.func @mask_of_a_shared_tile(
  // CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<2x80xf32>
  // CHECK:       %[[COPY:.*]] = memref.alloca() {{.*}}: memref<2x80xf32>
  // CHECK-NOT:   memref.store {{.*}} %[[TILE]]
  // CHECK:       memref.store %{{.*}}, %[[COPY]]
  func.func @mask_of_a_shared_tile(%tile: !kv.tile<2x64>, %lead: index, %count: index) -> (!kv.tile<2x64>, !kv.tile<2x64>) {
    %r = kv.mask %tile but %lead, %count : <2x64>
    return %tile, %r : !kv.tile<2x64>, !kv.tile<2x64>
  }

  // Rows of a state: the maxima, the sums, the accumulators.
  // CHECK-LABEL: func.func @init_state(
  // CHECK-DAG:   %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
  // CHECK-DAG:   %[[MINUS:.*]] = arith.constant dense<0xFF800000> : vector<8xf32>
  // CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
  // CHECK-DAG:   %[[C4:.*]] = arith.constant 4 : index
  // CHECK:       %[[STATE:.*]] = memref.alloca() {{.*}}: memref<4x48xf32>
  // CHECK:       vector.store %[[MINUS]], %[[STATE]][%[[C0]],
  // CHECK:       scf.for %[[ROW:[a-z0-9]+]] = %[[C1]] to %[[C4]]
  // CHECK:         vector.store %[[ZERO]], %[[STATE]][%[[ROW]],
  func.func @init_state() -> !kv.state<2x16> {
    %state = kv.init_state : <2x16>
    return %state : !kv.state<2x16>
  }

  // A logit a head to start with: minus infinity is none. l is 1, 2^40 times as
  // large as all weights.
  // CHECK-LABEL: func.func @init_state_from(
  // CHECK-SAME:    %[[LOGITS:[a-z0-9]+]]: memref<9xf32>, %[[HEAD:[a-z0-9]+]]: index)
  // CHECK-DAG:   %[[MINUS:.*]] = arith.constant 0xFF800000 : f32
  // CHECK-DAG:   %[[NONE:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-DAG:   %[[ONE:.*]] = arith.constant 1.09951163E+12 : f32
  // CHECK:       scf.for %[[ROW:[a-z0-9]+]] = %c0{{.*}} to %c2{{.*}} step
  // CHECK:         %[[AT:.*]] = arith.addi %[[HEAD]], %[[ROW]]
  // CHECK:         %[[LOGIT:.*]] = memref.load %[[LOGITS]][%[[AT]]]
  // CHECK:         %[[SOME:.*]] = arith.cmpf ogt, %[[LOGIT]], %[[MINUS]]
  // CHECK:         memref.store %[[LOGIT]], %[[STATE:.*]][%c0{{.*}}, %[[ROW]]]
  // CHECK:         %[[SUM:.*]] = arith.select %[[SOME]], %[[ONE]], %[[NONE]]
  // CHECK:         memref.store %[[SUM]], %[[STATE]][%c1{{.*}}, %[[ROW]]]
  func.func @init_state_from(%logits: memref<9xf32>, %head: index) -> !kv.state<2x16> {
    %state = kv.init_state from %logits[%head] : <2x16> from memref<9xf32>
    return %state : !kv.state<2x16>
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
    %r = kv.logit %tile by #kv.alibi<slopes = [0.5, 0.25]> head %head index %n run %n, %n, %n : !kv.tile<2x64>
    %s = kv.logit %r by #kv.alibi<slopes = [0.5, 0.25]> head %head index %n run %n, %n, %n : !kv.tile<2x64>
    return %s : !kv.tile<2x64>
  }

  // The maximum, alpha = exp(old - new), weights, the sum: without a call.
  // CHECK-LABEL: func.func @softmax_update(
  // CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<2x80xf32>, %[[STATE:[a-z0-9]+]]: memref<4x48xf32>, %[[COUNT:[a-z0-9]+]]: index)
  // CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
  // CHECK:       %[[ALPHA:.*]] = memref.alloca() {{.*}}: memref<2x16xf32>
  // CHECK:       scf.for %[[ROW:[a-z0-9]+]] =
  // CHECK:         %[[OLD:.*]] = memref.load %[[STATE]][%[[C0]], %[[ROW]]]
  // CHECK:         %[[MORE:.*]] = arith.cmpf ogt, %[[OLD]], %[[ROWS:[a-z0-9]+]]
  // CHECK:         %[[NEW:.*]] = arith.select %[[MORE]], %[[OLD]], %[[ROWS]]
  // CHECK:         memref.store %[[NEW]], %[[STATE]][%[[C0]], %[[ROW]]]
  // CHECK:         arith.subf %[[OLD]], %[[NEW]]
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

  // acc / l and m + ln l; where nothing was taken in, zeros and minus infinity.
  // CHECK-LABEL: func.func @finish(
  // CHECK-SAME:    %[[STATE:[a-z0-9]+]]: memref<4x48xf32>, %[[OUT:[a-z0-9]+]]: memref<8x16xf32>, %[[FIRST:[a-z0-9]+]]: index, %[[LSE:[a-z0-9]+]]: memref<8xf32>)
  // CHECK-DAG:   %[[MINUS:.*]] = arith.constant 0xFF800000 : f32
  // CHECK-DAG:   %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
  // CHECK-DAG:   %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK:       %[[L:.*]] = memref.load %[[STATE]]
  // CHECK:       %[[SOME:.*]] = arith.cmpf ogt, %[[L]], %[[ZERO]]
  // CHECK:       %[[DIVISOR:.*]] = arith.select %[[SOME]], %[[L]], %[[ONE]]
  // CHECK:       %[[ROW:.*]] = arith.addi %[[FIRST]],
  // CHECK:       %[[ALL:.*]] = vector.broadcast %[[DIVISOR]]
  // CHECK:         %[[Y:.*]] = arith.divf %{{.*}}, %[[ALL]]
  // CHECK:         vector.store %[[Y]], %[[OUT]][%[[ROW]],
  // CHECK:       %[[RESULT:.*]] = arith.select %[[SOME]], %{{.*}}, %[[MINUS]]
  // CHECK:       memref.store %[[RESULT]], %[[LSE]][%[[ROW]]]
  // CHECK-NOT:   math.log
  func.func @finish(%state: !kv.state<2x16>, %out: memref<8x16xf32>, %row: index, %lse: memref<8xf32>) {
    kv.finish %state to %out[%row], %lse : <2x16>, memref<8x16xf32>, memref<8xf32>
    return
  }

  // Column c's key lies index - (token - lead + c) before the query.
  // CHECK-LABEL: func.func @logit(
  // CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<2x80xf32>,
  // CHECK:       %[[FACTOR:.*]] = arith.constant dense<2.500000e-01> : vector<8xf32>
  // CHECK:       %[[X:.*]] = vector.load %[[TILE]]
  // CHECK:       %[[Y:.*]] = arith.mulf %[[X]], %[[FACTOR]]
  // CHECK:       vector.store %[[Y]], %[[TILE]]
  func.func @logit(%tile: !kv.tile<2x64>, %head: index, %index: index, %token: index, %lead: index, %count: index) -> !kv.tile<2x64> {
    %r = kv.logit %tile by #kv.plain<scale = 0.25 : f64> head %head index %index run %token, %lead, %count : <2x64>
    return %r : !kv.tile<2x64>
  }
}
