//===- OutlineSteps.cpp - join layers that are alike to a kernel ----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_OUTLINESTEPS
#include "compiler/transforms/Passes.h.inc"

namespace {
struct OutlineSteps : impl::OutlineStepsBase<OutlineSteps> {
  void runOnOperation() override {
    for (kv::ModelOp model :
         llvm::to_vector(getOperation().getOps<kv::ModelOp>()))
      outline(model);
  }

  void outline(kv::ModelOp model) {
    SmallVector<kv::StepOp> steps;
    SymbolTable symbols(getOperation());
    for (kv::LayerOp layer : model.getLayers()) {
      ++numLayers;
      if (layer.getBody().empty())
        continue;
      kv::StepOp step;
      for (kv::StepOp known : steps)
        if (isAlike(layer, known)) {
          step = known;
          break;
        }
      if (!step) {
        step = makeStep(model, layer, steps.size());
        symbols.insert(step);
        steps.push_back(step);
        ++numSteps;
      }
      layer.getBody().getBlocks().clear();
      layer.setStep(step.getSymName());
    }
  }

  static bool isAlike(kv::LayerOp layer, kv::StepOp step) {
    return layer.getShape() == step.getShape() &&
           layer.getPolicy().getKernelForm() == step.getPolicy() &&
           OperationEquivalence::isRegionEquivalentTo(
               &layer.getBody(), &step.getBody(),
               OperationEquivalence::IgnoreLocations);
  }

  static kv::StepOp makeStep(kv::ModelOp model, kv::LayerOp layer,
                             size_t number) {
    OpBuilder builder(model);
    builder.setInsertionPointAfter(model);
    auto step =
        kv::StepOp::create(builder, layer.getLoc(),
                           (model.getSymName() + "_step" + Twine(number)).str(),
                           layer.getShape(), layer.getPolicy().getKernelForm(),
                           ArrayAttr(), ArrayAttr(), kv::ScheduleAttr());
    IRMapping mapping;
    layer.getBody().cloneInto(&step.getBody(), mapping);
    return step;
  }
};
} // namespace
} // namespace kvc
