//===- ShareTiles.cpp - tiles that are not needed together share room -----===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
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

/// Where a tile is in use: operations of a block, by number, first and last.
struct Span {
  int64_t first, last;
};

/// Whether the operation's use of a tile gives it to nobody else.
static bool isAccess(Operation *op) {
  return isa<memref::LoadOp, memref::StoreOp, vector::LoadOp, vector::StoreOp,
             vector::MaskedLoadOp, vector::MaskedStoreOp>(op);
}

/// The block whose operations go through what a kernel does: its body, or that
/// of the one loop in it that all tiles are used in.
static Block *mainBlock(Block *block, ArrayRef<Operation *> tiles) {
  Operation *only = nullptr;
  for (Operation *tile : tiles)
    for (Operation *user : tile->getUsers()) {
      Operation *outer = block->findAncestorOpInBlock(*user);
      if (only && outer != only)
        return block;
      only = outer;
    }
  auto loop = dyn_cast_or_null<scf::ForOp>(only);
  return loop && loop->getNumResults() == 0 ? mainBlock(loop.getBody(), tiles)
                                            : block;
}

/// Where a tile is in use among the operations of `block`; none where it may be
/// in all of it.
static std::optional<Span>
spanOf(Operation *tile, Block &block,
       const llvm::DenseMap<Operation *, int64_t> &numbers) {
  std::optional<Span> span;
  bool handedOn = false;
  for (Operation *user : tile->getUsers()) {
    const int64_t number = numbers.at(block.findAncestorOpInBlock(*user));
    handedOn |= !isAccess(user);
    if (!span)
      span = {number, number};
    span->first = std::min(span->first, number);
    span->last = std::max(span->last, number);
  }
  // Handed on within one operation it does not get out.
  if (span && handedOn && span->first != span->last)
    return std::nullopt;
  return span;
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
    Block &main = *mainBlock(&body, all);
    llvm::DenseMap<Operation *, int64_t> numbers;
    for (auto [number, op] : llvm::enumerate(main))
      numbers[&op] = static_cast<int64_t>(number);
    struct Room {
      Operation *tile;
      SmallVector<Span> taken;
    };
    llvm::MapVector<Type, SmallVector<Room>> rooms;
    int64_t bytes = 0;
    for (Operation *tile : all) {
      const MemRefType type = typeOf(tile);
      const std::optional<Span> span = spanOf(tile, main, numbers);
      if (!span) {
        bytes += bytesOf(type);
        continue;
      }
      auto &ofType = rooms[type];
      auto *room = llvm::find_if(ofType, [&](const Room &room) {
        return llvm::all_of(room.taken, [&](Span other) {
          return span->last < other.first || other.last < span->first;
        });
      });
      if (room == ofType.end()) {
        ofType.push_back({tile, {*span}});
        bytes += bytesOf(type);
        continue;
      }
      room->taken.push_back(*span);
      room->tile->moveBefore(&body, body.begin());
      tile->replaceAllUsesWith(room->tile);
      tile->erase();
    }
    const int64_t most = limit;
    if (most > 0 && bytes > most) {
      kernel.emitError() << "its tiles take " << bytes << " bytes of " << where
                         << ", which has " << most << ": " << remedy;
      signalPassFailure();
    }
  }
};

} // namespace
} // namespace kvc
