//===- LowerTiles.cpp - from the tile level to loops ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_LOWERTILES
#include "compiler/lowering/Passes.h.inc"

/// Floats of a cache line: rows of tiles begin at lines.
static constexpr int64_t LineFloats = 16;

TileTypeConverter::TileTypeConverter(kv::TargetAttr target)
    : lanes(target.getLanes()), dot(target.getDot()) {
  addConversion([](Type type) { return type; });
  addConversion([](kv::ViewType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  addConversion([](kv::PartsType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  addConversion([](kv::PageType type) -> Type {
    return MemRefType::get({kv::PageLayout(type.getStream()).pageWords},
                           IntegerType::get(type.getContext(), 32));
  });
  addConversion(
      [this](kv::TileType type) -> Type { return convertTile(type); });
  addConversion(
      [this](kv::StateType type) -> Type { return convertState(type); });
}

MemRefType TileTypeConverter::convertTile(kv::TileType tile) const {
  // One vector more than the columns: unaligned loads at the last column.
  if (Type element = tile.getElement())
    return MemRefType::get(
        {tile.getRows(),
         static_cast<int64_t>(llvm::alignTo(
             tile.getColumns() * element.getIntOrFloatBitWidth() / 32 + lanes,
             LineFloats))},
        IntegerType::get(tile.getContext(), 32));
  return MemRefType::get(
      {tile.getRows(), static_cast<int64_t>(llvm::alignTo(
                           tile.getColumns() + lanes, LineFloats))},
      Float32Type::get(tile.getContext()));
}

MemRefType TileTypeConverter::convertState(kv::StateType state) const {
  const int64_t columns = std::max(state.getRows(), state.getColumns());
  // Accumulators are reached in up to four vectors at a time.
  return MemRefType::get(
      {StateRows::Accumulator + state.getRows(),
       static_cast<int64_t>(llvm::alignTo(columns + 4 * lanes, LineFloats))},
      Float32Type::get(state.getContext()));
}

namespace {
struct LowerTiles : impl::LowerTilesBase<LowerTiles> {
  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<kv::TargetAttr>("kv.target");
    if (!target) {
      getOperation().emitError("needs a target: a module attribute kv.target");
      return signalPassFailure();
    }
    MLIRContext *context = &getContext();
    TileTypeConverter types(target);
    RewritePatternSet patterns(context);
    populatePagePatterns(types, patterns);
    populateRowPatterns(types, patterns);
    populateContractPatterns(types, patterns);
    populateFoldPatterns(types, patterns);
    populateSoftmaxPatterns(types, patterns);
    populateStatePatterns(types, patterns);
    populateEncodePatterns(types, patterns);
    populateQuantizePatterns(types, patterns);
    populateDecodePatterns(types, patterns);

    ConversionTarget legal(*context);
    legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    legal.addIllegalDialect<kv::KVDialect>();
    legal.addLegalOp<kv::ModelOp, kv::LayerOp, kv::StepOp>();
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                   types);
    legal.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
      return types.isSignatureLegal(op.getFunctionType()) &&
             types.isLegal(&op.getBody());
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
