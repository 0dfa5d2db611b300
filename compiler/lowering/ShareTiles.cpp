//===- ShareTiles.cpp - tiles that are not needed together share room -----===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_SHARETILES
#include "compiler/lowering/Passes.h.inc"

namespace {

/// Room for a tile: in a workgroup's memory, or on a function's frame.
static bool isTile(Operation &op) {
  return isa<memref::AllocOp, memref::AllocaOp>(op);
}

static MemRefType typeOf(Operation *tile) {
  return cast<MemRefType>(tile->getResult(0).getType());
}

static int64_t bytesOf(MemRefType type) {
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

/// The operation of the kernel's body that all uses of a tile lie in; null
/// where there are several.
static Operation *onlyUser(Operation *tile, Block &body) {
  Operation *only = nullptr;
  for (Operation *user : tile->getUsers()) {
    Operation *outer = body.findAncestorOpInBlock(*user);
    if (only && outer != only)
      return nullptr;
    only = outer;
  }
  return only;
}

struct ShareTiles : impl::ShareTilesBase<ShareTiles> {
  using ShareTilesBase::ShareTilesBase;

  void runOnOperation() override {
    FunctionOpInterface kernel = getOperation();
    if (kernel.isExternal())
      return;
    Block &body = kernel.getFunctionBody().front();
    SmallVector<Operation *> all;
    for (Operation &op : body)
      if (isTile(op))
        all.push_back(&op);
    // By type, the rooms that there are; by operation of the kernel's body and
    // type, how many of them it has taken.
    llvm::MapVector<Type, SmallVector<Operation *>> rooms;
    llvm::DenseMap<std::pair<Operation *, Type>, size_t> taken;
    int64_t bytes = 0;
    for (Operation *tile : all) {
      const MemRefType type = typeOf(tile);
      Operation *user = onlyUser(tile, body);
      if (!user) {
        bytes += bytesOf(type);
        continue;
      }
      auto &ofType = rooms[type];
      const size_t number = taken[{user, type}]++;
      if (number < ofType.size()) {
        ofType[number]->moveBefore(&body, body.begin());
        tile->replaceAllUsesWith(ofType[number]);
        tile->erase();
        continue;
      }
      ofType.push_back(tile);
      bytes += bytesOf(type);
    }
    const int64_t most = limit;
    if (most > 0 && bytes > most) {
      kernel.emitError() << "its tiles take " << bytes << " bytes of " << where
                         << ", which has " << most
                         << ": fewer heads a kv head, or smaller ones, fit";
      signalPassFailure();
    }
  }
};

} // namespace
} // namespace kvc
