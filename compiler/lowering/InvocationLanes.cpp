//===- InvocationLanes.cpp - lanes are the invocations of a subgroup ------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU: one workgroup is one subgroup. What is the same for all lanes each
// invocation computes for itself, so control flow is the same for all of them.
//
// Tiles lie in workgroup memory. Each element has an *owner*: the lane of its
// column's number modulo the lanes. Nobody else writes it, and a vector of
// lanes that begins at a whole number of lanes is read and written by its
// owners. So the only accesses that must be kept in order are an owner's write
// and another lane's read: kv-place-barriers sees to that, once for all
// lowerings.
//
// A view is one buffer of 32-bit words. As on a CPU it begins with a table of
// page tables, and page tables have entries of pages; an address is the
// number of a word in the buffer.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lanes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace kvc {

/// The memory space of a workgroup, by the number that MLIR's conversion to
/// SPIR-V has for it.
static constexpr int64_t WorkgroupSpace = 3;

namespace {
class InvocationLanes final : public LaneForm {
public:
  explicit InvocationLanes(int64_t lanes) : LaneForm(lanes) {}

  Type of(Type element) const override;
  Value numbers(Lanes &at) const override;
  Value broadcast(Lanes &at, Value scalar) const override;
  Value fma(Lanes &at, Value a, Value b, Value c) const override;
  Value moved(Lanes &at, Value value, int64_t width) const override;
  Value first(Lanes &at, Value value) const override;

  Value load(Lanes &at, Value memref, ValueRange place) const override;
  void store(Lanes &at, Value value, Value memref,
             ValueRange place) const override;
  Value loadMasked(Lanes &at, Value memref, ValueRange place,
                   Value mask) const override;
  void storeMasked(Lanes &at, Value value, Value memref, ValueRange place,
                   Value mask) const override;
  void storeScalar(Lanes &at, Value scalar, Value memref,
                   ValueRange place) const override;
  Value loadHalves(Lanes &at, Value words, Value address) const override;
  void storeHalves(Lanes &at, Value value, Value words, Value address,
                   Value mask) const override;
  bool runApart() const override { return true; }
  /// A subgroup that waits gives its turn to another.
  void prefetch(Lanes &, Value, Value, int64_t) const override {}

  MemRefType tile(MLIRContext *context, int64_t rows,
                  int64_t columns) const override;
  Value allocate(Lanes &at, MemRefType type) const override;
  Value table(Lanes &at, Operation *user,
              DenseElementsAttr numbers) const override;
  Type view(MLIRContext *context) const override;
  MemRefType page(MLIRContext *context, int64_t words) const override;
  Value pageOf(Lanes &at, Value view, int64_t stream, Value number,
               MemRefType type) const override;
};
} // namespace

Type InvocationLanes::of(Type element) const { return element; }

/// This invocation's number, an index.
static Value laneOf(Lanes &at) {
  return gpu::LaneIdOp::create(at.builder, at.loc,
                               /*upper_bound=*/IntegerAttr());
}

Value InvocationLanes::numbers(Lanes &at) const { return at.word(laneOf(at)); }

Value InvocationLanes::broadcast(Lanes &, Value scalar) const { return scalar; }

Value InvocationLanes::fma(Lanes &at, Value a, Value b, Value c) const {
  return math::FmaOp::create(at.builder, at.loc, a, b, c);
}

/// Lanes whose numbers differ by `width` exchange: combined with its own, each
/// of a pair gets the same to the bit, as sums and the like commute.
Value InvocationLanes::moved(Lanes &at, Value value, int64_t width) const {
  Type i32 = at.builder.getI32Type();
  auto integer = [&](int64_t number) {
    return kv::splatInt(at.builder, at.loc, number, i32);
  };
  return gpu::ShuffleOp::create(at.builder, at.loc, value, integer(width),
                                integer(lanes), gpu::ShuffleMode::XOR)
      .getShuffleResult();
}

Value InvocationLanes::first(Lanes &, Value value) const { return value; }

/// The place of this lane's element.
static SmallVector<Value> own(Lanes &at, ValueRange place) {
  SmallVector<Value> mine(place);
  mine.back() = at.add(mine.back(), laneOf(at));
  return mine;
}

