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
/// Floats of a tile of weights at the most, where a head has a row of them for
/// each block of channels: with more, runs are shorter.
constexpr int64_t WeightFloats = 8192;

/// Query heads of a KV head that are common: with more, runs are as long.
constexpr int64_t CommonHeads = 16;

/// Floats of tiles that are not counted one by one, of a number or two.
constexpr int64_t OtherFloats = 512;

/// Floats that are left where runs are made shorter for room: what one row
/// takes is counted to within so many.
constexpr int64_t SpareFloats = 1024;

/// Runs that are asked for ahead. The records that a head reads lie in pages of
/// their own, which no processor guesses; two runs of floats take twice as long
/// to come as one takes to be read.
constexpr int64_t PrefetchRuns = 2;

/// The tiles that a kernel has on its frame at once, as BuildAttend.cpp and
/// FoldScales.cpp make them and kv-share-tiles lets them share room, in floats.
class Frame {
public:
  Frame(kv::StepOp step, int64_t lanes, int64_t run);

  /// Query heads, of all tokens that ask, that there is room for; of one token
  /// that merges parts.
  int64_t rows() const { return rowsIn(row, fixed); }
  bool hasRow() const { return fixed + row + SpareFloats <= FrameBytes / 4; }
  int64_t mergedRows() const {
    return rowsIn(MergedStates * (state + 2), 2 * MergedStates * state);
  }

private:
  /// All parts', a stretch's, and the one that comes next.
  static constexpr int64_t MergedStates = 3;

  static int64_t rowsIn(int64_t row, int64_t fixed) {
    return std::max<int64_t>((FrameBytes / 4 - fixed) / row, 1);
  }
  int64_t tile(int64_t columns) const {
    return static_cast<int64_t>(
        llvm::alignTo(columns + lanes, std::max<int64_t>(16, lanes)));
  }
  void addOperand(kv::StreamAttr stream, Type arithmetic);

  int64_t row = 0; ///< of each query head of each token that asks
  int64_t fixed;   ///< others
  int64_t state;   ///< a row of a softmax
  int64_t lanes, run;
};

Frame::Frame(kv::StepOp step, int64_t lanes, int64_t run)
    : fixed(OtherFloats), lanes(lanes), run(run) {
  kv::ShapeAttr shape = step.getShape();
  kv::PolicyAttr policy = step.getPolicy();
  int64_t border = run;
  for (kv::StreamAttr stream : step.getStreamList()) {
    addOperand(stream, policy.getArithmetic());
    const kv::PageLayout layout(stream);
    border = std::min(border, stream.getLayout().getTokens());
    if (layout.block && layout.block->tokens > 1)
      border = std::min(border, layout.block->tokens);
  }
  // Queries, logits, what rescales, and softmaxes: of a stretch, and of all.
  const int64_t rotations = policy.getPosition().getRotations();
  const bool stretches = policy.getTime().getCapacity() > stretchTokens(border);
  row += std::max<int64_t>(rotations, 1) * tile(shape.getHeadDim());
  row += tile(run) + tile(1);
  const int64_t states = stretches ? 2 : 1;
  state = static_cast<int64_t>(
      llvm::alignTo(shape.getValueDim(), std::max<int64_t>(16, 4 * lanes)));
  // The row's two numbers fill rows of their own.
  row += states * (state + 2);
  fixed += 2 * states * state;
}

/// What a stream's scales make of an operand: the operand, its sums, and
/// centers; with integers the numbers too, and the same once more where they do
/// not fit.
void Frame::addOperand(kv::StreamAttr stream, Type arithmetic) {
  const kv::PageLayout layout(stream);
  const bool keys = stream.getPlane() == kv::Plane::Keys;
  const StringRef scales = kv::scalesOf(stream);
  if (scales == "none") {
    if (keys && layout.columns != layout.layout.getChannels())
      row += tile(layout.columns);
    return;
  }
  const bool inOperand = scales == "operand";
  const int64_t blocks = layout.channelBlocks();
  const int64_t columns = keys ? layout.columns : run;
  const int64_t rows = !keys && inOperand ? blocks : 1;
  const int64_t sums = keys == inOperand ? 1 : blocks;
  const bool writes = keys || inOperand;
  row += (writes ? rows * tile(columns) : 0) + tile(sums);
  if (inOperand)
    fixed += rows * tile(columns);
  const auto integers = kv::Integers::of(stream, arithmetic, run);
  if (!integers)
    return;
  // Logits come from either of two branches.
  row += (writes ? rows * tile(columns) : 0) + (keys ? tile(run) : 0) +
         tile(sums * kv::Terms::Columns) +
         rows * integers->rows * tile(columns / integers->parts);
  fixed += tile(1) + tile(blocks);
}

struct ChooseSchedule : impl::ChooseScheduleBase<ChooseSchedule> {
  void runOnOperation() override {
    kv::StepOp step = getOperation();
    auto target = targetOf(step);
    if (!target || step.getStreamList().empty()) {
      step.emitOpError("needs a target and streams with layouts");
      return signalPassFailure();
    }
    const int64_t group = step.getShape().getGroup();
    int64_t vectors = 1, weights = 1;
    for (kv::StreamAttr stream : step.getStreamList()) {
      vectors = std::max(vectors, stream.getLayout().getVectors());
      // Weights that scales are folded into: a row a head and block.
      if (stream.getPlane() == kv::Plane::Values &&
          kv::scalesOf(stream) == "operand")
        weights = std::max(weights, kv::PageLayout(stream).channelBlocks());
    }
    const int64_t unit = runUnit(step);
    int64_t run = llvm::alignTo(RunColumns, unit);
    while (run > unit &&
           std::min(group, CommonHeads) * weights * run > WeightFloats)
      run = llvm::alignTo(run / 2, unit);
    // Weights of a token for each block of channels may leave no room for a
    // row.
    while (run > unit && !target.lanesAreInvocations() &&
           !Frame(step, target.getLanes(), run).hasRow())
      run = llvm::alignTo(run / 2, unit);
    const Frame frame(step, target.getLanes(), run);
    const int64_t rows = frame.rows();
    // A workgroup's tiles are not on a frame.
    int64_t block = std::min({rows, frame.mergedRows(), group});
    if (target.lanesAreInvocations())
      block = group;
    // Codes that are made anew are those of one length.
    kv::PolicyAttr policy = step.getPolicy();
    const bool remakes =
        policy.getKeys().remakesCodes() || policy.getValues().remakesCodes();
    const int64_t tokens =
        remakes || block < group
            ? 1
            : std::clamp<int64_t>(rows / group, 1, PieceTokens);
    const int64_t lockstep = std::clamp<int64_t>(
        target.getRegisters() / 2 / vectors, 1, block * tokens);
    step.setScheduleAttr(kv::ScheduleAttr::get(
        step.getContext(), lockstep, run, tokens, PrefetchRuns,
        policy.getArithmetic(), block == group ? 0 : block));
  }
};
} // namespace
} // namespace kvc
