// RUN: kvc-opt %s -allow-unregistered-dialect -pass-pipeline='builtin.module(gpu.module(gpu.func(kv-place-barriers)))' -split-input-file -verify-diagnostics | FileCheck %s

gpu.module @m {
  // Owners need no order: column 8 i + lane, or what the owner's branch stores.
  // CHECK-LABEL: gpu.func @owners
  // CHECK-NOT:   gpu.barrier
  // CHECK:       gpu.return
  gpu.func @owners(%x: f32, %column: index) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %tile = memref.alloc() : memref<1x80xf32, 3>
    %lane = gpu.lane_id
    scf.for %i = %c0 to %c64 step %c8 {
      %mine = arith.addi %i, %lane : index
      memref.store %x, %tile[%c0, %mine] : memref<1x80xf32, 3>
    }
    %owner = arith.remui %column, %c8 : index
    %is = arith.cmpi eq, %lane, %owner : index
    scf.if %is {
      memref.store %x, %tile[%c0, %column] : memref<1x80xf32, 3>
    }
    %times = arith.muli %column, %c8 : index
    %place = arith.addi %times, %lane : index
    %y = memref.load %tile[%c0, %place] : memref<1x80xf32, 3>
    memref.store %y, %tile[%c0, %lane] : memref<1x80xf32, 3>
    gpu.return
  }

  // What all read after an owner wrote it, and what an owner writes after all
  // read it. The barrier stands before the loop, not in it.
  // CHECK-LABEL: gpu.func @others
  // CHECK:       memref.store
  // CHECK-NEXT:  gpu.barrier
  // CHECK-NEXT:  scf.for
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:   gpu.barrier
  // CHECK:       }
  // CHECK-NEXT:  gpu.barrier
  // CHECK-NEXT:  memref.store
  // CHECK-NOT:   gpu.barrier
  // CHECK:       gpu.return
  gpu.func @others(%x: f32, %n: index) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %tile = memref.alloc() : memref<1x16xf32, 3>
    %lane = gpu.lane_id
    memref.store %x, %tile[%c0, %lane] : memref<1x16xf32, 3>
    scf.for %i = %c0 to %n step %c1 {
      %y = memref.load %tile[%c0, %i] : memref<1x16xf32, 3>
      "test.use"(%y) : (f32) -> ()
    }
    memref.store %x, %tile[%c0, %lane] : memref<1x16xf32, 3>
    gpu.return
  }

  // What one trip of a loop leaves, the next one meets.
  // CHECK-LABEL: gpu.func @trips
  // CHECK:       scf.while
  // CHECK:       do
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NOT:   gpu.barrier
  // CHECK:       gpu.return
  gpu.func @trips(%n: index) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %tile = memref.alloc() : memref<1x16xf32, 3>
    %lane = gpu.lane_id
    scf.while (%i = %c0) : (index) -> index {
      %more = arith.cmpi slt, %i, %n : index
      scf.condition(%more) %i : index
    } do {
    ^bb0(%i: index):
      %y = memref.load %tile[%c0, %c0] : memref<1x16xf32, 3>
      memref.store %y, %tile[%c0, %lane] : memref<1x16xf32, 3>
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }

  // Columns that begin between vectors, or that another lane owns, are foreign;
  // another tile's are nobody's business.
  // CHECK-LABEL: gpu.func @between
  // CHECK:       memref.store %{{.*}}, %[[TILE:.*]][%{{.*}}, %{{.*}}]
  // CHECK-NEXT:  memref.store
  // CHECK:       gpu.barrier
  // CHECK-NEXT:  memref.load %[[TILE]]
  // CHECK:       gpu.barrier
  // CHECK-NEXT:  scf.if
  // CHECK-NOT:   gpu.barrier
  // CHECK:       gpu.return
  gpu.func @between(%x: f32, %column: index) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %tile = memref.alloc() : memref<1x16xf32, 3>
    %other = memref.alloc() : memref<1x16xf32, 3>
    %lane = gpu.lane_id
    memref.store %x, %tile[%c0, %lane] : memref<1x16xf32, 3>
    memref.store %x, %other[%c0, %lane] : memref<1x16xf32, 3>
    %place = arith.addi %lane, %c5 : index
    %y = memref.load %tile[%c0, %place] : memref<1x16xf32, 3>
    %is = arith.cmpi eq, %lane, %c0 : index
    scf.if %is {
      memref.store %y, %tile[%c0, %c5] : memref<1x16xf32, 3>
    }
    gpu.return
  }

  // A branch that all lanes take alike is walked into.
  // CHECK-LABEL: gpu.func @branch
  // CHECK:       memref.store
  // CHECK:       gpu.barrier
  // CHECK-NEXT:  scf.if
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  gpu.func @branch(%x: f32, %all: memref<1xi32, 7>) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
    %c0 = arith.constant 0 : index
    %none = arith.constant 0 : i32
    %tile = memref.alloc() : memref<1x16xf32, 3>
    %lane = gpu.lane_id
    memref.store %x, %tile[%c0, %lane] : memref<1x16xf32, 3>
    %word = memref.load %all[%c0] : memref<1xi32, 7>
    %is = arith.cmpi ne, %word, %none : i32
    scf.if %is {
      %y = memref.load %tile[%c0, %c0] : memref<1x16xf32, 3>
      memref.store %y, %tile[%c0, %lane] : memref<1x16xf32, 3>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @apart(%x: f32) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %tile = memref.alloc() : memref<1x16xf32, 3>
    %lane = gpu.lane_id
    %is = arith.cmpi slt, %lane, %c5 : index
    // expected-error@below {{lanes that go apart cannot wait for each other}}
    scf.if %is {
      memref.store %x, %tile[%c0, %lane] : memref<1x16xf32, 3>
      %y = memref.load %tile[%c0, %c0] : memref<1x16xf32, 3>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@below {{needs known_block_size: its lanes}}
  gpu.func @unknown() kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @region() kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
    // expected-error@below {{is no loop and no branch that barriers can be placed in}}
    scf.execute_region {
      scf.yield
    }
    gpu.return
  }
}
