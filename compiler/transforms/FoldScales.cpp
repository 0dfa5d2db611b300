//===- FoldScales.cpp - where scales and zeros are multiplied in ----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/Passes.h"
#include "dialect/KVLayout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_FOLDSCALES
#include "compiler/transforms/Passes.h.inc"

namespace {

/// The numbers that the operand of a contraction becomes; null: it stays f32.
template <typename Op> Type elementOf(Op op) {
  kv::ScheduleAttr schedule = op.getSchedule().value_or(kv::ScheduleAttr());
  if (!schedule)
    return {};
  Type element = schedule.getArithmetic();
  auto integers = kv::Integers::of(op.getPage().getType().getStream(), element,
                                   schedule.getRun());
  return integers ? element : Type();
}

struct FoldScales : impl::FoldScalesBase<FoldScales> {
  void runOnOperation() override {
    SmallVector<Operation *> contractions;
    getOperation().walk([&](Operation *op) {
      if (isa<kv::ContractOp, kv::AccumulateOp>(op))
        contractions.push_back(op);
    });
    for (Operation *op : contractions)
      if (auto contract = dyn_cast<kv::ContractOp>(op))
        fold(contract);
      else
        fold(cast<kv::AccumulateOp>(op));
  }

  static kv::TileType tile(Operation *op, int64_t rows, int64_t columns,
                           Type element = {}) {
    return kv::TileType::get(op->getContext(), rows, columns, element);
  }

  /// Scales and zeros of one run into its operand.
  template <typename Op>
  kv::FoldOp foldRun(Op op, kv::TileType operand, kv::TileType sums,
                     kv::TileType centers, Type fits) {
    OpBuilder builder(op);
    kv::StreamAttr stream = op.getPage().getType().getStream();
    auto scales = StringAttr::get(op.getContext(), kv::scalesOf(stream));
    auto fold =
        kv::FoldOp::create(builder, op.getLoc(), operand, sums, centers, fits,
                           op.getOperand(), op.getPage(), op.getHead(),
                           op.getToken(), op.getLead(), op.getCount(), scales);
    op.getOperandMutable().assign(fold.getOperand());
    op.getSumsMutable().assign(fold.getSums());
    if (centers)
      op.getCentersMutable().assign(fold.getCenters());
    op.setScalesAttr(scales);
    ++numFolds;
    return fold;
  }

  /// Whole numbers where these fit; what `floats` makes of a second `op` where
  /// not.
  template <typename Op>
  void foldIntegers(Op op, kv::TileType operand, kv::TileType sums,
                    llvm::function_ref<void(Op)> floats) {
    auto other = cast<Op>(op->clone());
    Value fits = foldRun(op, operand, sums, kv::TileType(),
                         IntegerType::get(op.getContext(), 1))
                     .getFits();
    branch(op, fits, other);
    floats(other);
  }

  /// `op` where `fits`, else `other`, which is in no block yet.
  static void branch(Operation *op, Value fits, Operation *other) {
    OpBuilder builder(op);
    auto branch =
        scf::IfOp::create(builder, op->getLoc(), op->getResultTypes(), fits,
                          /*addThenBlock=*/true, /*addElseBlock=*/true);
    op->replaceAllUsesWith(branch);
    op->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
    branch.elseBlock()->push_back(other);
    for (Operation *last : {op, other}) {
      builder.setInsertionPointAfter(last);
      scf::YieldOp::create(builder, op->getLoc(), last->getResults());
    }
  }

  void fold(kv::ContractOp op) {
    if (op.getScales())
      return;
    kv::StreamAttr stream = op.getPage().getType().getStream();
    kv::PageLayout layout(stream);
    const int64_t heads = op.getOperand().getType().getRows();
    auto floats = [&](kv::ContractOp op) {
      foldRun(op, tile(op, heads, layout.columns), tile(op, heads, 1),
              tile(op, 1, layout.columns), Type());
    };
    Type element = elementOf(op);
    auto operand = tile(op, heads, layout.columns, element);
    if (kv::scalesOf(stream) != "operand")
      return arrange(op, layout, operand);
    if (element)
      foldIntegers<kv::ContractOp>(op, operand,
                                   tile(op, heads, kv::Terms::Columns), floats);
    else
      floats(op);
  }

  /// Nothing of it depends on a page: once before the segment's loop. Numbers
  /// of i16 must be fine enough for a run's scales; where they are not, which
  /// is rare, the run makes the query ready in f32.
  static void arrange(kv::ContractOp op, const kv::PageLayout &layout,
                      kv::TileType operand) {
    Type element = operand.getElement();
    Operation *other = element && element.isInteger(16) ? op->clone() : nullptr;
    OpBuilder builder(op);
    // Not where the query is made: others' tiles can be in the same place then.
    Block *made = op.getOperand().getParentBlock();
    builder.setInsertionPoint(made->findAncestorOpInBlock(*op));
    makeReady(builder, op, layout, operand);
    if (!other)
      return;
    builder.setInsertionPoint(op);
    Value fits = kv::FitsOp::create(builder, op.getLoc(), op.getSums(),
                                    op.getPage(), op.getHead(), op.getToken(),
                                    op.getLead(), op.getCount());
    branch(op, fits, other);
    builder.setInsertionPoint(other);
    makeReady(builder, cast<kv::ContractOp>(other), layout,
              tile(op, operand.getRows(), operand.getColumns()));
  }

  static void makeReady(OpBuilder &builder, kv::ContractOp op,
                        const kv::PageLayout &layout, kv::TileType operand) {
    llvm::StringRef scales = kv::scalesOf(layout.stream);
    const int64_t terms = operand.getElement() ? kv::Terms::Columns : 1;
    kv::TileType sums;
    if (scales == "result")
      sums = tile(op, operand.getRows(), layout.channelBlocks() * terms);
    auto arrange = kv::ArrangeOp::create(builder, op.getLoc(), operand, sums,
                                         op.getOperand(), layout.stream);
    op.getOperandMutable().assign(arrange.getOperand());
    if (sums)
      op.getSumsMutable().assign(arrange.getSums());
    op.setScales(scales);
  }

  void fold(kv::AccumulateOp op) {
    if (op.getScales())
      return;
    kv::StreamAttr stream = op.getPage().getType().getStream();
    const int64_t rows = op.getOperand().getType().getRows();
    const int64_t columns = op.getOperand().getType().getColumns();
    const int64_t blocks = kv::PageLayout(stream).channelBlocks();
    const auto scales = kv::scalesOf(stream);
    if (scales == "none")
      return op.setScales(scales);
    Type element = elementOf(op);
    if (scales == "result") {
      auto floats = [&](kv::AccumulateOp op) {
        foldRun(op, tile(op, rows, columns), tile(op, rows, 1), kv::TileType(),
                Type());
      };
      if (!element)
        return floats(op);
      const int64_t more = kv::Integers(stream, element).rows;
      return foldIntegers<kv::AccumulateOp>(
          op, tile(op, rows * more, columns, element),
          tile(op, rows, kv::Terms::Columns), floats);
    }
    auto floats = [&](kv::AccumulateOp op) {
      foldRun(op, tile(op, rows * blocks, columns), tile(op, rows, blocks),
              tile(op, blocks, columns), Type());
    };
    if (element)
      foldIntegers<kv::AccumulateOp>(
          op, tile(op, rows * blocks, columns, element),
          tile(op, rows, blocks * kv::Terms::Columns), floats);
    else
      floats(op);
  }
};
} // namespace
} // namespace kvc
