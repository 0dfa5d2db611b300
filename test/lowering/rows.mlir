// RUN: kvc-opt %s --kv-lower-tiles --canonicalize --cse | FileCheck %s

// Tiles lie on the frame, a vector longer than their columns and padded to whole
// cache lines.

#position = #kv.absolute<<theta = 1.0 : f64, dims = 8, pairing = "half">>
module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // A buffer ends at its last column: elements, not vectors.
  // CHECK-LABEL: func.func @rows(
  // CHECK-SAME:    %[[BUFFER:[a-z0-9]+]]: memref<6x20xf32>, %[[FIRST:[a-z0-9]+]]: index) -> memref<3x32xf32>
  // CHECK:       %[[TILE:.*]] = memref.alloca() {{.*}}: memref<3x32xf32>
  // CHECK:       scf.for %[[I:[a-z0-9]+]] =
  // CHECK:         scf.for %[[J:[a-z0-9]+]] =
  // CHECK:           %[[ROW:.*]] = arith.addi %[[FIRST]], %[[I]]
  // CHECK:           %[[X:.*]] = memref.load %[[BUFFER]][%[[ROW]], %[[J]]]
  // CHECK:           memref.store %[[X]], %[[TILE]][%[[I]], %[[J]]]
  // CHECK-NOT:   vector
  func.func @rows(%buffer: memref<6x20xf32>, %first: index) -> !kv.tile<3x20> {
    %tile = kv.rows %buffer[%first] : memref<6x20xf32> -> <3x20>
    return %tile : !kv.tile<3x20>
  }

  // Rows of tokens: where the tile has room for more than there are, it takes the
  // last one's.
  // CHECK-LABEL: func.func @rows_of_tokens(
  // CHECK-SAME:    %[[BUFFER:[a-z0-9]+]]: memref<?x9x20xf32>, %[[FIRST:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index) -> memref<6x32xf32>
  // CHECK:       %[[TILE:.*]] = memref.alloca() {{.*}}: memref<6x32xf32>
  // CHECK:       scf.for %[[I:[a-z0-9]+]] = %c0 to %c6
  // CHECK:         scf.for %[[J:[a-z0-9]+]] = %c0 to %c16 step %c8
  // CHECK:           %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
  // CHECK:           %[[NUMBER:.*]] = arith.divui %[[I]], %c3
  // CHECK:           %[[TOKEN:.*]] = arith.minsi %[[NUMBER]], %[[LAST]]
  // CHECK:           %[[OFFSET:.*]] = arith.remui %[[I]], %c3
  // CHECK:           %[[ROW:.*]] = arith.addi %[[FIRST]], %[[OFFSET]]
  // CHECK:           %[[X:.*]] = vector.load %[[BUFFER]][%[[TOKEN]], %[[ROW]], %[[J]]]
  // CHECK:           vector.store %[[X]], %[[TILE]][%[[I]], %[[J]]]
  func.func @rows_of_tokens(%buffer: memref<?x9x20xf32>, %first: index, %count: index) -> !kv.tile<6x20> {
    %tile = kv.rows %buffer[%first] of %count each 3 : memref<?x9x20xf32> -> <6x20>
    return %tile : !kv.tile<6x20>
  }

  // CHECK-LABEL: func.func @scale(
  // CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<3x32xf32>)
  // CHECK:       %[[FACTOR:.*]] = arith.constant dense<1.250000e-01> : vector<8xf32>
  // CHECK:       %[[X:.*]] = vector.load %[[TILE]]
  // CHECK:       %[[Y:.*]] = arith.mulf %[[X]], %[[FACTOR]]
  // CHECK:       vector.store %[[Y]]
  func.func @scale(%tile: !kv.tile<3x20>) -> !kv.tile<3x20> {
    %r = kv.scale %tile by 1.25e-01 : <3x20>
    return %r : !kv.tile<3x20>
  }

  // One rounding an operation: products, then a difference and a sum. Columns
  // that are in no pair stay as they are.
  // CHECK-LABEL: func.func @rotate(
  // CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<1x32xf32>, %[[ANGLES:[a-z0-9]+]]: memref<2x4xf32>)
  // CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
  // CHECK-DAG:   %[[C4:.*]] = arith.constant 4 : index
  // CHECK:       %[[OUT:.*]] = memref.alloca()
  // CHECK:       %[[OLD:.*]] = vector.load %[[TILE]]
  // CHECK:       vector.store %[[OLD]], %[[OUT]]
  // CHECK:       scf.for %[[PAIR:[a-z0-9]+]] = %[[C0]] to %[[C4]]
  // CHECK:         %[[SECOND:.*]] = arith.addi %[[PAIR]], %[[C4]]
  // CHECK:         %[[COS:.*]] = memref.load %[[ANGLES]][%[[C0]], %[[PAIR]]]
  // CHECK:         %[[SIN:.*]] = memref.load %[[ANGLES]][%[[C1]], %[[PAIR]]]
  // CHECK:         %[[X0:.*]] = memref.load %[[TILE]][%{{.*}}, %[[PAIR]]]
  // CHECK:         %[[X1:.*]] = memref.load %[[TILE]][%{{.*}}, %[[SECOND]]]
  // CHECK:         %[[A:.*]] = arith.mulf %[[X0]], %[[COS]] : f32
  // CHECK:         %[[B:.*]] = arith.mulf %[[X1]], %[[SIN]] : f32
  // CHECK:         %[[Y0:.*]] = arith.subf %[[A]], %[[B]] : f32
  // CHECK:         %[[C:.*]] = arith.mulf %[[X0]], %[[SIN]] : f32
  // CHECK:         %[[D:.*]] = arith.mulf %[[X1]], %[[COS]] : f32
  // CHECK:         %[[Y1:.*]] = arith.addf %[[C]], %[[D]] : f32
  // CHECK:         memref.store %[[Y0]], %[[OUT]][%{{.*}}, %[[PAIR]]]
  // CHECK:         memref.store %[[Y1]], %[[OUT]][%{{.*}}, %[[SECOND]]]
  // CHECK-NOT:   fma
  func.func @rotate(%tile: !kv.tile<1x20>, %angles: memref<2x4xf32>) -> !kv.tile<1x20> {
    %r = kv.rotate %tile as #position by %angles : memref<2x4xf32>, <1x20>
    return %r : !kv.tile<1x20>
  }

  // Exact: what the products' roundings took is added at the end.
  // CHECK-LABEL: func.func @rotate_exactly(
  // CHECK:         %[[A:.*]] = arith.mulf
  // CHECK:         %[[B:.*]] = arith.mulf
  // CHECK:         %[[MINUSA:.*]] = arith.negf %[[A]]
  // CHECK:         %[[LOSTA:.*]] = math.fma %{{.*}}, %{{.*}}, %[[MINUSA]]
  // CHECK:         %[[MINUSB:.*]] = arith.negf %[[B]]
  // CHECK:         %[[LOSTB:.*]] = math.fma %{{.*}}, %{{.*}}, %[[MINUSB]]
  // CHECK:         arith.addf %[[LOSTA]], %[[LOSTB]]
  // CHECK:         arith.addf %[[A]], %[[B]]
  func.func @rotate_exactly(%tile: !kv.tile<1x20>, %angles: memref<2x4xf32>) -> !kv.tile<1x20> {
    %r = kv.rotate %tile as #position by %angles exact : memref<2x4xf32>, <1x20>
    return %r : !kv.tile<1x20>
  }

  // Angles of each token, for all its rows.
  // CHECK-LABEL: func.func @rotate_tokens(
  // CHECK-SAME:    %[[TILE:[a-z0-9]+]]: memref<6x32xf32>, %[[ANGLES:[a-z0-9]+]]: memref<2x2x4xf32>)
  // CHECK:       scf.for %[[PAIR:[a-z0-9]+]] = %c0 to %c4
  // CHECK:         %[[TOKEN:.*]] = arith.divui %[[ROW:[a-z0-9]+]], %c3
  // CHECK:         memref.load %[[ANGLES]][%[[TOKEN]], %c0, %[[PAIR]]]
  // CHECK:         memref.load %[[ANGLES]][%[[TOKEN]], %c1, %[[PAIR]]]
  // CHECK:         memref.load %[[TILE]][%[[ROW]], %[[PAIR]]]
  func.func @rotate_tokens(%tile: !kv.tile<6x20>, %angles: memref<2x2x4xf32>) -> !kv.tile<6x20> {
    %r = kv.rotate %tile as #position by %angles : memref<2x2x4xf32>, <6x20>
    return %r : !kv.tile<6x20>
  }
}
