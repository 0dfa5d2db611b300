// RUN: kvc-opt %s --kv-outline-kernels -split-input-file -verify-diagnostics | FileCheck %s

#rope = #kv.rope<theta = 1.0e4, dims = 4, pairing = "half">
#shape = #kv.shape<heads = 2, kv_heads = 1, head_dim = 4, value_dim = 4, io = f16>
#policy = #kv.policy<
  keys = #kv.float<f32>, values = #kv.float<f32>, residual = #kv.float<f32>,
  key_sinks = #kv.float<f32>, value_sinks = #kv.float<f32>, time = #kv.all<sinks = 5, tokens = 64>,
  position = #kv.absolute<#rope>, depth = #kv.own, score = [#kv.plain<scale = 1.0>], rollback = 0>
#keys = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 16, channels = 4, block = 4, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
module attributes {kv.target = #kv.target<name = "vulkan", lanes = 8, registers = 32, lane = "invocation">} {
  kv.step @m_step0 shape #shape policy #policy {
  }
  // What needs the length alone stays; what else the host would call goes.
  // CHECK-NOT:   @m_step0_append
  // CHECK:       func.func private @m_step0_ranges(%{{.*}}: index) -> index
  // CHECK-NOT:   @m_step0_append
  // CHECK-NOT:   @m_step0_merge
  func.func private @m_step0_ranges(%seen: index) -> index {
    return %seen : index
  }
  func.func private @m_step0_append(%view: !kv.view, %token: index) -> index {
    return %token : index
  }
  func.func private @m_step0_merge(%parts: !kv.parts, %count: index) {
    return
  }

  // The head is the workgroup's number; scalars are members of one buffer.
  // CHECK:       gpu.module @m_step0_attend {
  // CHECK-NEXT:    gpu.func @m_step0_attend(%{{.*}}: !kv.view, %{{.*}}: memref<1x2x4xf16>, %[[OUT:.*]]: memref<1x2x4xf16>, %[[ALL:.*]]: memref<3xi32, 7>) kernel attributes {known_block_size = array<i32: 8, 1, 1>}
  // CHECK:           %[[HEAD:.*]] = gpu.block_id x
  // CHECK:           %[[SEEN:.*]] = memref.load %[[ALL]][%c0
  // CHECK:           %[[LENGTH:.*]] = arith.index_cast %[[SEEN]] : i32 to index
  // CHECK:           memref.load %[[ALL]][%c1
  // CHECK:           %[[LAST:.*]] = memref.load %[[ALL]][%c2
  // CHECK:           %[[TRUE:.*]] = arith.cmpi ne, %[[LAST]], %c0
  // CHECK:           kv.page %{{.*}}[0] at %[[LENGTH]]
  // CHECK:           arith.addi %[[HEAD]],
  // CHECK:           scf.if %[[TRUE]]
  // CHECK:           gpu.return
  func.func private @m_step0_attend(%view: !kv.view, %head: index, %seen: index, %to: index, %q: memref<1x2x4xf16>, %out: memref<1x2x4xf16>, %partial: i1) {
    %page = kv.page %view[0] at %seen : <#keys>
    %row = arith.addi %head, %to : index
    scf.if %partial {
      %one = arith.constant 1 : index
      %tile = kv.rows %q[%row] of %one each 2 : memref<1x2x4xf16> -> <2x4>
    }
    return
  }
}

// -----

// expected-error@below {{kernels need a target whose lanes are invocations}}
module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
}
