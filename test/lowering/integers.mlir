// RUN: kvc-opt %s --kv-lower-tiles --canonicalize --cse | FileCheck %s
// RUN: sed 's/dot = "vpmadd"/dot = ""/' %s | kvc-opt --kv-lower-tiles --canonicalize --cse | FileCheck %s --check-prefix=ANY
// RUN: sed 's/lanes = 8, registers = 16, dot = "vpmadd"/lanes = 4, registers = 32, dot = "sdot"/; s/lanes = 8, vectors/lanes = 4, vectors/' %s | kvc-opt --kv-lower-tiles --canonicalize --cse | FileCheck %s --check-prefix=ARM

// Operands of whole numbers: what the target has for sums of small products, and
// arithmetic that any has.

#keys8 = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_channel<bits = 8, group = 16, flush = 16, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 16, block = 16, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#keys512 = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_channel<bits = 8, group = 16, flush = 16, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 512, block = 512, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#keys4 = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_channel<bits = 4, group = 16, flush = 16, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 80, block = 80, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#tokens4 = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_token<bits = 4, group = 16, flush = 1, residual = 0, scales = f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 32, block = 16, lanes_on = "tokens", lanes = 8, vectors = 2, pages = 3>>
#values = #kv.stream<plane = "values", kind = "code", origin = 0, encoding = #kv.affine_channel<bits = 8, group = 16, flush = 16, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 16, block = 16, lanes_on = "channels", lanes = 8, vectors = 2, pages = 3>>

module attributes {kv.target = #kv.target<name = "t", lanes = 8, registers = 16, dot = "vpmadd">} {
  // A word has four codes: the even ones masked, the odd ones shifted, each
  // two in halves of words. A word of the operand has what meets them.
  // CHECK-LABEL: func.func @pairs(
  // CHECK-SAME:    %[[O:[a-z0-9]+]]: memref<2x16xi32>, %[[Z:[a-z0-9]+]]: memref<2x16xf32>, %[[PAGE:[a-z0-9]+]]: memref<{{[0-9]+}}xi32>
  // CHECK-DAG:   %[[MASK:.*]] = arith.constant dense<255> : vector<16xi16>
  // CHECK-DAG:   %[[EIGHT:.*]] = arith.constant dense<8> : vector<16xi16>
  // CHECK:       %[[SUMS:[a-z0-9]+]]:4 = scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args({{.*}}) -> (vector<8xi32>, vector<8xi32>, vector<8xi32>, vector<8xi32>)
  // CHECK:         %[[WORDS:.*]] = vector.load %[[PAGE]]
  // CHECK:         %[[HALVES:.*]] = vector.bitcast %[[WORDS]] : vector<8xi32> to vector<16xi16>
  // CHECK:         %[[EVEN:.*]] = arith.andi %[[HALVES]], %[[MASK]]
  // CHECK:         %[[PAIR:.*]] = memref.load %[[O]][%c0, %{{.*}}]
  // CHECK:         %[[ALL:.*]] = vector.broadcast %[[PAIR]] : i32 to vector<8xi32>
  // CHECK:         %[[NUMBERS:.*]] = vector.bitcast %[[ALL]] : vector<8xi32> to vector<16xi16>
  // CHECK:         %[[PRODUCTS:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[EVEN]], %[[NUMBERS]])
  // CHECK:         arith.addi %{{.*}}, %[[PRODUCTS]]
  // CHECK:         arith.shrui %[[HALVES]], %[[EIGHT]]
  // CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
  // CHECK-NOT:     llvm.call_intrinsic
  // CHECK:       arith.sitofp %[[SUMS]]#0
  // CHECK:       %[[STEP:.*]] = memref.load %[[Z]][%c0, %c1]
  // CHECK:       %[[ZEROS:.*]] = memref.load %[[Z]][%c0, %c0]
  // CHECK:       vector.fma

