// RUN: kvc-opt %s --kv-lower-tiles --canonicalize --cse | FileCheck %s

// A token as bits: each code out of its word, each word of its pair as it lies;
// and back, other codes of a word left alone.

#codes = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_token<bits = 4, group = 8, flush = 1, residual = 0, scales = f16>, layout = #kv.layout<heads = 2, tokens = 16, channels = 16, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#words = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 16, channels = 16, block = 16, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>

module attributes {kv.target = #kv.target<name = "t", lanes = 8, registers = 16, dot = "">} {
  // CHECK-LABEL: func.func @save(
  // CHECK-SAME:    %[[PAGE:[a-z0-9]+]]: memref<{{[0-9]+}}xi32>, %[[H:[a-z0-9]+]]: index, %[[T:[a-z0-9]+]]: index, %[[E:[a-z0-9]+]]: memref<2x16xi32>, %[[P:[a-z0-9]+]]: memref<2x2xi32>
  // CHECK-DAG:   %[[ONES:.*]] = arith.constant 15 : i32
  // CHECK:       scf.for %[[C:.*]] = %c0 to %c16
  // CHECK:         %[[WORD:.*]] = memref.load %[[PAGE]]
  // CHECK:         %[[LOW:.*]] = arith.shrui %[[WORD]], %{{.*}} : i32
  // CHECK:         %[[CODE:.*]] = arith.andi %[[LOW]], %[[ONES]]
  // CHECK:         memref.store %[[CODE]], %[[E]][%[[H]], %[[C]]]
  // CHECK:       scf.for %[[B:.*]] = %c0 to %c2
  // CHECK:         %[[PAIR:.*]] = memref.load %[[PAGE]]
  // CHECK:         memref.store %[[PAIR]], %[[P]][%[[H]], %[[B]]]
  func.func @save(%page: !kv.page<#codes>, %h: index, %t: index, %e: memref<2x16xi32>, %p: memref<2x2xi32>) {
    kv.save %page head %h at %t, %e pairs %p : !kv.page<#codes>, memref<2x16xi32> pairs memref<2x2xi32>
    return
  }

  // CHECK-LABEL: func.func @restore(
  // CHECK-SAME:    %[[PAGE:[a-z0-9]+]]: memref<{{[0-9]+}}xi32>, %[[H:[a-z0-9]+]]: index, %[[T:[a-z0-9]+]]: index, %[[E:[a-z0-9]+]]: memref<2x16xi32>, %[[P:[a-z0-9]+]]: memref<2x2xi32>
  // CHECK:       scf.for %[[C:.*]] = %c0 to %c16
  // CHECK:         memref.load %[[E]][%[[H]], %[[C]]]
  // CHECK:         memref.load %[[PAGE]]
  // CHECK:         arith.ori
  // CHECK:         memref.store %{{.*}}, %[[PAGE]]
  // CHECK:       scf.for %[[B:.*]] = %c0 to %c2
  // CHECK:         %[[PAIR:.*]] = memref.load %[[P]][%[[H]], %[[B]]]
  // CHECK:         memref.store %[[PAIR]], %[[PAGE]]
  func.func @restore(%page: !kv.page<#codes>, %h: index, %t: index, %e: memref<2x16xi32>, %p: memref<2x2xi32>) {
    kv.restore %page head %h at %t, %e pairs %p : !kv.page<#codes>, memref<2x16xi32> pairs memref<2x2xi32>
    return
  }

  // A whole word is one element, and there are no pairs.
  // CHECK-LABEL: func.func @word(
  // CHECK-NOT:   arith.shrui
  // CHECK:       %[[WORD:.*]] = memref.load %arg0
  // CHECK-NEXT:  memref.store %[[WORD]], %arg3
  // CHECK-NOT:   scf.for
  func.func @word(%page: !kv.page<#words>, %h: index, %t: index, %e: memref<1x16xi32>) {
    kv.save %page head %h at %t, %e : !kv.page<#words>, memref<1x16xi32>
    return
  }
}
