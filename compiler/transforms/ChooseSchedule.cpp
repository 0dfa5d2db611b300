//===- ChooseSchedule.cpp - how a kernel walks over its tokens ------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/Passes.h"
#include "compiler/transforms/TileBuilder.h"
#include "dialect/KVLayout.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_CHOOSESCHEDULE
#include "compiler/transforms/Passes.h.inc"

namespace {

/// Columns of a run at the most.
constexpr int64_t RunColumns = 64;
/// Floats of one tile at the most, so that all tiles of a kernel stay in the
/// second cache and within 256 KiB of a thread's stack, of which there are 512
/// on macOS. Where there are codes there are about twice as many tiles.
constexpr int64_t TileFloats = 8192, TileFloatsOfCodes = 4096;

/// Runs that are asked for ahead. The records that a head reads lie in pages of
/// their own, which no processor guesses; two runs of floats take twice as long
/// to come as one takes to be read.
constexpr int64_t PrefetchRuns = 2;

struct ChooseSchedule : impl::ChooseScheduleBase<ChooseSchedule> {
  void runOnOperation() override {
    kv::StepOp step = getOperation();
    auto target = targetOf(step);
    if (!target || step.getStreamList().empty()) {
      step.emitOpError("needs a target and streams with layouts");
      return signalPassFailure();
    }
    const int64_t heads = step.getShape().getGroup();
    int64_t vectors = 1, rows = heads, floats = TileFloats, columns = 1;
    for (kv::StreamAttr stream : step.getStreamList()) {
      vectors = std::max(vectors, stream.getLayout().getVectors());
      // An operand's channels are laid out as the stream's are, with padding.
      columns = std::max(columns, kv::PageLayout(stream).columns);
      if (stream.getKind() == "code")
        floats = TileFloatsOfCodes;
      // Weights that scales are folded into: a row a head and block.
      if (stream.getPlane() == kv::Plane::Values &&
          kv::scalesOf(stream) == "operand")
        rows = std::max(rows, heads * kv::PageLayout(stream).channelBlocks());
    }
    const int64_t unit = runUnit(step);
    int64_t run = llvm::alignTo(RunColumns, unit);
    while (run > unit && rows * run > TileFloats)
      run = llvm::alignTo(run / 2, unit);
    // A prefill's tiles have as many rows for each token that asks.
    const int64_t width = std::max({run * rows, heads * columns,
                                    heads * step.getShape().getHeadDim(),
                                    heads * step.getShape().getValueDim()});
    // Codes that are made anew are those of one length.
    kv::PolicyAttr policy = step.getPolicy();
    const bool remakes =
        policy.getKeys().remakesCodes() || policy.getValues().remakesCodes();
    const int64_t tokens =
        remakes ? 1 : std::clamp<int64_t>(floats / width, 1, PieceTokens);
    const int64_t lockstep = std::clamp<int64_t>(
        target.getRegisters() / 2 / vectors, 1, heads * tokens);
    step.setScheduleAttr(
        kv::ScheduleAttr::get(step.getContext(), lockstep, run, tokens,
                              PrefetchRuns, step.getPolicy().getArithmetic()));
  }
};
} // namespace
} // namespace kvc