  // ANY-LABEL: func.func @pairs(
  // ANY:       arith.extui %{{.*}} : vector<16xi16> to vector<16xi32>
  // ANY:       arith.extsi %{{.*}} : vector<16xi16> to vector<16xi32>
  // ANY:       arith.muli
  // ANY:       %[[A:.*]], %[[B:.*]] = vector.deinterleave %{{.*}} : vector<16xi32> -> vector<8xi32>
  // ANY:       arith.addi %[[A]], %[[B]]
  // ANY-NOT:   llvm.call_intrinsic
  // Parts of two vectors are sorted: the factor of 8 lanes' codes is one number,
  // a lane of what is read of the operand at once.
  // ARM-LABEL: func.func @pairs(
  // ARM-DAG:   %[[BYTE:.*]] = arith.constant dense<255> : vector<8xi16>
  // ARM-DAG:   %[[SHIFT:.*]] = arith.constant dense<8> : vector<8xi16>
  // ARM:       scf.for %{{.*}} = %c0 to %c4 step %c2 iter_args({{.*}}) -> (vector<4xi32>, vector<4xi32>, vector<4xi32>, vector<4xi32>)
  // ARM:         %[[EVEN:.*]] = vector.shuffle %[[A:.*]], %[[B:.*]] [0, 2, 4, 6, 8, 10, 12, 14] : vector<8xi16>, vector<8xi16>
  // ARM:         %[[FIRST:.*]] = arith.andi %[[EVEN]], %[[BYTE]]
  // ARM:         %[[ODD:.*]] = vector.shuffle %[[A]], %[[B]] [1, 3, 5, 7, 9, 11, 13, 15] : vector<8xi16>, vector<8xi16>
  // ARM:         %[[WORDS:.*]] = vector.load %{{.*}} : memref<2x16xi32>, vector<4xi32>
  // ARM:         %[[HALVES:.*]] = vector.bitcast %[[WORDS]] : vector<4xi32> to vector<8xi16>
  // ARM:         %[[NUMBER:.*]] = vector.shuffle %[[HALVES]], %[[HALVES]] [0, 0, 0, 0]
  // ARM:         %[[LOW:.*]] = vector.extract_strided_slice %[[FIRST]] {offsets = [0],
  // ARM:         %[[PRODUCT:.*]] = llvm.call_intrinsic "llvm.aarch64.neon.smull.v4i32"(%[[LOW]], %[[NUMBER]])
  // ARM:         arith.addi %{{.*}}, %[[PRODUCT]]
  // ARM:         %[[HIGH:.*]] = vector.extract_strided_slice %[[FIRST]] {offsets = [4],
  // ARM:         llvm.call_intrinsic "llvm.aarch64.neon.smull.v4i32"(%[[HIGH]], %[[NUMBER]])
  // ARM:         vector.shuffle %[[HALVES]], %[[HALVES]] [1, 1, 1, 1]
  // ARM:         %[[SECOND:.*]] = arith.shrui %[[EVEN]], %[[SHIFT]]
  // ARM-NOT:     arith.andi %[[SECOND]]
  // ARM:         vector.shuffle %[[HALVES]], %[[HALVES]] [2, 2, 2, 2]
  // ARM:         arith.sitofp
  func.func @pairs(%o: !kv.tile<2x16, i16>, %z: !kv.tile<2x5>, %page: !kv.page<#keys8>, %h: index, %t: index, %lead: index, %n: index) -> !kv.tile<2x64> {
    %s = kv.contract %o zeros %z with %page head %h run %t, %lead, %n scales "operand" schedule <heads = 2, run = 64, rows = 1, arithmetic = i16> : <2x16, i16>, <#keys8> zeros !kv.tile<2x5> -> <2x64>
    return %s : !kv.tile<2x64>
  }

  // 512 channels of 255 * 32767 overflow 32 bits: sums of 256 of them are joined
  // in f32.
  // CHECK-LABEL: func.func @overflow(
  // CHECK:       scf.for %[[FROM:[a-z0-9]+]] = %c0 to %c128 step %c64 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>)
  // CHECK:         %[[TO:.*]] = arith.addi %[[FROM]], %c64
  // CHECK:         scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %c1 iter_args({{.*}}) -> (vector<8xi32>, vector<8xi32>)
  // CHECK:         arith.sitofp
  // CHECK:         arith.addf
  func.func @overflow(%o: !kv.tile<1x512, i16>, %z: !kv.tile<1x5>, %page: !kv.page<#keys512>, %h: index, %t: index, %lead: index, %n: index) -> !kv.tile<1x64> {
    %s = kv.contract %o zeros %z with %page head %h run %t, %lead, %n scales "operand" : <1x512, i16>, <#keys512> zeros !kv.tile<1x5> -> <1x64>
    return %s : !kv.tile<1x64>
  }