/// Runs `body` in the lanes that have `condition`.
static void onlyIf(Lanes &at, Value condition,
                   llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(at.builder, at.loc, condition,
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(at.builder);
  at.builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

Value InvocationLanes::load(Lanes &at, Value memref, ValueRange place) const {
  return memref::LoadOp::create(at.builder, at.loc, memref, own(at, place));
}

void InvocationLanes::store(Lanes &at, Value value, Value memref,
                            ValueRange place) const {
  memref::StoreOp::create(at.builder, at.loc, value, memref, own(at, place));
}

Value InvocationLanes::loadMasked(Lanes &at, Value memref, ValueRange place,
                                  Value mask) const {
  auto branch = scf::IfOp::create(at.builder, at.loc, at.f32(), mask,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(at.builder);
  at.builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(at.builder, at.loc, load(at, memref, place));
  at.builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(at.builder, at.loc, at.number(0.0));
  return branch.getResult(0);
}

void InvocationLanes::storeMasked(Lanes &at, Value value, Value memref,
                                  ValueRange place, Value mask) const {
  SmallVector<Value> mine = own(at, place);
  onlyIf(at, mask, [&] {
    memref::StoreOp::create(at.builder, at.loc, value, memref, mine);
  });
}

void InvocationLanes::storeScalar(Lanes &at, Value scalar, Value memref,
                                  ValueRange place) const {
  Value owner = at.remainder(place.back(), lanes);
  Value mine = arith::CmpIOp::create(
      at.builder, at.loc, arith::CmpIPredicate::eq, laneOf(at), owner);
  onlyIf(at, mine, [&] {
    memref::StoreOp::create(at.builder, at.loc, scalar, memref, place);
  });
}

Value InvocationLanes::loadHalves(Lanes &at, Value words, Value address) const {
  Value lane = laneOf(at);
  Value word =
      memref::LoadOp::create(at.builder, at.loc, words,
                             ValueRange{at.add(address, at.divide(lane, 2))});
  Value shift = at.word(at.multiply(at.remainder(lane, 2), 16));
  word = arith::ShRUIOp::create(at.builder, at.loc, word, shift);
  return arith::AndIOp::create(
      at.builder, at.loc, word,
      kv::splatInt(at.builder, at.loc, 0xffff, word.getType()));
}

void InvocationLanes::storeHalves(Lanes &, Value, Value, Value, Value) const {
  llvm_unreachable("kv-lower-tiles refuses kv.quantize for invocations");
}

MemRefType InvocationLanes::tile(MLIRContext *context, int64_t rows,
                                 int64_t columns) const {
  auto space = IntegerAttr::get(IntegerType::get(context, 64), WorkgroupSpace);
  return MemRefType::get({rows, columns}, Float32Type::get(context),
                         MemRefLayoutAttrInterface(), space);
}

Value InvocationLanes::allocate(Lanes &at, MemRefType type) const {
  return memref::AllocOp::create(at.builder, at.loc, type);
}

/// A tile that is filled where the kernel begins: a kernel has no constants
/// that an index reaches.
Value InvocationLanes::table(Lanes &at, Operation *user,
                             DenseElementsAttr numbers) const {
  constexpr StringLiteral known = "kv.numbers";
  Block &entry =
      user->getParentOfType<FunctionOpInterface>().getFunctionBody().front();
  for (auto tile : entry.getOps<memref::AllocOp>())
    if (tile->getAttr(known) == numbers)
      return tile;
  auto shape = numbers.getType().getShape();
  Value tile =
      at.allocate(this->tile(at.builder.getContext(), shape[0], shape[1]));
  tile.getDefiningOp()->setAttr(known, numbers);
  OpBuilder::InsertionGuard guard(at.builder);
  at.builder.setInsertionPointAfterValue(tile);
  for (auto [i, number] : llvm::enumerate(numbers.getValues<FloatAttr>()))
    at.storeScalar(arith::ConstantOp::create(at.builder, at.loc, number), tile,
                   at.index(i / shape[1]), at.index(i % shape[1]));
  return tile;
}

Type InvocationLanes::view(MLIRContext *context) const {
  return MemRefType::get({ShapedType::kDynamic}, IntegerType::get(context, 32));
}

MemRefType InvocationLanes::page(MLIRContext *context, int64_t words) const {
  auto layout = StridedLayoutAttr::get(context, ShapedType::kDynamic,
                                       ArrayRef<int64_t>{1});
  return MemRefType::get({words}, IntegerType::get(context, 32), layout);
}

Value InvocationLanes::pageOf(Lanes &at, Value view, int64_t stream,
                              Value number, MemRefType type) const {
  auto entry = [&](Value place) -> Value {
    Value word =
        memref::LoadOp::create(at.builder, at.loc, view, ValueRange{place});
    return arith::IndexCastOp::create(at.builder, at.loc,
                                      at.builder.getIndexType(), word);
  };
  Value page = entry(at.add(entry(at.index(stream)), number));
  auto whole = [&](int64_t size) -> OpFoldResult {
    return at.builder.getIndexAttr(size);
  };
  return memref::SubViewOp::create(
      at.builder, at.loc, type, view, ArrayRef<OpFoldResult>{page},
      ArrayRef<OpFoldResult>{whole(type.getDimSize(0))},
      ArrayRef<OpFoldResult>{whole(1)});
}

std::unique_ptr<LaneForm> createInvocationLanes(int64_t lanes) {
  return std::make_unique<InvocationLanes>(lanes);
}

} // namespace kvc
