//===- PlaceBarriers.cpp - order what lanes tell each other ---------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element of a tile is its owner's: the lane of its column's number modulo
// the lanes. Accesses of owners need no order. Any other access (*foreign*),
// and any that cannot be shown to be an owner's, needs a barrier between itself
// and an access of the same tile before it, where one of the two is a write.
//
// One walk in the order of execution keeps, for each tile, the kinds of access
// since the last barrier. A loop is walked with what comes into it and with
// what its own end leaves, until nothing changes; where what comes from outside
// asks for a barrier, that is put before the loop.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include <numeric>

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_PLACEBARRIERS
#include "compiler/lowering/Passes.h.inc"

namespace {

enum Kind : unsigned {
  OwnRead = 1,
  OwnWrite = 2,
  ForeignRead = 4,
  ForeignWrite = 8
};

/// Those kinds that an access of kind `kind` must not follow at once.
unsigned conflictsOf(unsigned kind) {
  switch (kind) {
  case OwnRead:
    return ForeignWrite;
  case OwnWrite:
    return ForeignRead | ForeignWrite;
  case ForeignRead:
    return OwnWrite | ForeignWrite;
  default:
    return OwnRead | OwnWrite | ForeignRead | ForeignWrite;
  }
}

struct Access {
  Value tile;
  unsigned kind;
};

/// By tile, kinds since the last barrier.
struct Pending {
  llvm::MapVector<Value, unsigned> kinds;

  bool conflicts(ArrayRef<Access> next) const {
    return llvm::any_of(next, [&](const Access &access) {
      const auto *found = kinds.find(access.tile);
      return found != kinds.end() && (found->second & conflictsOf(access.kind));
    });
  }
  void add(ArrayRef<Access> next) {
    for (const Access &access : next)
      kinds[access.tile] |= access.kind;
  }
  /// True where something new came.
  bool join(const Pending &other) {
    bool changed = false;
    for (auto [tile, kind] : other.kinds) {
      unsigned &mine = kinds[tile];
      changed |= (mine | kind) != mine;
      mine |= kind;
    }
    return changed;
  }
};

/// An index as lane * laneFactor + constant + a multiple of `unit`.
struct Linear {
  int64_t laneFactor = 0, constant = 0, unit = 0; // unit 0: nothing else
};

class Barriers {
public:
  Barriers(gpu::GPUFuncOp kernel, int64_t lanes)
      : kernel(kernel), lanes(lanes) {}

  LogicalResult place() {
    Pending pending;
    walk(kernel.getBody().front(), pending);
    return failed ? failure() : success();
  }

private:
  void walk(Block &block, Pending &pending);
  void walkLoop(Operation *loop, Pending &pending);
  void walkIf(scf::IfOp branch, Pending &pending);
  void visit(Operation *op, ArrayRef<Access> accesses, Pending &pending);

  /// What an operation does to tiles, with all that lies in it.
  SmallVector<Access> accessesOf(Operation *op);
  std::optional<Access> accessOf(Operation *op);
  bool isOwn(Operation *op, ValueRange place);
  bool isOwnersStore(Operation *op, Value column);
  bool isUniform(Value condition);
  Linear linear(Value index, int depth = 0);

  gpu::GPUFuncOp kernel;
  int64_t lanes;
  bool failed = false;
};

} // namespace

/// Deeper expressions than this are not looked into.
static constexpr int MaxDepth = 16;

Linear Barriers::linear(Value index, int depth) {
  const Linear unknown{0, 0, 1};
  IntegerAttr constant;
  if (matchPattern(index, m_Constant(&constant)))
    return {0, constant.getInt(), 0};
  if (depth > MaxDepth)
    return unknown;
  auto argument = dyn_cast<BlockArgument>(index);
  if (argument) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return unknown;
    Linear from = linear(loop.getLowerBound(), depth + 1);
    Linear step = linear(loop.getStep(), depth + 1);
    if (step.laneFactor || step.unit)
      return unknown;
    return {from.laneFactor, from.constant, std::gcd(from.unit, step.constant)};
  }
  Operation *op = index.getDefiningOp();
  if (isa<gpu::LaneIdOp>(op))
    return {1, 0, 0};
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    Linear a = linear(op->getOperand(0), depth + 1);
    Linear b = linear(op->getOperand(1), depth + 1);
    const int64_t sign = isa<arith::AddIOp>(op) ? 1 : -1;
    return {a.laneFactor + sign * b.laneFactor, a.constant + sign * b.constant,
            std::gcd(a.unit, b.unit)};
  }
  if (isa<arith::MulIOp>(op)) {
    Linear a = linear(op->getOperand(0), depth + 1);
    Linear b = linear(op->getOperand(1), depth + 1);
    if (a.laneFactor == 0 && a.unit == 0)
      std::swap(a, b);
    if (b.laneFactor != 0 || b.unit != 0)
      return unknown;
    return {a.laneFactor * b.constant, a.constant * b.constant,
            a.unit * b.constant};
  }
  return unknown;
}

