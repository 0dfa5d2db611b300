// RUN: kvc-opt %s --kv-lower-tiles --canonicalize --cse | FileCheck %s

// The same lowerings where a lane is an invocation of a subgroup: a vector of
// lanes is a scalar, whose place is lane 0's and the lane's number.

#halves = #kv.stream<plane = "keys", kind = "original", origin = 5, encoding = #kv.float<f16>, layout = #kv.layout<heads = 2, tokens = 16, channels = 4, block = 4, lanes_on = "tokens", lanes = 8, vectors = 1, pages = 3>>
#values = #kv.stream<plane = "values", kind = "code", origin = 0, encoding = #kv.affine_token<bits = 4, group = 5, flush = 1, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 16, channels = 10, block = 5, lanes_on = "channels", lanes = 8, vectors = 1, pages = 3>>
module attributes {kv.target = #kv.target<name = "vulkan", lanes = 8, registers = 32, lane = "invocation">} {
  // A view is a buffer of words: view[view[stream] + page] is where the page
  // begins.
  // CHECK-LABEL: func.func @page(
  // CHECK-SAME:    %[[VIEW:[a-z0-9]+]]: memref<?xi32>, %[[TOKEN:[a-z0-9]+]]: index) -> memref<64xi32, strided<[1], offset: ?>>
  // CHECK-DAG:   %[[STREAM:.*]] = arith.constant 7 : index
  // CHECK-DAG:   %[[PAGES:.*]] = arith.constant 3 : index
  // CHECK:       %[[NUMBER:.*]] = arith.remui %{{.*}}, %[[PAGES]]
  // CHECK:       %[[WORD:.*]] = memref.load %[[VIEW]][%[[STREAM]]]
  // CHECK:       %[[TABLE:.*]] = arith.index_cast %[[WORD]] : i32 to index
  // CHECK:       %[[ENTRY:.*]] = arith.addi %[[TABLE]], %[[NUMBER]]
  // CHECK:       %[[FIRST:.*]] = memref.load %[[VIEW]][%[[ENTRY]]]
  // CHECK:       %[[PLACE:.*]] = arith.index_cast %[[FIRST]] : i32 to index
  // CHECK:       memref.subview %[[VIEW]][%[[PLACE]]] [64] [1]
  func.func @page(%view: !kv.view, %token: index) -> !kv.page<#halves> {
    %page = kv.page %view[7] at %token : <#halves>
    return %page : !kv.page<#halves>
  }

  // Tiles are in workgroup memory. A whole vector is an element a lane; what is
  // none is stored by the lane that owns the column.
  // CHECK-LABEL: func.func @rows(
  // CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<2x12xf16>
  // CHECK:       %[[TILE:.*]] = memref.alloc() : memref<2x32xf32, 3>
  // CHECK:       %[[LANE:.*]] = gpu.lane_id
  // CHECK:       %[[X:.*]] = memref.load %[[Q]][%{{.*}}, %[[LANE]]]
  // CHECK:       %[[WIDE:.*]] = arith.extf %[[X]] : f16 to f32
  // CHECK:       memref.store %[[WIDE]], %[[TILE]][%{{.*}}, %[[LANE]]]
  // CHECK:       scf.for %[[COLUMN:[a-z0-9]+]] = %c8 to %c12
  // CHECK:         %[[OWNER:.*]] = arith.remui %[[COLUMN]], %c8
  // CHECK:         %[[MINE:.*]] = arith.cmpi eq, %{{.*}}, %[[OWNER]]
  // CHECK:         scf.if %[[MINE]] {
  // CHECK-NEXT:      memref.store %{{.*}}, %[[TILE]][%{{.*}}, %[[COLUMN]]]
  func.func @rows(%q: memref<2x12xf16>, %row: index) -> !kv.tile<2x12> {
    %tile = kv.rows %q[%row] : memref<2x12xf16> -> <2x12>
    return %tile : !kv.tile<2x12>
  }

  // Halves of words: a lane takes the half of a word that two share.
  // CHECK-LABEL: func.func @contract(
  // CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<1x16xf32, 3>, %[[PAGE:[a-z0-9]+]]: memref<64xi32, strided<[1], offset: ?>>
  // CHECK-DAG:   %[[LANE:.*]] = gpu.lane_id
  // CHECK-DAG:   %[[PAIR:.*]] = arith.divui %[[LANE]], %c2
  // CHECK:       %[[WORD:.*]] = memref.load %[[PAGE]]
  // CHECK:       %[[ODD:.*]] = arith.remui %[[LANE]], %c2
  // CHECK:       %[[SHIFT:.*]] = arith.muli %[[ODD]], %c16
  // CHECK:       %[[BITS:.*]] = arith.index_cast %[[SHIFT]]
  // CHECK:       %[[MOVED:.*]] = arith.shrui %[[WORD]], %[[BITS]] : i32
  // CHECK:       arith.andi %[[MOVED]], %c65535_i32 : i32
  // CHECK:       arith.extf %{{.*}} : f16 to f32
  // CHECK:       math.fma %{{.*}} : f32
  // CHECK-NOT:   vector
  func.func @contract(%q: !kv.tile<1x4>, %page: !kv.page<#halves>, %head: index, %token: index, %lead: index, %count: index) -> !kv.tile<1x16> {
    %s = kv.contract %q with %page head %head run %token, %lead, %count scales "none" : <1x4>, <#halves> -> <1x16>
    return %s : !kv.tile<1x16>
  }

  // Blocks of 5 channels begin between vectors: lanes beyond the block look at
  // nothing, and keep what is there.
  // CHECK-LABEL: func.func @accumulate(
  // CHECK:       %[[LANE:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK:       %[[MASK:.*]] = arith.cmpi slt, %[[LANE]], %{{.*}} : i32
  // CHECK:       scf.if %{{.*}} -> (f32) {
  // CHECK:         memref.load %{{.*}} : memref<3x32xf32, 3>
  // CHECK:       } else {
  // CHECK:       scf.if %{{.*}} {
  // CHECK-NEXT:    memref.store %{{.*}} : memref<3x32xf32, 3>
  func.func @accumulate(%w: !kv.tile<2x16>, %sums: !kv.tile<1x2>, %centers: !kv.tile<2x16>, %page: !kv.page<#values>, %head: index, %token: index, %lead: index, %count: index, %state: !kv.state<1x10>) -> !kv.state<1x10> {
    %next = kv.accumulate %w zeros %sums centers %centers with %page head %head run %token, %lead, %count into %state scales "operand" : <2x16>, <#values>, <1x10> zeros !kv.tile<1x2> centers !kv.tile<2x16> -> <1x10>
    return %next : !kv.state<1x10>
  }

  // Sums over lanes are the tree that they are over a vector's.
  // CHECK-LABEL: func.func @softmax(
  // CHECK:       gpu.shuffle  xor %{{.*}}, %c4_i32, %c8_i32 : f32
  // CHECK:       gpu.shuffle  xor %{{.*}}, %c2_i32, %c8_i32 : f32
  // CHECK:       gpu.shuffle  xor %{{.*}}, %c1_i32, %c8_i32 : f32
  // CHECK-NOT:   vector
  func.func @softmax(%s: !kv.tile<1x16>, %state: !kv.state<1x4>, %count: index) -> (!kv.tile<1x16>, !kv.tile<1x1>) {
    %w, %alpha, %next = kv.softmax_update %s, %state columns %count : <1x16>, <1x4> -> <1x1>
    return %w, %alpha : !kv.tile<1x16>, !kv.tile<1x1>
  }

  // A score's numbers are stored where the function begins, once.
  // CHECK-LABEL: func.func @logit(
  // CHECK:       %[[TABLE:.*]] = memref.alloc() {kv.numbers = dense<{{.*}}> : tensor<2x2xf32>} : memref<2x2xf32, 3>
  // CHECK:       memref.store %{{.*}}, %[[TABLE]][%c0, %c0]
  // CHECK:       memref.store %{{.*}}, %[[TABLE]][%c1, %c0]
  // CHECK:       memref.store %{{.*}}, %[[TABLE]][%c1, %c1]
  // CHECK-NOT:   kv.numbers
  // CHECK:       memref.load %[[TABLE]]
  // CHECK:       memref.load %[[TABLE]]
  func.func @logit(%s: !kv.tile<2x16>, %head: index, %token: index, %lead: index, %count: index) -> !kv.tile<2x16> {
    %a = kv.logit %s by #kv.alibi<slopes = [0.5, 0.25]> head %head run %token, %lead, %count each 2 at {
    ^bb0(%row: index):
      kv.yield %token : index
    } : !kv.tile<2x16>
    %b = kv.logit %a by #kv.alibi<slopes = [0.5, 0.25]> head %head run %token, %lead, %count each 2 at {
    ^bb0(%row: index):
      kv.yield %token : index
    } : !kv.tile<2x16>
    return %b : !kv.tile<2x16>
  }
}
