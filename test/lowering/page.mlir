// RUN: kvc-opt %s --kv-lower-tiles --canonicalize --cse | FileCheck %s

// view[stream][(token - origin) / tokens % pages]; a page is a memref of its
// words: two heads' records of 8 channels of 64 tokens.

#keys = #kv.stream<plane = "keys", kind = "original", origin = 5, encoding = #kv.float<f32>, layout = #kv.layout<heads = 2, tokens = 64, channels = 8, block = 8, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // CHECK-LABEL: func.func @page(
  // CHECK-SAME:    %[[VIEW:[a-z0-9]+]]: !llvm.ptr, %[[TOKEN:[a-z0-9]+]]: index) -> memref<1024xi32>
  // CHECK-DAG:   %[[ORIGIN:.*]] = arith.constant 5 : index
  // CHECK-DAG:   %[[TOKENS:.*]] = arith.constant 64 : index
  // CHECK-DAG:   %[[PAGES:.*]] = arith.constant 3 : index
  // CHECK-DAG:   %[[WORDS:.*]] = llvm.mlir.constant(1024 : i64)
  // CHECK:       %[[OFFSET:.*]] = arith.subi %[[TOKEN]], %[[ORIGIN]]
  // CHECK:       %[[NUMBER:.*]] = arith.divui %[[OFFSET]], %[[TOKENS]]
  // CHECK:       %[[ENTRY:.*]] = arith.remui %[[NUMBER]], %[[PAGES]]
  // CHECK:       %[[WIDE:.*]] = arith.index_cast %[[ENTRY]] : index to i64
  // CHECK:       %[[PLACE:.*]] = llvm.getelementptr %[[VIEW]][7]
  // CHECK:       %[[TABLE:.*]] = llvm.load %[[PLACE]]
  // CHECK:       %[[SLOT:.*]] = llvm.getelementptr %[[TABLE]][%[[WIDE]]]
  // CHECK:       %[[PAGE:.*]] = llvm.load %[[SLOT]]
  // CHECK:       llvm.insertvalue %[[PAGE]], %{{.*}}[0]
  // CHECK:       llvm.insertvalue %[[PAGE]], %{{.*}}[1]
  // CHECK:       llvm.insertvalue %[[WORDS]], %{{.*}}[3, 0]
  // CHECK:       builtin.unrealized_conversion_cast %{{.*}} to memref<1024xi32>
  func.func @page(%view: !kv.view, %token: index) -> !kv.page<#keys> {
    %page = kv.page %view[7] at %token : <#keys>
    return %page : !kv.page<#keys>
  }
}