  // Bytes: sums of i16 have room for 15 * 127 * 2 eight times, four words.
  // CHECK-LABEL: func.func @quads(
  // CHECK:       scf.for %[[FROM:[a-z0-9]+]] = %c0 to %c10 step %c4 iter_args({{.*}}) -> (vector<8xi32>, vector<8xi32>)
  // CHECK:         scf.for %{{.*}} = %[[FROM]] to %{{.*}} step %c1 iter_args({{.*}}) -> (vector<16xi16>, vector<16xi16>)
  // CHECK-COUNT-4:   llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"

  // ANY-LABEL: func.func @quads(
  // ANY:       arith.extui %{{.*}} : vector<32xi8> to vector<32xi32>
  // ANY:       vector.deinterleave %{{.*}} : vector<32xi32> -> vector<16xi32>
  // ANY:       vector.deinterleave %{{.*}} : vector<16xi32> -> vector<8xi32>
  // ANY-NOT:   llvm.call_intrinsic

  // ARM-LABEL: func.func @quads(
  // Two words that meet a register of the operand go together. Bytes are shifted
  // as bytes.
  // ARM-DAG:   %[[FOUR:.*]] = arith.constant dense<4> : vector<16xi8>
  // ARM-DAG:   %[[MASK:.*]] = arith.constant dense<15> : vector<16xi8>
  // ARM:       scf.for %{{.*}} = %c0 to %c10 step %c2 iter_args({{.*}}) -> (vector<4xi32>, vector<4xi32>)
  // ARM:         %[[BYTES:.*]] = vector.bitcast %{{.*}} : vector<4xi32> to vector<16xi8>
  // ARM:         %[[LOW:.*]] = arith.andi %[[BYTES]], %[[MASK]]
  // ARM:         %[[FACTORS:.*]] = vector.load %{{.*}}[%c0, %{{.*}}] : memref<1x32xi32>, vector<4xi32>
  // ARM:         %[[FACTOR:.*]] = vector.shuffle %[[FACTORS]], %[[FACTORS]] [0, 0, 0, 0]
  // ARM:         %[[NUMBERS:.*]] = vector.bitcast %[[FACTOR]] : vector<4xi32> to vector<16xi8>
  // ARM:         llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"(%{{.*}}, %[[LOW]], %[[NUMBERS]])
  // ARM:         %[[HIGH:.*]] = arith.shrui %[[BYTES]], %[[FOUR]]
  // ARM-NOT:     arith.andi %[[HIGH]]
  // ARM:         vector.shuffle %[[FACTORS]], %[[FACTORS]] [1, 1, 1, 1]
  // ARM-COUNT-6: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
  // ARM-NOT:   llvm.call_intrinsic
  // ARM:       return
  func.func @quads(%o: !kv.tile<1x80, i8>, %z: !kv.tile<1x5>, %page: !kv.page<#keys4>, %h: index, %t: index, %lead: index, %n: index) -> !kv.tile<1x64> {
    %s = kv.contract %o zeros %z with %page head %h run %t, %lead, %n scales "operand" : <1x80, i8>, <#keys4> zeros !kv.tile<1x5> -> <1x64>
    return %s : !kv.tile<1x64>
  }

