//===- ShareTiles.cpp - tiles that are not needed together share room -----===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_SHARETILES
#include "compiler/lowering/Passes.h.inc"

namespace {

struct ShareTiles : impl::ShareTilesBase<ShareTiles> {
  using ShareTilesBase::ShareTilesBase;

  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    Block &body = kernel.getBody().front();
    SmallVector<memref::AllocOp> all(body.getOps<memref::AllocOp>());
    // By type, the rooms that there are; by operation of the kernel's body and
    // type, how many of them it has taken.
    llvm::MapVector<Type, SmallVector<memref::AllocOp>> rooms;
    llvm::DenseMap<std::pair<Operation *, Type>, size_t> taken;
    int64_t bytes = 0;
    for (memref::AllocOp tile : all) {
      Operation *user = onlyUser(tile, body);
      if (!user) {
        bytes += bytesOf(tile.getType());
        continue;
      }
      auto &ofType = rooms[tile.getType()];
      const size_t number = taken[{user, tile.getType()}]++;
      if (number < ofType.size()) {
        ofType[number]->moveBefore(&body, body.begin());
        tile.replaceAllUsesWith(ofType[number].getResult());
        tile.erase();
        continue;
      }
      ofType.push_back(tile);
      bytes += bytesOf(tile.getType());
    }
    const int64_t most = limit;
    if (most > 0 && bytes > most) {
      kernel.emitError() << "its tiles take " << bytes << " bytes of "
                         << "a workgroup's memory, which has " << most
                         << ": fewer heads a kv head, or smaller ones, fit";
      signalPassFailure();
    }
  }

  static int64_t bytesOf(MemRefType type) {
    return type.getNumElements() * type.getElementTypeBitWidth() / 8;
  }

  /// The operation of the kernel's body that all uses of a tile lie in; null
  /// where there are several.
  static Operation *onlyUser(memref::AllocOp tile, Block &body) {
    Operation *only = nullptr;
    for (Operation *user : tile->getUsers()) {
      Operation *outer = body.findAncestorOpInBlock(*user);
      if (only && outer != only)
        return nullptr;
      only = outer;
    }
    return only;
  }
};

} // namespace
} // namespace kvc