/// Whether `op` is done by the lane that owns `column` alone.
bool Barriers::isOwnersStore(Operation *op, Value column) {
  auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
  auto compare = branch ? branch.getCondition().getDefiningOp<arith::CmpIOp>()
                        : arith::CmpIOp();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq)
    return false;
  Value lane = compare.getLhs(), owner = compare.getRhs();
  if (!lane.getDefiningOp<gpu::LaneIdOp>())
    std::swap(lane, owner);
  if (!lane.getDefiningOp<gpu::LaneIdOp>())
    return false;
  if (auto remainder = owner.getDefiningOp<arith::RemUIOp>()) {
    Linear by = linear(remainder.getRhs());
    return remainder.getLhs() == column && by.laneFactor == 0 && by.unit == 0 &&
           by.constant == lanes;
  }
  Linear a = linear(owner), b = linear(column);
  return a.laneFactor == 0 && b.laneFactor == 0 && a.unit % lanes == 0 &&
         b.unit % lanes == 0 && (a.constant - b.constant) % lanes == 0;
}

bool Barriers::isOwn(Operation *op, ValueRange place) {
  Linear column = linear(place.back());
  if (column.laneFactor == 1 && column.constant % lanes == 0 &&
      column.unit % lanes == 0)
    return true;
  return isa<memref::StoreOp>(op) && isOwnersStore(op, place.back());
}

std::optional<Access> Barriers::accessOf(Operation *op) {
  auto isTile = [](Value memref) {
    return memref.getDefiningOp<memref::AllocOp>() != nullptr;
  };
  if (auto load = dyn_cast<memref::LoadOp>(op))
    if (isTile(load.getMemRef()))
      return Access{load.getMemRef(),
                    isOwn(op, load.getIndices()) ? OwnRead : ForeignRead};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    if (isTile(store.getMemRef()))
      return Access{store.getMemRef(),
                    isOwn(op, store.getIndices()) ? OwnWrite : ForeignWrite};
  return std::nullopt;
}

SmallVector<Access> Barriers::accessesOf(Operation *op) {
  SmallVector<Access> all;
  op->walk([&](Operation *inner) {
    if (auto access = accessOf(inner))
      all.push_back(*access);
  });
  return all;
}

/// Whether all lanes have the same value, as far as can be seen: it follows
/// neither from a lane's number nor from what is in memory.
bool Barriers::isUniform(Value condition) {
  SetVector<Operation *> slice;
  SmallVector<Value> open{condition};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !slice.insert(op))
      continue;
    if (isa<gpu::LaneIdOp, gpu::ShuffleOp>(op))
      return false;
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      // Parameters are the same for all.
      if (!isa<BlockArgument>(load.getMemRef()) ||
          load.getMemRefType().getMemorySpace() == Attribute())
        return false;
    }
    llvm::append_range(open, op->getOperands());
  }
  return true;
}

void Barriers::visit(Operation *op, ArrayRef<Access> accesses,
                     Pending &pending) {
  if (accesses.empty())
    return;
  if (pending.conflicts(accesses)) {
    OpBuilder builder(op);
    gpu::BarrierOp::create(builder, op->getLoc());
    pending.kinds.clear();
  }
}

void Barriers::walkLoop(Operation *loop, Pending &pending) {
  visit(loop, accessesOf(loop), pending);
  Pending entry = pending;
  do {
    pending = entry;
    for (Region &region : loop->getRegions())
      walk(region.front(), pending);
  } while (entry.join(pending));
  // It may also not be entered at all.
  pending.join(entry);
}

void Barriers::walkIf(scf::IfOp branch, Pending &pending) {
  SmallVector<Access> all = accessesOf(branch);
  visit(branch, all, pending);
  if (!isUniform(branch.getCondition())) {
    Pending inside;
    for (const Access &access : all) {
      if (inside.conflicts(access)) {
        branch.emitError("lanes that go apart cannot wait for each other");
        failed = true;
      }
      inside.add(access);
    }
    pending.add(all);
    return;
  }
  Pending before = pending;
  for (Region &region : branch->getRegions()) {
    if (region.empty())
      continue;
    Pending inside = before;
    walk(region.front(), inside);
    pending.join(inside);
  }
}

void Barriers::walk(Block &block, Pending &pending) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<gpu::BarrierOp>(op)) {
      pending.kinds.clear();
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      walkIf(branch, pending);
    } else if (isa<scf::ForOp, scf::WhileOp>(op)) {
      walkLoop(&op, pending);
    } else if (op.getNumRegions() > 0) {
      op.emitError("is no loop and no branch that barriers can be placed in");
      failed = true;
    } else if (auto access = accessOf(&op)) {
      visit(&op, *access, pending);
      pending.add(*access);
    }
  }
}

namespace {
struct PlaceBarriers : impl::PlaceBarriersBase<PlaceBarriers> {
  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    auto size = kernel.getKnownBlockSize();
    if (!size || size->empty()) {
      kernel.emitError("needs known_block_size: its lanes");
      return signalPassFailure();
    }
    if (failed(Barriers(kernel, size->front()).place()))
      signalPassFailure();
  }
};
} // namespace
} // namespace kvc
