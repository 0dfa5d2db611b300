// RUN: kvc-opt %s --kv-lower-tiles --canonicalize --cse | FileCheck %s

// What is added up one by one is at most 32 terms long: sums over more channels
// are made of sums over stretches of them.

#keys64 = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 64, block = 64, lanes_on = "tokens", lanes = 8, vectors = 1, pages = 3>>
#keys72 = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 72, block = 72, lanes_on = "tokens", lanes = 8, vectors = 1, pages = 3>>
#keys2048 = #kv.stream<plane = "keys", kind = "original", origin = 0, encoding = #kv.float<f32>, layout = #kv.layout<heads = 1, tokens = 64, channels = 2048, block = 2048, lanes_on = "tokens", lanes = 8, vectors = 1, pages = 3>>
#token = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_token<bits = 8, group = 4, flush = 1, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 128, block = 4, lanes_on = "tokens", lanes = 8, vectors = 1, pages = 3>>
#wide = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_token<bits = 8, group = 64, flush = 1, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 128, block = 64, lanes_on = "tokens", lanes = 8, vectors = 1, pages = 3>>
#channel = #kv.stream<plane = "keys", kind = "code", origin = 0, encoding = #kv.affine_channel<bits = 8, group = 64, flush = 64, residual = 0, scales = f16>, layout = #kv.layout<heads = 1, tokens = 64, channels = 512, block = 512, lanes_on = "tokens", lanes = 8, vectors = 1, pages = 3>>

module attributes {kv.target = #kv.target<name = "x86-64-v3", lanes = 8, registers = 16>} {
  // CHECK-LABEL: func.func @whole(
  // CHECK:       %[[DOT:.*]] = scf.for %[[FROM:[a-z0-9]+]] = %c0 to %c64 step %c32 iter_args(%[[SUM:.*]] = %[[NONE:[a-z0-9_]+]])
  // CHECK:         %[[TO:.*]] = arith.addi %[[FROM]], %c32
  // CHECK:         %[[PART:.*]] = scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %c1 iter_args(%[[OLD:.*]] = %[[NONE]])
  // CHECK:           %[[NEXT:.*]] = vector.fma %{{.*}}, %{{.*}}, %[[OLD]]
  // CHECK-NEXT:      scf.yield %[[NEXT]]
  // CHECK:         %[[NEW:.*]] = arith.addf %[[SUM]], %[[PART]]
  // CHECK-NEXT:    scf.yield %[[NEW]]
  // CHECK:       vector.store %[[DOT]]
  func.func @whole(%q: !kv.tile<1x64>, %page: !kv.page<#keys64>, %h: index, %t: index, %n: index) -> !kv.tile<1x64> {
    %lead = arith.constant 0 : index
    %s = kv.contract %q with %page head %h run %t, %lead, %n scales "none" : <1x64>, <#keys64> -> <1x64>
    return %s : !kv.tile<1x64>
  }

  // The last stretch is shorter.
  // CHECK-LABEL: func.func @rest(
  // CHECK:       scf.for %[[FROM:[a-z0-9]+]] = %c0 to %c72 step %c32
  // CHECK:         %[[NEXT:.*]] = arith.addi %[[FROM]], %c32
  // CHECK:         %[[TO:.*]] = arith.minsi %[[NEXT]], %c72
  // CHECK:         scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %c1
  func.func @rest(%q: !kv.tile<1x72>, %page: !kv.page<#keys72>, %h: index, %t: index, %n: index) -> !kv.tile<1x64> {
    %lead = arith.constant 0 : index
    %s = kv.contract %q with %page head %h run %t, %lead, %n scales "none" : <1x72>, <#keys72> -> <1x64>
    return %s : !kv.tile<1x64>
  }

  // Sums of many stretches are made of stretches themselves.
  // CHECK-LABEL: func.func @many(
  // CHECK:       scf.for %[[FROM:[a-z0-9]+]] = %c0 to %c2048 step %c1024
  // CHECK:         %[[TO:.*]] = arith.addi %[[FROM]], %c1024
  // CHECK:         scf.for %[[PART:[a-z0-9]+]] = %[[FROM]] to %[[TO]] step %c32
  // CHECK:           scf.for %{{.*}} = %[[PART]] to
  func.func @many(%q: !kv.tile<1x2048>, %page: !kv.page<#keys2048>, %h: index, %t: index, %n: index) -> !kv.tile<1x64> {
    %lead = arith.constant 0 : index
    %s = kv.contract %q with %page head %h run %t, %lead, %n scales "none" : <1x2048>, <#keys2048> -> <1x64>
    return %s : !kv.tile<1x64>
  }

  // With a scale for each block of channels, a block adds twice: its codes and its
  // zeros.
  // CHECK-LABEL: func.func @blocks(
  // CHECK:       scf.for %[[FROM:[a-z0-9]+]] = %c0 to %c32 step %c16 iter_args(%[[SUM:.*]] =
  // CHECK:         %[[PART:.*]] = scf.for %{{.*}} = %[[FROM]] to
  // CHECK:         arith.addf %[[SUM]], %[[PART]]
  func.func @blocks(%o: !kv.tile<1x128>, %z: !kv.tile<1x32>, %page: !kv.page<#token>, %h: index, %t: index, %n: index) -> !kv.tile<1x64> {
    %lead = arith.constant 0 : index
    %s = kv.contract %o zeros %z with %page head %h run %t, %lead, %n scales "result" : <1x128>, <#token> zeros !kv.tile<1x32> -> <1x64>
    return %s : !kv.tile<1x64>
  }

  // Sums of queries, by scalars.
  // CHECK-LABEL: func.func @arrange(
  // CHECK:       scf.for %[[BLOCK:[a-z0-9]+]] = %c0 to %c2 step %c1
  // CHECK:         scf.for %[[FROM:[a-z0-9]+]] = %c0 to %c64 step %c32 iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32)
  // CHECK:           %[[PART:.*]] = scf.for %{{.*}} = %[[FROM]] to
  // CHECK:           arith.addf %[[SUM]], %[[PART]]
  func.func @arrange(%q: !kv.tile<1x128>) -> (!kv.tile<1x128>, !kv.tile<1x2>) {
    %o, %z = kv.arrange %q for #wide : <1x128> -> <1x128>, !kv.tile<1x2>
    return %o, %z : !kv.tile<1x128>, !kv.tile<1x2>
  }

  // Sums of queries times zeros, eight channels at a time.
  // CHECK-LABEL: func.func @fold(
  // CHECK:       scf.for %[[FROM:[a-z0-9]+]] = %c0 to %c512 step %c256 iter_args(%[[SUM:.*]] =
  // CHECK:         %[[PART:.*]] = scf.for %{{.*}} = %[[FROM]] to %{{.*}} step %c8
  // CHECK:         arith.addf %[[SUM]], %[[PART]]
  func.func @fold(%q: !kv.tile<1x512>, %page: !kv.page<#channel>, %h: index, %t: index, %n: index) -> !kv.tile<1x1> {
    %lead = arith.constant 0 : index
    %o, %z, %c = kv.fold %q from %page head %h run %t, %lead, %n scales "operand" : <1x512>, <#channel> -> <1x512>, <1x1>, !kv.tile<1x512>
    return %z : !kv.tile<1x1>
  }
}
