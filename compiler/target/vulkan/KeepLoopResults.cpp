//===- KeepLoopResults.cpp - a loop that is not entered -------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/target/vulkan/VulkanPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_KEEPLOOPRESULTS
#include "compiler/target/vulkan/Passes.h.inc"

namespace {
struct KeepLoopResults : impl::KeepLoopResultsBase<KeepLoopResults> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      auto trips = loop.getStaticTripCount();
      if (loop.getNumResults() > 0 && (!trips || trips->isZero()))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      OpBuilder builder(loop);
      builder.setInsertionPointAfter(loop);
      Location loc = loop.getLoc();
      Value entered = arith::CmpIOp::create(
          builder, loc,
          loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                : arith::CmpIPredicate::slt,
          loop.getLowerBound(), loop.getUpperBound());
      for (auto [result, init] :
           llvm::zip(loop.getResults(), loop.getInitArgs())) {
        auto select =
            arith::SelectOp::create(builder, loc, entered, result, init);
        result.replaceAllUsesExcept(select, select);
      }
    }
  }
};
} // namespace
} // namespace kvc
