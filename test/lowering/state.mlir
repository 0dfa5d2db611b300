// RUN: kvc-opt %s --kv-lower-tiles --canonicalize --cse | FileCheck %s

// A softmax begins, is joined with another, and ends.

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // Rows of a state: the maxima, the sums, the accumulators.
  // CHECK-LABEL: func.func @init_state(
  // CHECK-DAG:   %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
  // CHECK-DAG:   %[[MINUS:.*]] = arith.constant dense<0xFF800000> : vector<8xf32>
  // CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
  // CHECK-DAG:   %[[C4:.*]] = arith.constant 4 : index
  // CHECK:       %[[STATE:.*]] = memref.alloca() {{.*}}: memref<4x32xf32>
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
  // CHECK:         %[[NUMBER:.*]] = arith.remui %[[ROW]], %c2
  // CHECK:         %[[AT:.*]] = arith.addi %[[HEAD]], %[[NUMBER]]
  // CHECK:         %[[LOGIT:.*]] = memref.load %[[LOGITS]][%[[AT]]]
  // CHECK:         %[[SOME:.*]] = arith.cmpf ogt, %[[LOGIT]], %[[MINUS]]
  // CHECK:         memref.store %[[LOGIT]], %[[STATE:.*]][%c0{{.*}}, %[[ROW]]]
  // CHECK:         %[[SUM:.*]] = arith.select %[[SOME]], %[[ONE]], %[[NONE]]
  // CHECK:         memref.store %[[SUM]], %[[STATE]][%c1{{.*}}, %[[ROW]]]
  func.func @init_state_from(%logits: memref<9xf32>, %head: index) -> !kv.state<2x16> {
    %state = kv.init_state from %logits[%head] each 2 : <2x16> from memref<9xf32>
    return %state : !kv.state<2x16>
  }

  // Rows of several tokens begin with the logits of the same heads.
  // CHECK-LABEL: func.func @init_state_rows(
  // CHECK-SAME:    %[[LOGITS:[a-z0-9]+]]: memref<9xf32>, %[[HEAD:[a-z0-9]+]]: index)
  // CHECK:       scf.for %[[ROW:[a-z0-9]+]] = %c0{{.*}} to %c6{{.*}} step
  // CHECK:         %[[NUMBER:.*]] = arith.remui %[[ROW]], %c3
  // CHECK:         %[[AT:.*]] = arith.addi %[[HEAD]], %[[NUMBER]]
  // CHECK:         memref.load %[[LOGITS]][%[[AT]]]
  func.func @init_state_rows(%logits: memref<9xf32>, %head: index) -> !kv.state<6x16> {
    %state = kv.init_state from %logits[%head] each 3 : <6x16> from memref<9xf32>
    return %state : !kv.state<6x16>
  }

  // A part is two pointers: out, then lse. m is lse, l is 1, acc is out, both
  // 2^40 times as large; a part of nothing counts for nothing, whatever its out.
  // CHECK-LABEL: func.func @load_state(
  // CHECK-SAME:    %[[PARTS:[a-z0-9]+]]: !llvm.ptr, %[[PART:[a-z0-9]+]]: index, %[[FIRST:[a-z0-9]+]]: index)
  // CHECK-DAG:   %[[MINUS:.*]] = arith.constant 0xFF800000 : f32
  // CHECK-DAG:   %[[NONE:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-DAG:   %[[ONE:.*]] = arith.constant 1.09951163E+12 : f32
  // CHECK:       %[[STATE:.*]] = memref.alloca() {{.*}}: memref<4x32xf32>
  // CHECK:       arith.muli %[[PART]], %c2
  // CHECK:       %[[ENTRY:.*]] = llvm.getelementptr %[[PARTS]][
  // CHECK:       %[[OUT:.*]] = llvm.load %[[ENTRY]] : !llvm.ptr -> !llvm.ptr
  // CHECK:       %[[SECOND:.*]] = llvm.getelementptr %[[ENTRY]][1]
  // CHECK:       %[[LSE:.*]] = llvm.load %[[SECOND]] : !llvm.ptr -> !llvm.ptr
  // CHECK:       scf.for %[[ROW:[a-z0-9]+]] = %c0 to %c2
  // CHECK:         %[[AT:.*]] = arith.addi %[[FIRST]], %[[ROW]]
  // CHECK:         llvm.getelementptr %[[LSE]][
  // CHECK:         %[[M:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
  // CHECK:         memref.store %[[M]], %[[STATE]][%c0, %[[ROW]]]
  // CHECK:         %[[SOME:.*]] = arith.cmpf ogt, %[[M]], %[[MINUS]]
  // CHECK:         %[[L:.*]] = arith.select %[[SOME]], %[[ONE]], %[[NONE]]
  // CHECK:         memref.store %[[L]], %[[STATE]][%c1, %[[ROW]]]
  // CHECK:         %[[BASE:.*]] = arith.muli %[[AT]], %c16
  // CHECK:         scf.for %[[COLUMN:[a-z0-9]+]] = %c0 to %c16
  // CHECK:           arith.addi %[[BASE]], %[[COLUMN]]
  // CHECK:           llvm.getelementptr %[[OUT]][
  // CHECK:           %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
  // CHECK:           %[[LARGE:.*]] = arith.mulf %[[X]], %[[ONE]]
  // CHECK:           %[[ACC:.*]] = arith.select %[[SOME]], %[[LARGE]], %[[NONE]]
  // CHECK:           %[[LINE:.*]] = arith.addi %[[ROW]], %c2
  // CHECK:           memref.store %[[ACC]], %[[STATE]][%[[LINE]], %[[COLUMN]]]
  func.func @load_state(%parts: !kv.parts, %part: index, %row: index) -> !kv.state<2x16> {
    %s = kv.load_state %parts[%part] at %row : <2x16>
    return %s : !kv.state<2x16>
  }

  // Both are rescaled to the larger maximum, or to 0 where neither met anything.
  // CHECK-LABEL: func.func @merge_state(
  // CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<4x32xf32>, %[[B:[a-z0-9]+]]: memref<4x32xf32>)
  // CHECK-DAG:   %[[MINUS:.*]] = arith.constant 0xFF800000 : f32
  // CHECK-DAG:   %[[NONE:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK:       scf.for %[[ROW:[a-z0-9]+]] = %c0 to %c2
  // CHECK:         %[[MA:.*]] = memref.load %[[A]][%c0, %[[ROW]]]
  // CHECK:         %[[MB:.*]] = memref.load %[[B]][%c0, %[[ROW]]]
  // CHECK:         %[[MORE:.*]] = arith.cmpf ogt, %[[MA]], %[[MB]]
  // CHECK:         %[[M:.*]] = arith.select %[[MORE]], %[[MA]], %[[MB]]
  // CHECK:         memref.store %[[M]], %[[A]][%c0, %[[ROW]]]
  // CHECK:         %[[SOME:.*]] = arith.cmpf ogt, %[[M]], %[[MINUS]]
  // CHECK:         %[[FINITE:.*]] = arith.select %[[SOME]], %[[M]], %[[NONE]]
  // CHECK:         arith.subf %[[MA]], %[[FINITE]]
  // CHECK:         %[[FA:.*]] = arith.select %{{.*}} : vector<8xi1>, vector<8xf32>
  // CHECK:         arith.subf %[[MB]], %[[FINITE]]
  // CHECK:         %[[FB:.*]] = arith.select %{{.*}} : vector<8xi1>, vector<8xf32>
  // CHECK:         memref.load %[[A]][%c1, %[[ROW]]]
  // CHECK:         vector.extract %[[FA]][0]
  // CHECK:         memref.load %[[B]][%c1, %[[ROW]]]
  // CHECK:         vector.extract %[[FB]][0]
  // CHECK:         %[[L:.*]] = arith.addf
  // CHECK:         memref.store %[[L]], %[[A]][%c1, %[[ROW]]]
  // CHECK:         scf.for
  // CHECK:           %[[XA:.*]] = arith.mulf %{{.*}}, %[[FA]]
  // CHECK:           %[[XB:.*]] = arith.mulf %{{.*}}, %[[FB]]
  // CHECK:           %[[X:.*]] = arith.addf %[[XA]], %[[XB]]
  // CHECK:           vector.store %[[X]], %[[A]]
  // CHECK:       return %[[A]]
  func.func @merge_state(%a: !kv.state<2x16>, %b: !kv.state<2x16>) -> !kv.state<2x16> {
    %s = kv.merge_state %a, %b : <2x16>
    return %s : !kv.state<2x16>
  }

  // acc / l and m + ln l; where nothing was taken in, zeros and minus infinity.
  // CHECK-LABEL: func.func @finish(
  // CHECK-SAME:    %[[STATE:[a-z0-9]+]]: memref<6x32xf32>, %[[OUT:[a-z0-9]+]]: memref<?x8x16xf32>, %[[FIRST:[a-z0-9]+]]: index, %[[TOKENS:[a-z0-9]+]]: index, %[[LSE:[a-z0-9]+]]: memref<?x8xf32>)
  // CHECK-DAG:   %[[MINUS:.*]] = arith.constant 0xFF800000 : f32
  // CHECK-DAG:   %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
  // CHECK-DAG:   %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK:       scf.for %[[TOKEN:[a-z0-9]+]] = %c0 to %[[TOKENS]]
  // CHECK:         scf.for %[[HEAD:[a-z0-9]+]] = %c0 to %c2
  // CHECK:           %[[LINES:.*]] = arith.muli %[[TOKEN]], %c2
  // CHECK:           %[[LINE:.*]] = arith.addi %[[LINES]], %[[HEAD]]
  // CHECK:           %[[ROW:.*]] = arith.addi %[[FIRST]], %[[HEAD]]
  // CHECK:           %[[L:.*]] = memref.load %[[STATE]][%c1, %[[LINE]]]
  // CHECK:           %[[SOME:.*]] = arith.cmpf ogt, %[[L]], %[[ZERO]]
  // CHECK:           %[[DIVISOR:.*]] = arith.select %[[SOME]], %[[L]], %[[ONE]]
  // CHECK:           %[[ALL:.*]] = vector.broadcast %[[DIVISOR]]
  // CHECK:             %[[Y:.*]] = arith.divf %{{.*}}, %[[ALL]]
  // CHECK:             vector.store %[[Y]], %[[OUT]][%[[TOKEN]], %[[ROW]],
  // CHECK:           %[[RESULT:.*]] = arith.select %[[SOME]], %{{.*}}, %[[MINUS]]
  // CHECK:           memref.store %[[RESULT]], %[[LSE]][%[[TOKEN]], %[[ROW]]]
  // CHECK-NOT:   math.log
  func.func @finish(%state: !kv.state<4x16>, %out: memref<?x8x16xf32>, %row: index, %count: index, %lse: memref<?x8xf32>) {
    kv.finish %state to %out[%row] of %count each 2, %lse : <4x16>, memref<?x8x16xf32>, memref<?x8xf32>
    return
  }
}
