//===- FoldScales.cpp - where scales and zeros are multiplied in ----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/Passes.h"
#include "dialect/KVLayout.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_FOLDSCALES
#include "compiler/transforms/Passes.h.inc"

namespace {
struct FoldScales : impl::FoldScalesBase<FoldScales> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (auto contract = dyn_cast<kv::ContractOp>(op))
        fold(contract);
      else if (auto accumulate = dyn_cast<kv::AccumulateOp>(op))
        fold(accumulate);
    });
  }

  static kv::TileType tile(Operation *op, int64_t rows, int64_t columns) {
    return kv::TileType::get(op->getContext(), rows, columns);
  }

  /// Scales and zeros of one run into its operand.
  template <typename Op>
  void foldRun(Op op, kv::TileType operand, kv::TileType sums,
               kv::TileType centers, StringAttr scales) {
    OpBuilder builder(op);
    auto fold =
        kv::FoldOp::create(builder, op.getLoc(), operand, sums, centers,
                           op.getOperand(), op.getPage(), op.getHead(),
                           op.getToken(), op.getLead(), op.getCount(), scales);
    op.getOperandMutable().assign(fold.getOperand());
    op.getSumsMutable().assign(fold.getSums());
    if (centers)
      op.getCentersMutable().assign(fold.getCenters());
    ++numFolds;
  }

  void fold(kv::ContractOp op) {
    if (op.getScales())
      return;
    kv::StreamAttr stream = op.getPage().getType().getStream();
    kv::PageLayout layout(stream);
    const int64_t heads = op.getOperand().getType().getRows();
    auto scales = StringAttr::get(op.getContext(), kv::scalesOf(stream));
    auto operand = tile(op, heads, layout.columns);
    if (scales == "operand") {
      foldRun(op, operand, tile(op, heads, 1), tile(op, 1, layout.columns),
              scales);
    } else {
      // Nothing of it depends on a page: once where the query is made.
      OpBuilder builder(op);
      builder.setInsertionPointAfterValue(op.getOperand());
      Type sums = scales == "result" ? tile(op, heads, layout.channelBlocks())
                                     : kv::TileType();
      auto arrange = kv::ArrangeOp::create(builder, op.getLoc(), operand, sums,
                                           op.getOperand(), stream);
      op.getOperandMutable().assign(arrange.getOperand());
      if (sums)
        op.getSumsMutable().assign(arrange.getSums());
    }
    op.setScalesAttr(scales);
  }

  void fold(kv::AccumulateOp op) {
    if (op.getScales())
      return;
    kv::StreamAttr stream = op.getPage().getType().getStream();
    kv::TileType weights = op.getOperand().getType();
    auto scales = StringAttr::get(op.getContext(), kv::scalesOf(stream));
    if (scales == "operand") {
      const int64_t blocks = kv::PageLayout(stream).channelBlocks();
      foldRun(op, tile(op, weights.getRows() * blocks, weights.getColumns()),
              tile(op, weights.getRows(), blocks),
              tile(op, blocks, weights.getColumns()), scales);
    } else if (scales == "result") {
      foldRun(op, weights, tile(op, weights.getRows(), 1), kv::TileType(),
              scales);
    }
    op.setScalesAttr(scales);
  }
};
} // namespace
} // namespace kvc