  // The largest |x| makes the step; a sum with 1.5 * 2^23 has the number in its
  // low bits, and what is left times the middle code goes into the zeros. Where
  // channels of the least scale have the largest |x|, numbers do not fit.
  // CHECK-LABEL: func.func @fold(
  // CHECK-DAG:   %[[LEAST:.*]] = arith.constant dense<6.10351563E-5> : vector<8xf32>
  // CHECK-DAG:   %[[MAGIC:.*]] = arith.constant dense<0x4B400000> : vector<8xf32>
  // CHECK-DAG:   %[[MOST:.*]] = arith.constant 3.276700e+04
  // CHECK-DAG:   %[[MIDDLE:.*]] = arith.constant 1.275000e+02
  // CHECK:       arith.cmpf ole, %{{.*}}, %[[LEAST]]
  // CHECK:       math.absf
  // CHECK:       %[[STEP:.*]] = arith.divf %{{.*}}, %[[MOST]]
  // CHECK:       arith.divf %[[MOST]], %{{.*}}
  // CHECK:       %[[SUM:.*]] = {{(math|vector)}}.fma %[[X:.*]], %{{.*}}, %[[MAGIC]]
  // CHECK:       %[[WHOLE:.*]] = arith.subf %[[SUM]], %[[MAGIC]]
  // CHECK:       %[[MINUS:.*]] = arith.negf %[[WHOLE]]
  // CHECK:       vector.fma %[[MINUS]], %{{.*}}, %[[X]]
  // CHECK:       arith.trunci %{{.*}} : vector<8xi32> to vector<8xi16>
  // CHECK:       vector.shuffle {{.*}} [0, 2, 1, 3, 4, 6, 5, 7]
  // CHECK:       arith.mulf %{{.*}}, %[[MIDDLE]]
  // CHECK:       %[[FITS:.*]] = arith.cmpf oeq
  // CHECK:       return %{{.*}}, %{{.*}}, %[[FITS]] : memref<1x16xi32>, memref<1x16xf32>, i1
  func.func @fold(%q: !kv.tile<1x16>, %page: !kv.page<#keys8>, %h: index, %t: index, %lead: index, %n: index) -> (!kv.tile<1x16, i16>, !kv.tile<1x5>, i1) {
    %o, %z, %ok = kv.fold %q from %page head %h run %t, %lead, %n scales "operand" : <1x16>, <#keys8> -> <1x16, i16>, <1x5> fits i1
    return %o, %z, %ok : !kv.tile<1x16, i16>, !kv.tile<1x5>, i1
  }

  // What a token of the run may lose: of each block of 16 channels half a step
  // times half of 15 times its scale; 0.1 / (16 * 15 / 4) is what is allowed.
  // Lanes of other tokens count for nothing. The largest step of two rows.
  // CHECK-LABEL: func.func @fits(
  // CHECK-SAME:    %[[Z:[a-z0-9]+]]: memref<2x32xf32>, %[[PAGE:[a-z0-9]+]]: memref<{{[0-9]+}}xi32>
  // CHECK-DAG:   %[[LIMIT:.*]] = arith.constant 0.00166666671 : f32
  // CHECK:       scf.for
  // CHECK:         memref.load %[[Z]]
  // CHECK:         arith.cmpf ogt
  // CHECK:       %[[MOST:.*]] = scf.for %[[COLUMN:.*]] = %c0 to %{{.*}} step %c8 iter_args
  // CHECK:         %[[LOST:.*]] = scf.for %{{.*}} = %c0 to %c2 step %c1
  // CHECK:           vector.fma
  // CHECK:         arith.andi
  // CHECK:         arith.select %{{.*}}, %[[LOST]]
  // CHECK:         arith.cmpf ogt
  // CHECK:       %[[FITS:.*]] = arith.cmpf ole, %{{.*}}, %[[LIMIT]]
  // CHECK:       return %[[FITS]]
  func.func @fits(%z: !kv.tile<2x10>, %page: !kv.page<#tokens4>, %h: index, %t: index, %lead: index, %n: index) -> i1 {
    %ok = kv.fits %z from %page head %h run %t, %lead, %n : !kv.tile<2x10>, !kv.page<#tokens4>
    return %ok : i1
  }

  // Weights that meet values without a scale: two numbers each, a row apart; the
  // second one's step is 2^-15 of the first one's.
  // CHECK-LABEL: func.func @weights(
  // CHECK-DAG:   arith.constant dense<3.05175781E-5> : vector<8xf32>
  // CHECK-COUNT-2: vector.shuffle {{.*}} [0, 2, 1, 3, 4, 6, 5, 7]
  // CHECK:       scf.for {{.*}} -> (vector<8xi32>, vector<8xi32>)
  // CHECK:       scf.for {{.*}} -> (vector<8xi32>, vector<8xi32>)
  // CHECK:       arith.muli
  // CHECK:       arith.subi
  func.func @weights(%w: !kv.tile<1x64>, %page: !kv.page<#values>, %h: index, %t: index, %lead: index, %n: index, %state: !kv.state<1x16>) -> !kv.state<1x16> {
    %o, %z, %ok = kv.fold %w from %page head %h run %t, %lead, %n scales "result" : <1x64>, <#values> -> <2x64, i16>, <1x5> fits i1
    %next = kv.accumulate %o zeros %z with %page head %h run %t, %lead, %n into %state scales "result" : <2x64, i16>, <#values>, <1x16> zeros !kv.tile<1x5> -> <1x16>
    return %next : !kv.state<1x16>
  }
}
