// RUN: kvc-opt %s -pass-pipeline='builtin.module(gpu.module(kv-describe-device))' -split-input-file -verify-diagnostics | FileCheck %s

// CHECK:       gpu.module @m attributes {spirv.target_env = #spirv.target_env<#spirv.vce<v1.3, [Shader, Int16, Float16, StorageBuffer16BitAccess, GroupNonUniform, GroupNonUniformShuffle], [SPV_KHR_storage_buffer_storage_class, SPV_KHR_16bit_storage]>
// CHECK-SAME:    max_compute_shared_memory_size = 32768
// CHECK-SAME:    subgroup_size = 16
// CHECK:       gpu.func @k
// CHECK-SAME:    spirv.entry_point_abi = #spirv.entry_point_abi<workgroup_size = [16, 1, 1]>
gpu.module @m {
  gpu.func @k(%x: memref<1xf16>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@below {{needs known_block_size: its lanes}}
  gpu.func @k() kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@below {{numbers of bf16 are not generated for vulkan yet: what is stored may be bf16, io may not}}
  gpu.func @k(%x: memref<1xbf16>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: i16, %out: memref<1xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-error@below {{numbers of bf16 are not generated for vulkan yet}}
    %y = arith.bitcast %x : i16 to bf16
    %z = arith.extf %y : bf16 to f32
    memref.store %z, %out[%c0] : memref<1xf32>
    gpu.return
  }
}
