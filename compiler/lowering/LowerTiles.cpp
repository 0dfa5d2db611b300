//===- LowerTiles.cpp - from the tile level to loops ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_LOWERTILES
#include "compiler/lowering/Passes.h.inc"

/// Floats of a row that holds `columns`: whole cache lines, and whole vectors.
static int64_t rowOf(int64_t columns, int64_t lanes) {
  constexpr int64_t line = 16;
  return static_cast<int64_t>(llvm::alignTo(columns, std::max(line, lanes)));
}

TileTypeConverter::TileTypeConverter(MLIRContext *context, const LaneForm &form,
                                     StringRef dot)
    : form(form), dot(dot) {
  addConversion([](Type type) { return type; });
  addConversion([this](kv::ViewType type) -> Type {
    return this->form.view(type.getContext());
  });
  addConversion([](kv::PartsType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  addConversion([this](kv::PageType type) -> Type {
    return this->form.page(type.getContext(),
                           kv::PageLayout(type.getStream()).pageWords);
  });
  addConversion(
      [this](kv::TileType type) -> Type { return convertTile(type); });
  addConversion(
      [this](kv::StateType type) -> Type { return convertState(type); });
}

MemRefType TileTypeConverter::convertTile(kv::TileType tile) const {
  // One vector more than the columns: unaligned loads at the last column.
  if (Type element = tile.getElement()) {
    const int64_t words =
        tile.getColumns() * element.getIntOrFloatBitWidth() / 32;
    return MemRefType::get(
        {tile.getRows(), rowOf(words + form.lanes, form.lanes)},
        IntegerType::get(tile.getContext(), 32));
  }
  return form.tile(tile.getContext(), tile.getRows(),
                   rowOf(tile.getColumns() + form.lanes, form.lanes));
}

MemRefType TileTypeConverter::convertState(kv::StateType state) const {
  // Accumulators are reached in up to four vectors at a time.
  const int64_t width = rowOf(state.getColumns(), 4 * form.lanes);
  const int64_t rows = state.getRows();
  return form.tile(state.getContext(),
                   2 * StateRows::rowsOfNumbers(rows, width) + rows, width);
}

/// What is not generated for lanes that are invocations yet, and why.
static StringRef whyNotInvocations(Operation *op) {
  if (isa<kv::EncodeOp, kv::QuantizeOp, kv::RestoreOp>(op))
    return "lanes would write into words that they share";
  if (isa<kv::DecodeOp, kv::SaveOp, kv::LoadStateOp>(op))
    return "results are read and joined on the host";
  auto isWhole = [](Type type) {
    auto tile = dyn_cast<kv::TileType>(type);
    return tile && tile.getElement();
  };
  if (isa<kv::FoldOp, kv::ArrangeOp>(op) &&
      llvm::any_of(op->getResultTypes(), isWhole))
    return "whole numbers of several lanes lie in one word; arithmetic: f32 "
           "does without";
  return "";
}

/// Fails with an error where `module` has what cannot be generated.
static LogicalResult checkInvocations(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    StringRef why = whyNotInvocations(op);
    if (why.empty())
      return WalkResult::advance();
    op->emitOpError() << "is not generated yet where a lane is an invocation: "
                      << why;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct LowerTiles : impl::LowerTilesBase<LowerTiles> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<kv::TargetAttr>("kv.target");
    if (!target) {
      getOperation().emitError("needs a target: a module attribute kv.target");
      return signalPassFailure();
    }
    if (target.lanesAreInvocations() &&
        failed(checkInvocations(getOperation())))
      return signalPassFailure();
    MLIRContext *context = &getContext();
    auto form = formOf(target);
    TileTypeConverter types(context, *form, target.getDot());
    RewritePatternSet patterns(context);
    populatePagePatterns(types, patterns);
    populateRowPatterns(types, patterns);
    populateContractPatterns(types, patterns);
    populateAccumulatePatterns(types, patterns);
    populateArrangePatterns(types, patterns);
    populateFoldPatterns(types, patterns);
    populateSoftmaxPatterns(types, patterns);
    populateStatePatterns(types, patterns);
    populateEncodePatterns(types, patterns);
    populateQuantizePatterns(types, patterns);
    populateDecodePatterns(types, patterns);
    populateSnapshotPatterns(types, patterns);

    ConversionTarget legal(*context);
    legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    legal.addIllegalDialect<kv::KVDialect>();
    legal.addLegalOp<kv::ModelOp, kv::LayerOp, kv::StepOp>();
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                   types);
    populateFunctionOpInterfaceTypeConversionPattern<gpu::GPUFuncOp>(patterns,
                                                                     types);
    legal.addDynamicallyLegalOp<func::FuncOp, gpu::GPUFuncOp>(
        [&](Operation *operation) {
          auto op = cast<FunctionOpInterface>(operation);
          return types.isSignatureLegal(
                     cast<FunctionType>(op.getFunctionType())) &&
                 types.isLegal(&op.getFunctionBody());
        });
    populateReturnOpTypeConversionPattern(patterns, types);
    legal.addDynamicallyLegalOp<func::ReturnOp>(
        [&](func::ReturnOp op) { return types.isLegal(op); });
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns,
                                                         legal);
    if (failed(
            applyPartialConversion(getOperation(), legal, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
} // namespace kvc
