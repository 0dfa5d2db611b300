// RUN: kvc-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(kv-share-tiles)))' | FileCheck %s
// RUN: kvc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(kv-share-tiles))' | FileCheck %s --check-prefix=FRAME
// RUN: not kvc-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(kv-share-tiles{limit=127})))' 2>&1 | FileCheck %s --check-prefix=LIMIT
// RUN: kvc-opt %s -split-input-file -pass-pipeline='builtin.module(gpu.module(gpu.func(kv-share-tiles{limit=192})))' -o /dev/null

gpu.module @m {
  // Two tiles of each loop, and one that goes from loop to loop: three in all, of
  // 64 bytes each.
  // CHECK-LABEL: gpu.func @loops
  // CHECK-COUNT-3: memref.alloc() : memref<1x16xf32, 3>
  // CHECK-NOT:   memref.alloc
  // CHECK:       scf.for
  // CHECK:         memref.load %[[BOTH:[a-z0-9_]+]][
  // CHECK:         memref.store %{{.*}}, %[[A:[a-z0-9_]+]][
  // CHECK:         memref.store %{{.*}}, %[[B:[a-z0-9_]+]][
  // CHECK:       scf.for
  // CHECK:         memref.load %[[BOTH]][
  // CHECK:         memref.store %{{.*}}, %[[A]][
  // CHECK:         memref.store %{{.*}}, %[[B]][
  // LIMIT:       error: its tiles take 192 bytes of a workgroup's memory, which has 127
  gpu.func @loops(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %both = memref.alloc() : memref<1x16xf32, 3>
    %a0 = memref.alloc() : memref<1x16xf32, 3>
    %b0 = memref.alloc() : memref<1x16xf32, 3>
    %a1 = memref.alloc() : memref<1x16xf32, 3>
    %b1 = memref.alloc() : memref<1x16xf32, 3>
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %both[%c0, %c0] : memref<1x16xf32, 3>
      memref.store %x, %a0[%c0, %c0] : memref<1x16xf32, 3>
      memref.store %x, %b0[%c0, %c0] : memref<1x16xf32, 3>
    }
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %both[%c0, %c0] : memref<1x16xf32, 3>
      memref.store %x, %a1[%c0, %c0] : memref<1x16xf32, 3>
      memref.store %x, %b1[%c0, %c0] : memref<1x16xf32, 3>
    }
    gpu.return
  }
}

// -----

// On a frame, of a CPU.
// FRAME-LABEL: func.func @frame
// FRAME-COUNT-1: memref.alloca() {alignment = 64 : i64} : memref<1x16xf32>
// FRAME-NOT:     memref.alloca
// FRAME:         scf.for
// FRAME:           memref.store %{{.*}}, %[[A:[a-z0-9_]+]][
// FRAME:         scf.for
// FRAME:           memref.store %{{.*}}, %[[A]][
func.func @frame(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloca() {alignment = 64 : i64} : memref<1x16xf32>
  %b = memref.alloca() {alignment = 64 : i64} : memref<1x16xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %a[%c0, %c0] : memref<1x16xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %b[%c0, %c0] : memref<1x16xf32>
  }
  return
}

// -----

// What one operation has done with, a later one may have, in the loop that all is
// in too.
// FRAME-LABEL: func.func @spans
// FRAME-COUNT-1: memref.alloca() {alignment = 64 : i64} : memref<1x16xf32>
// FRAME-NOT:     memref.alloca
// FRAME:         scf.for
// FRAME:           memref.store %{{.*}}, %[[A:[a-z0-9_]+]][
// FRAME:           memref.load %[[A]][
// FRAME:           memref.store %{{.*}}, %[[A]][
func.func @spans(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloca() {alignment = 64 : i64} : memref<1x16xf32>
  %b = memref.alloca() {alignment = 64 : i64} : memref<1x16xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %a[%c0, %c0] : memref<1x16xf32>
    %y = memref.load %a[%c0, %c0] : memref<1x16xf32>
    memref.store %y, %b[%c0, %c0] : memref<1x16xf32>
  }
  return
}
