// RUN: kvc-opt %s --kv-lower-tiles --canonicalize --cse | FileCheck %s

// f16 and bf16 in buffers and in pages: computed in f32, widened where they are
// loaded, rounded where they are stored.

#keys = #kv.stream<plane = "keys", kind = "original", origin = 3, encoding = #kv.float<f16>, layout = #kv.layout<heads = 2, tokens = 32, channels = 7, block = 7, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#codes = #kv.stream<plane = "keys", kind = "code", origin = 3, encoding = #kv.affine_channel<bits = 4, group = 16, flush = 16, residual = 0, scales = f16>, layout = #kv.layout<heads = 2, tokens = 32, channels = 7, block = 7, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#values = #kv.stream<plane = "values", kind = "original", origin = 3, encoding = #kv.float<bf16>, layout = #kv.layout<heads = 2, tokens = 32, channels = 8, block = 8, lanes_on = "channels", lanes = 8, vectors = 1, pages = 3>>
module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // Exactly: eight at a time.
  // CHECK-LABEL: func.func @rows_f16(
  // CHECK:       %[[X:.*]] = vector.load %{{.*}} : memref<6x8xf16>, vector<8xf16>
  // CHECK:       %[[Y:.*]] = arith.extf %[[X]] : vector<8xf16> to vector<8xf32>
  // CHECK:       vector.store %[[Y]]
  func.func @rows_f16(%buffer: memref<6x8xf16>, %first: index) -> !kv.tile<3x8> {
    %tile = kv.rows %buffer[%first] : memref<6x8xf16> -> <3x8>
    return %tile : !kv.tile<3x8>
  }

  // bf16 is the upper half of an f32.
  // CHECK-LABEL: func.func @rows_bf16(
  // CHECK:       %[[X:.*]] = memref.load %{{.*}} : memref<6x7xbf16>
  // CHECK:       %[[BITS:.*]] = arith.bitcast %[[X]] : bf16 to i16
  // CHECK:       %[[WIDE:.*]] = arith.extui %[[BITS]] : i16 to i32
  // CHECK:       %[[UPPER:.*]] = arith.shli %[[WIDE]], %c16_i32
  // CHECK:       %[[Y:.*]] = arith.bitcast %[[UPPER]] : i32 to f32
  // CHECK:       memref.store %[[Y]]
  func.func @rows_bf16(%buffer: memref<6x7xbf16>, %first: index) -> !kv.tile<3x7> {
    %tile = kv.rows %buffer[%first] : memref<6x7xbf16> -> <3x7>
    return %tile : !kv.tile<3x7>
  }

  // One rounding, of what lies within the type's range.
  // CHECK-LABEL: func.func @finish_f16(
  // CHECK-DAG:   %[[LOW:.*]] = arith.constant dense<-6.550400e+04> : vector<8xf32>
  // CHECK-DAG:   %[[HIGH:.*]] = arith.constant dense<6.550400e+04> : vector<8xf32>
  // CHECK:       %[[X:.*]] = arith.divf %{{.*}} : vector<8xf32>
  // CHECK-DAG:   %[[ABOVE:.*]] = arith.cmpf ogt, %[[X]], %[[HIGH]]
  // CHECK-DAG:   %[[BELOW:.*]] = arith.cmpf olt, %[[X]], %[[LOW]]
  // CHECK:       %[[A:.*]] = arith.select %[[ABOVE]], %[[HIGH]], %[[X]]
  // CHECK:       %[[B:.*]] = arith.select %[[BELOW]], %[[LOW]], %[[A]]
  // CHECK:       %[[Y:.*]] = arith.truncf %[[B]] : vector<8xf32> to vector<8xf16>
  // CHECK:       vector.store %[[Y]], %{{.*}} : memref<1x8x16xf16>, vector<8xf16>
  func.func @finish_f16(%state: !kv.state<2x16>, %out: memref<1x8x16xf16>, %row: index, %one: index, %lse: memref<1x8xf32>) {
    kv.finish %state to %out[%row] of %one each 2, %lse : <2x16>, memref<1x8x16xf16>, memref<1x8xf32>
    return
  }

  // To nearest even, by integers: arith.truncf would become a call.
  // CHECK-LABEL: func.func @finish_bf16(
  // CHECK:       %[[BITS:.*]] = arith.bitcast %{{.*}} : vector<8xf32> to vector<8xi32>
  // CHECK:       %[[UPPER:.*]] = arith.shrui %[[BITS]], %[[N16:[a-z0-9_]+]]
  // CHECK:       %[[ODD:.*]] = arith.andi %[[UPPER]],
  // CHECK:       %[[MORE:.*]] = arith.addi %[[BITS]],
  // CHECK:       %[[SUM:.*]] = arith.addi %[[MORE]], %[[ODD]]
  // CHECK:       %[[ROUNDED:.*]] = arith.shrui %[[SUM]], %[[N16]]
  // CHECK:       arith.trunci %[[ROUNDED]] : vector<8xi32> to vector<8xi16>
  // CHECK:       vector.store %{{.*}} : memref<1x8x16xbf16>, vector<8xbf16>
  // CHECK-NOT:   arith.truncf
  func.func @finish_bf16(%state: !kv.state<2x16>, %out: memref<1x8x16xbf16>, %row: index, %one: index, %lse: memref<1x8xf32>) {
    kv.finish %state to %out[%row] of %one each 2, %lse : <2x16>, memref<1x8x16xbf16>, memref<1x8xf32>
    return
  }

  // A number beyond the range is counted; the other half of the word stays.
  // CHECK-LABEL: func.func @encode(
  // CHECK:       %[[ABOVE:.*]] = arith.cmpf ogt,
  // CHECK:       %[[BELOW:.*]] = arith.cmpf olt,
  // CHECK:       %[[BEYOND:.*]] = arith.ori %[[ABOVE]], %[[BELOW]]
  // CHECK:       %[[ONE:.*]] = arith.extui %[[BEYOND]] : i1 to i32
  // CHECK:       arith.truncf %{{.*}} : f32 to f16
  // CHECK:       %[[OLD:.*]] = memref.load %{{.*}} : memref<256xi32>
  // CHECK:       %[[KEPT:.*]] = arith.andi %[[OLD]],
  // CHECK:       %[[WORD:.*]] = arith.ori %[[KEPT]],
  // CHECK:       memref.store %[[WORD]]
  // CHECK:       arith.index_cast %[[ONE]]
  func.func @encode(%row: !kv.tile<1x7>, %page: !kv.page<#keys>, %h: index, %t: index) -> index {
    %n = kv.encode %row to %page head %h at %t : <1x7>, <#keys>
    return %n : index
  }

  // Codes are made of originals as they are stored, widened.
  // CHECK-LABEL: func.func @quantize(
  // CHECK:       %[[HALVES:.*]] = vector.bitcast %{{.*}} : vector<4xi32> to vector<8xi16>
  // CHECK:       %[[NARROW:.*]] = arith.bitcast %[[HALVES]] : vector<8xi16> to vector<8xf16>
  // CHECK:       arith.extf %[[NARROW]] : vector<8xf16> to vector<8xf32>
  func.func @quantize(%from: !kv.page<#keys>, %to: !kv.page<#codes>, %h: index, %t: index, %stop: index) -> index {
    %n = kv.quantize %from to %to head %h tokens %t, %stop : <#keys>, <#codes>
    return %n : index
  }

  // Two channels a word: the slots of a vector of tokens lie one after another,
  // and each is widened as it is loaded.
  // CHECK-LABEL: func.func @contract(
  // CHECK:       %[[WORDS:.*]] = vector.load %[[PAGE:[a-z0-9]+]][%[[AT:[a-z0-9]+]]] : memref<256xi32>, vector<4xi32>
  // CHECK:       %[[FIRST:.*]] = vector.bitcast %[[WORDS]] : vector<4xi32> to vector<8xi16>
  // CHECK:       %[[NEXT:.*]] = arith.addi %[[AT]], %c4
  // CHECK:       %[[MORE:.*]] = vector.load %[[PAGE]][%[[NEXT]]]
  // CHECK:       %[[SECOND:.*]] = vector.bitcast %[[MORE]] : vector<4xi32> to vector<8xi16>
  // CHECK:       arith.bitcast %[[FIRST]] : vector<8xi16> to vector<8xf16>
  // CHECK-COUNT-2: vector.fma
  // CHECK:       arith.bitcast %[[SECOND]] : vector<8xi16> to vector<8xf16>
  // CHECK-COUNT-2: vector.fma
  // CHECK-NOT:   arith.trunci
  func.func @contract(%q: !kv.tile<1x8>, %page: !kv.page<#keys>, %h: index, %t: index, %lead: index, %n: index) -> !kv.tile<1x32> {
    %s = kv.contract %q with %page head %h run %t, %lead, %n scales "none" schedule <heads = 1, run = 32, rows = 1> : <1x8>, <#keys> -> <1x32>
    return %s : !kv.tile<1x32>
  }

  // CHECK-LABEL: func.func @accumulate(
  // CHECK:       %[[WIDE:.*]] = arith.extui %{{.*}} : vector<8xi16> to vector<8xi32>
  // CHECK:       %[[UPPER:.*]] = arith.shli %[[WIDE]],
  // CHECK:       %[[X:.*]] = arith.bitcast %[[UPPER]] : vector<8xi32> to vector<8xf32>
  // CHECK:       vector.fma %{{.*}}, %[[X]],
  func.func @accumulate(%w: !kv.tile<1x32>, %page: !kv.page<#values>, %h: index, %t: index, %lead: index, %n: index, %s: !kv.state<1x8>) -> !kv.state<1x8> {
    %r = kv.accumulate %w with %page head %h run %t, %lead, %n into %s scales "none" schedule <heads = 1, run = 32, rows = 1> : <1x32>, <#values>, <1x8> -> <1x8>
    return %r : !kv.state<1x8>
  }
}
