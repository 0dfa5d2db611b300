//===- StepsToTiles.cpp - from a step's body to tile programs -------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/TileBuilder.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_STEPSTOTILES
#include "compiler/transforms/Passes.h.inc"

namespace {
struct StepsToTiles : impl::StepsToTilesBase<StepsToTiles> {
  void runOnOperation() override {
    for (kv::StepOp step : llvm::to_vector(getOperation().getOps<kv::StepOp>()))
      if (!step.getBody().empty() && failed(lower(step)))
        return signalPassFailure();
  }

  /// What the body says, in the order that the runtime calls for.
  LogicalResult lower(kv::StepOp step) {
    if (!step.getSchedule())
      return step.emitOpError("needs streams, layouts and a schedule");
    for (kv::StreamAttr stream : step.getStreamList())
      if (!stream.getLayout())
        return step.emitOpError("has a stream without a layout: ") << stream;
    const bool stores = step.getPolicy().getDepth().stores();
    SmallVector<StringRef> wanted;
    if (stores)
      wanted = {"kv.append", "kv.evict", "kv.code"};
    wanted.append({"kv.attend", "kv.yield"});
    SmallVector<StringRef> found;
    for (Operation &op : step.getBody().front())
      found.push_back(op.getName().getStringRef());
    if (found != wanted)
      return step.emitOpError("does other than ")
             << llvm::join(wanted, ", ") << ", which is all that is generated";

    TileBuilder tiles(step);
    buildQueries(tiles);
    if (stores) {
      buildAppend(tiles);
      buildCode(tiles);
      buildRead(tiles);
      buildSnapshots(tiles);
    }
    buildAttend(tiles);
    buildMerge(tiles);
    step.getBody().getBlocks().clear();
    return success();
  }
};
} // namespace
} // namespace kvc
