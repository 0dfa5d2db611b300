//===- Passes.td - from the cache level to the tile level --*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_TRANSFORMS_PASSES_TD
#define KVC_COMPILER_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineSteps : Pass<"kv-outline-steps", "::mlir::ModuleOp"> {
  let summary = "Join the decode steps of layers that are alike to a kernel";
  let description = [{
    In: `kv.layer`s with bodies. Out: the bodies as `kv.step`s beside the model,
    one for all layers whose shape, policy (without what no kernel can feel)
    and body are equal; each layer names its step.
  }];
  let dependentDialects = ["::kvc::kv::KVDialect"];
  let statistics = [
    Statistic<"numLayers", "layers", "layers seen">,
    Statistic<"numSteps", "steps", "steps they share">
  ];
}

def AssignStreams : Pass<"kv-assign-streams", "::kvc::kv::StepOp"> {
  let summary = "Say which streams a step has and which segments it attends to";
  let description = [{
    In: a `kv.step`. Out: `streams`: for each plane its sinks, its tokens as
    they were appended, its codes, as far as its policy has such; `segments`:
    every pair of a keys' and a values' stream that can hold the same tokens,
    the common refinement of time and of both planes' coded borders.
  }];
}

def ChooseLayout : Pass<"kv-choose-layout", "::kvc::kv::StepOp"> {
  let summary = "Lay each stream's tokens out in pages for the target";
  let description = [{
    In: a `kv.step` with streams, in a module with `kv.target`. Out: each
    stream has a `#kv.layout`: keys with tokens on the lanes, values with
    channels; whole blocks of scales a page.
  }];
}

def ChooseSchedule : Pass<"kv-choose-schedule", "::kvc::kv::StepOp"> {
  let summary = "Choose how many heads go in lockstep and how long a run is";
  let description = [{
    In: a `kv.step` with layouts. Out: `schedule`. Accumulators of the heads in
    lockstep fill about half of the target's registers.
  }];
}

def StepsToTiles : Pass<"kv-steps-to-tiles", "::mlir::ModuleOp"> {
  let summary = "Write each step as functions of the tile level";
  let description = [{
    In: `kv.step`s with streams, segments, layouts and schedule. Out: for each
    the functions that runtime/Generated.h names, and an empty body. Contractions
    meet codes as they are stored; `kv-fold-scales` makes their operands ready.
  }];
  let dependentDialects = [
    "::kvc::kv::KVDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect"
  ];
}

def FoldScales : Pass<"kv-fold-scales", "::mlir::func::FuncOp"> {
  let summary = "Fold scales and zeros into the operands of contractions";
  let description = [{
    In: `kv.contract` and `kv.accumulate` on plain operands. Out: the same on
    operands made ready by `kv.arrange` (once a query) or `kv.fold` (once a
    run), by the one rule that `kv.fold` states. Where the schedule asks for
    integers, operands become whole numbers; a run whose numbers do not fit them
    takes the other branch of an `scf.if`, in f32.
  }];
  let dependentDialects = ["::kvc::kv::KVDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numFolds", "folds", "folds that a run makes">];
}

#endif // KVC_COMPILER_TRANSFORMS_PASSES_TD
