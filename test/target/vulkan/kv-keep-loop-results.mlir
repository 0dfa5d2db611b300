// RUN: kvc-opt %s -pass-pipeline='builtin.module(gpu.module(gpu.func(kv-keep-loop-results)))' | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: gpu.func @unknown
  // CHECK-SAME:    %[[N:.*]]: index, %[[X:.*]]: f32, %[[OUT:.*]]: memref<1xf32>
  // CHECK:       %[[C0:.*]] = arith.constant 0
  // CHECK:       %[[SUM:.*]] = scf.for %{{.*}} = %[[C0]] to %[[N]]
  // CHECK:       %[[SOME:.*]] = arith.cmpi slt, %[[C0]], %[[N]] : index
  // CHECK:       %[[KEPT:.*]] = arith.select %[[SOME]], %[[SUM]], %[[X]] : f32
  // CHECK:       memref.store %[[KEPT]], %[[OUT]]
  gpu.func @unknown(%n: index, %x: f32, %out: memref<1xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> (f32) {
      %next = arith.addf %y, %y : f32
      scf.yield %next : f32
    }
    memref.store %sum, %out[%c0] : memref<1xf32>
    gpu.return
  }

  // Where it is known that there are trips, or nothing is carried, nothing is done.
  // CHECK-LABEL: gpu.func @known
  // CHECK-NOT:   arith.select
  // CHECK:       gpu.return
  gpu.func @known(%n: index, %x: f32, %out: memref<1xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %x) -> (f32) {
      %next = arith.addf %y, %y : f32
      scf.yield %next : f32
    }
    scf.for %i = %c0 to %n step %c1 {
      memref.store %sum, %out[%c0] : memref<1xf32>
    }
    gpu.return
  }
}
