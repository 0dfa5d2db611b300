// RUN: kvc-opt %s --kv-lower-tiles --canonicalize --cse | FileCheck %s

#keysFloat = #kv.stream<plane = "keys", kind = "original", origin = 3, encoding = #kv.float<f32>, layout = #kv.layout<heads = 2, tokens = 32, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#keysCode = #kv.stream<plane = "keys", kind = "code", origin = 3, encoding = #kv.affine_channel<bits = 4, group = 16, flush = 16, residual = 0, scales = f16>, layout = #kv.layout<heads = 2, tokens = 32, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#valuesFloat = #kv.stream<plane = "values", kind = "original", origin = 3, encoding = #kv.float<f32>, layout = #kv.layout<heads = 2, tokens = 32, channels = 20, block = 10, lanes_on = "channels", lanes = 8, vectors = 1, pages = 3>>
#valuesCode = #kv.stream<plane = "values", kind = "code", origin = 3, encoding = #kv.affine_token<bits = 8, group = 10, flush = 1, residual = 0, scales = f16>, layout = #kv.layout<heads = 2, tokens = 32, channels = 20, block = 10, lanes_on = "channels", lanes = 8, vectors = 1, pages = 3>>
#keysAll = #kv.stream<plane = "keys", kind = "code", origin = 3, encoding = #kv.affine_all<bits = 4, scales = f32>, layout = #kv.layout<heads = 2, tokens = 32, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // A token goes to word channel * 16 + lane of its block of two vectors.
  // CHECK-LABEL: func.func @encode(
  // CHECK-SAME:    %[[ROW:[a-z0-9]+]]: memref<1x16xf32>, %[[PAGE:[a-z0-9]+]]: memref<512xi32>, %[[HEAD:[a-z0-9]+]]: index, %[[TOKEN:[a-z0-9]+]]: index) -> index
  // CHECK-DAG:   %[[RECORD:.*]] = arith.muli %[[HEAD]], %c256
  // CHECK-DAG:   %[[BEYOND:.*]] = arith.subi %[[TOKEN]], %c3
  // CHECK-DAG:   %[[OFFSET:.*]] = arith.remui %[[BEYOND]], %c32
  // CHECK-DAG:   %[[X:.*]] = vector.load %[[ROW]][%c0, %c0]
  // CHECK-DAG:   %[[BITS:.*]] = arith.bitcast %[[X]] : vector<8xf32> to vector<8xi32>
  // CHECK-DAG:   %[[ZEROTH:.*]] = vector.extract %[[BITS]][0]
  // CHECK-DAG:   %[[VECTOR:.*]] = arith.divui %[[OFFSET]], %c8
  // CHECK-DAG:   %[[PAIR:.*]] = arith.divui %[[VECTOR]], %c2
  // CHECK-DAG:   %[[BLOCK:.*]] = arith.muli %[[PAIR]], %c128
  // CHECK-DAG:   arith.addi %[[RECORD]], %[[BLOCK]]
  // CHECK:       memref.store %[[ZEROTH]], %[[PAGE]]
  // CHECK-COUNT-7: memref.store %{{.*}}, %[[PAGE]]
  // Nothing of f32 saturates.
  // CHECK:       return %c0
  func.func @encode(%row: !kv.tile<1x8>, %page: !kv.page<#keysFloat>, %h: index, %t: index) -> index {
    %n = kv.encode %row to %page head %h at %t : <1x8>, <#keysFloat>
    return %n : index
  }
  // A pair for each channel, over the tokens of the lanes that are due: least and
  // greatest, the pair (saturating, rounded outwards), then codes into their
  // slots; other lanes' words stay.
  // CHECK-LABEL: func.func @quantize_keys(
  // CHECK-SAME:    %[[FROM:[a-z0-9]+]]: memref<512xi32>, %[[TO:[a-z0-9]+]]: memref<96xi32>,
  // CHECK-DAG:   %[[INFINITE:.*]] = arith.constant dense<0x7F800000> : vector<8xf32>
  // CHECK-DAG:   %[[MINUS:.*]] = arith.constant dense<0xFF800000> : vector<8xf32>
  // CHECK-DAG:   %[[MOST:.*]] = arith.constant 6.550400e+04 : f32
  // CHECK-DAG:   %[[EPSILON:.*]] = arith.constant 6.10351563E-5 : f32
  // CHECK-DAG:   %[[LEVELS:.*]] = arith.constant 1.500000e+01 : f32
  // CHECK-DAG:   %[[LEVELSV:.*]] = arith.constant dense<1.500000e+01> : vector<8xf32>
  // CHECK-DAG:   %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK:       scf.for %[[CHANNEL:[a-z0-9]+]] = %c0 to %c8
  // CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[INFINITE]], %{{.*}} = %[[MINUS]])
  // CHECK:           %[[MASK:.*]] = arith.andi {{.*}} : vector<8xi1>
  // CHECK:           %[[WORDS:.*]] = vector.load %[[FROM]]
  // CHECK:           %[[X:.*]] = arith.bitcast %[[WORDS]] : vector<8xi32> to vector<8xf32>
  // CHECK:           arith.select %[[MASK]], %[[X]], %[[INFINITE]]
  // CHECK:           arith.select %[[MASK]], %[[X]], %[[MINUS]]
  // -0 counts as +0.
  // CHECK:         %[[LEAST:.*]] = arith.addf %{{.*}}, %[[ZERO]]
  // CHECK:         %[[GREATEST:.*]] = arith.addf %{{.*}}, %[[ZERO]]
  // CHECK:         arith.truncf %{{.*}} : f32 to f16
  // CHECK:         %[[RANGE:.*]] = arith.subf %[[GREATEST]], %{{.*}} : f32
  // CHECK:         %[[STEP:.*]] = arith.divf %[[RANGE]], %[[LEVELS]] : f32
  // CHECK:         arith.cmpf ogt, %[[STEP]], %[[EPSILON]]
  // CHECK:         arith.truncf %{{.*}} : f32 to f16
  // CHECK:         memref.store %[[PAIR:.*]], %[[TO]]
  // Codes are made from the pair as it is stored: a true division, ties to even.
  // CHECK:         arith.shrui %[[PAIR]]
  // CHECK:           %[[ABOVE:.*]] = arith.subf
  // CHECK:           arith.divf %[[ABOVE]]
  // CHECK:           math.roundeven
  // CHECK:           arith.fptosi
  // CHECK:           %[[OLD:.*]] = vector.load %[[TO]]
  // CHECK:           %[[NEW:.*]] = arith.ori
  // CHECK:           %[[KEPT:.*]] = arith.select %{{.*}}, %[[NEW]], %[[OLD]]
  // CHECK:           vector.store %[[KEPT]], %[[TO]]
  // CHECK-NOT:   math.fma
  func.func @quantize_keys(%from: !kv.page<#keysFloat>, %to: !kv.page<#keysCode>, %h: index, %t: index, %stop: index) -> index {
    %n = kv.quantize %from to %to head %h tokens %t, %stop : <#keysFloat>, <#keysCode>
    return %n : index
  }
  // A pair for each token and block of ten channels.
  // CHECK-LABEL: func.func @quantize_values(
  // CHECK-SAME:    %[[FROM:[a-z0-9]+]]: memref<2048xi32>, %[[TO:[a-z0-9]+]]: memref<640xi32>,
  // CHECK-DAG:   arith.constant 2.550000e+02 : f32
  // CHECK:       scf.for %{{.*}} = %c0 to %c2
  // CHECK:         scf.for %[[TOKEN:[a-z0-9]+]] = %[[BEGIN:[a-z0-9]+]] to %[[END:[a-z0-9]+]]
  // CHECK:           memref.store %{{.*}}, %[[TO]]
  // CHECK:           vector.store %{{.*}}, %[[TO]]
  func.func @quantize_values(%from: !kv.page<#valuesFloat>, %to: !kv.page<#valuesCode>, %h: index, %t: index, %stop: index) -> index {
    %n = kv.quantize %from to %to head %h tokens %t, %stop : <#valuesFloat>, <#valuesCode>
    return %n : index
  }
  // Where a pair covers all tokens, extremes go through a tile: a channel's are
  // joined with those of its page, in place.
  // CHECK-LABEL: func.func @extremes(
  // CHECK-SAME:    %[[PAGE:[a-z0-9]+]]: memref<512xi32>, %[[HEAD:[a-z0-9]+]]: index, %[[TOKEN:[a-z0-9]+]]: index, %[[STOP:[a-z0-9]+]]: index) -> memref<2x16xf32>
  // CHECK-DAG:   %[[INFINITE:.*]] = arith.constant dense<0x7F800000> : vector<8xf32>
  // CHECK-DAG:   %[[MINUS:.*]] = arith.constant dense<0xFF800000> : vector<8xf32>
  // CHECK:       %[[TILE:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x16xf32>
  // CHECK:       vector.store %[[INFINITE]], %[[TILE]][%c0,
  // CHECK:       vector.store %[[MINUS]], %[[TILE]][%c1,
  // CHECK:       scf.for %[[CHANNEL:[a-z0-9]+]] = %c0 to %c8
  // CHECK:         vector.load %[[PAGE]]
  // CHECK:         %[[LEAST:.*]] = memref.load %[[TILE]][%c0, %[[CHANNEL]]]
  // CHECK:         arith.cmpf olt, %[[LEAST]]
  // CHECK:         %[[GREATEST:.*]] = memref.load %[[TILE]][%c1, %[[CHANNEL]]]
  // CHECK:         arith.cmpf ogt, %[[GREATEST]]
  // CHECK:         memref.store %{{.*}}, %[[TILE]][%c0, %[[CHANNEL]]]
  // CHECK:         memref.store %{{.*}}, %[[TILE]][%c1, %[[CHANNEL]]]
  // CHECK:       return %[[TILE]]
  func.func @extremes(%page: !kv.page<#keysFloat>, %h: index, %t: index, %stop: index) -> !kv.tile<2x8> {
    %none = kv.init_extremes : <2x8>
    %e = kv.extremes %none with %page head %h tokens %t, %stop : <2x8>, <#keysFloat>
    return %e : !kv.tile<2x8>
  }
  // Then pairs are made of them, here of two words each, 16 words apart.
  // CHECK-LABEL: func.func @quantize_all(
  // CHECK-SAME:    %[[FROM:[a-z0-9]+]]: memref<512xi32>, %[[TO:[a-z0-9]+]]: memref<128xi32>, %[[TILE:[a-z0-9]+]]: memref<2x16xf32>,
  // CHECK:       scf.for %[[CHANNEL:[a-z0-9]+]] = %c0 to %c8
  // CHECK:         memref.load %[[TILE]][%c0, %[[CHANNEL]]]
  // CHECK-NEXT:    memref.load %[[TILE]][%c1, %[[CHANNEL]]]
  // CHECK-NOT:     vector.load
  // CHECK:         memref.store %{{.*}}, %[[TO]]
  // CHECK:         memref.store %{{.*}}, %[[TO]]
  // CHECK:         vector.load %[[FROM]]
  // CHECK:         vector.store %{{.*}}, %[[TO]]
  func.func @quantize_all(%from: !kv.page<#keysFloat>, %to: !kv.page<#keysAll>, %e: !kv.tile<2x8>, %h: index, %t: index, %stop: index) -> index {
    %n = kv.quantize %from to %to head %h tokens %t, %stop by %e : <#keysFloat>, <#keysAll> by !kv.tile<2x8>
    return %n : index
  }
  // code * scale rounded, + zero rounded; rows of [heads, rows, channels], flat.
  // CHECK-LABEL: func.func @decode(
  // CHECK-SAME:    %[[PAGE:[a-z0-9]+]]: memref<96xi32>, %[[HEAD:[a-z0-9]+]]: index, %[[FROM:[a-z0-9]+]]: index, %[[TO:[a-z0-9]+]]: index, %[[BUFFER:[a-z0-9]+]]: memref<?xf32>, %[[ROW:[a-z0-9]+]]: index, %[[ROWS:[a-z0-9]+]]: index)
  // CHECK:       %[[BEFORE:.*]] = arith.muli %[[HEAD]], %[[ROWS]]
  // CHECK:       %[[FIRST:.*]] = arith.addi %[[BEFORE]], %[[ROW]]
  // CHECK:       scf.for %[[TOKEN:[a-z0-9]+]] = %[[FROM]] to %[[TO]]
  // CHECK:         %[[BEHIND:.*]] = arith.subi %[[TOKEN]], %[[FROM]]
  // CHECK:         %[[AT:.*]] = arith.addi %[[FIRST]], %[[BEHIND]]
  // CHECK:         %[[WORD:.*]] = memref.load %[[PAGE]]
  // CHECK:         %[[SHIFTED:.*]] = arith.shrui %[[WORD]]
  // CHECK:         %[[CODE:.*]] = arith.andi %[[SHIFTED]], %c15_i32
  // CHECK:         %[[NUMBER:.*]] = arith.sitofp %[[CODE]]
  // CHECK:         memref.load %[[PAGE]]
  // CHECK:         %[[PRODUCT:.*]] = arith.mulf %[[NUMBER]], %{{.*}} : f32
  // CHECK:         %[[X:.*]] = arith.addf %[[PRODUCT]], %{{.*}} : f32
  // CHECK:         %[[PLACE:.*]] = arith.muli %[[AT]], %c8
  // CHECK:         %[[WHERE:.*]] = arith.addi %[[PLACE]],
  // CHECK:         memref.store %[[X]], %[[BUFFER]][%[[WHERE]]]
  // CHECK-NOT:   math.fma
  func.func @decode(%page: !kv.page<#keysCode>, %h: index, %from: index, %to: index, %buffer: memref<?xf32>, %row: index, %rows: index) {
    kv.decode %page head %h tokens %from, %to into %buffer[%row of %rows] : <#keysCode>, memref<?xf32>
    return
  }
}
