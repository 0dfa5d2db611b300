//===- VectorLanes.cpp - lanes are the elements of a vector ---------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CPU: tiles lie on the function's frame, a view is a pointer to page tables
// and a page a memref of its words.
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lanes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kvc {

namespace {
class VectorLanes final : public LaneForm {
public:
  VectorLanes(int64_t lanes, bool byLane) : LaneForm(lanes), byLane(byLane) {}

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
  SmallVector<Value> loadTwoHalves(Lanes &at, Value words,
                                   Value address) const override;
  void storeHalves(Lanes &at, Value value, Value words, Value address,
                   Value mask) const override;
  int64_t factorsAtOnce() const override { return byLane ? lanes : 0; }
  void prefetch(Lanes &at, Value words, Value address,
                int64_t count) const override;

  MemRefType tile(MLIRContext *context, int64_t rows,
                  int64_t columns) const override;
  Value allocate(Lanes &at, MemRefType type) const override;
  Value table(Lanes &at, Operation *user,
              DenseElementsAttr numbers) const override;
  Type view(MLIRContext *context) const override;
  MemRefType page(MLIRContext *context, int64_t words) const override;
  Value pageOf(Lanes &at, Value view, int64_t stream, Value number,
               MemRefType type) const override;

private:
  const bool byLane; ///< see #kv.target
};
} // namespace

Type VectorLanes::of(Type element) const {
  return VectorType::get({lanes}, element);
}

Value VectorLanes::numbers(Lanes &at) const {
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(static_cast<int32_t>(lane));
  return arith::ConstantOp::create(
      at.builder, at.loc,
      DenseElementsAttr::get(cast<VectorType>(at.i32()),
                             ArrayRef<int32_t>(numbers)));
}

Value VectorLanes::broadcast(Lanes &at, Value scalar) const {
  return vector::BroadcastOp::create(at.builder, at.loc, of(scalar.getType()),
                                     scalar);
}

Value VectorLanes::fma(Lanes &at, Value a, Value b, Value c) const {
  return vector::FMAOp::create(at.builder, at.loc, a, b, c);
}

Value VectorLanes::moved(Lanes &at, Value value, int64_t width) const {
  SmallVector<int64_t> from;
  for (int64_t lane = 0; lane < lanes; ++lane)
    from.push_back((lane + width) % lanes);
  return vector::ShuffleOp::create(at.builder, at.loc, value, value, from);
}

Value VectorLanes::first(Lanes &at, Value value) const {
  return vector::ExtractOp::create(at.builder, at.loc, value, 0);
}

Value VectorLanes::load(Lanes &at, Value memref, ValueRange place) const {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  return vector::LoadOp::create(at.builder, at.loc,
                                cast<VectorType>(of(element)), memref, place);
}

void VectorLanes::store(Lanes &at, Value value, Value memref,
                        ValueRange place) const {
  vector::StoreOp::create(at.builder, at.loc, value, memref, place);
}

Value VectorLanes::loadMasked(Lanes &at, Value memref, ValueRange place,
                              Value mask) const {
  return vector::MaskedLoadOp::create(at.builder, at.loc,
                                      cast<VectorType>(at.f32()), memref, place,
                                      mask, at.number(0.0));
}

void VectorLanes::storeMasked(Lanes &at, Value value, Value memref,
                              ValueRange place, Value mask) const {
  vector::MaskedStoreOp::create(at.builder, at.loc, memref, place, mask, value);
}

void VectorLanes::storeScalar(Lanes &at, Value scalar, Value memref,
                              ValueRange place) const {
  memref::StoreOp::create(at.builder, at.loc, scalar, memref, place);
}

/// The same bits, as halves of words.
static Value halvesAt(Lanes &at, Value words, Value address, int64_t lanes) {
  OpBuilder &builder = at.builder;
  auto type = VectorType::get({lanes / 2}, builder.getI32Type());
  auto halves = VectorType::get({lanes}, builder.getI16Type());
  Value loaded =
      vector::LoadOp::create(builder, at.loc, type, words, ValueRange{address});
  return vector::BitCastOp::create(builder, at.loc, halves, loaded);
}

Value VectorLanes::loadHalves(Lanes &at, Value words, Value address) const {
  return arith::ExtUIOp::create(at.builder, at.loc, at.i32(),
                                halvesAt(at, words, address, lanes));
}

/// Where a register is wide enough for both, they are read at once: there are
/// instructions that widen a register's upper half.
SmallVector<Value> VectorLanes::loadTwoHalves(Lanes &at, Value words,
                                              Value address) const {
  if (!byLane)
    return LaneForm::loadTwoHalves(at, words, address);
  Value all = halvesAt(at, words, address, 2 * lanes);
  SmallVector<Value> halves;
  for (int64_t half = 0; half < 2; ++half) {
    Value some = vector::ExtractStridedSliceOp::create(
        at.builder, at.loc, all, ArrayRef<int64_t>{half * lanes},
        ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1});
    halves.push_back(
        arith::ExtUIOp::create(at.builder, at.loc, at.i32(), some));
  }
  return halves;
}

void VectorLanes::storeHalves(Lanes &at, Value value, Value words,
                              Value address, Value mask) const {
  Value old = halvesAt(at, words, address, lanes);
  value = arith::TruncIOp::create(at.builder, at.loc, old.getType(), value);
  auto type = VectorType::get({lanes / 2}, at.builder.getI32Type());
  store(at,
        vector::BitCastOp::create(at.builder, at.loc, type,
                                  at.select(mask, value, old)),
        words, address);
}

void VectorLanes::prefetch(Lanes &at, Value words, Value address,
                           int64_t count) const {
  // No target has shorter cache lines. They go to the second cache: in the
  // first they would push out what is read before them.
  const int64_t line = 16;
  for (int64_t word = 0; word < count; word += line)
    memref::PrefetchOp::create(at.builder, at.loc, words, at.add(address, word),
                               /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
}

MemRefType VectorLanes::tile(MLIRContext *context, int64_t rows,
                             int64_t columns) const {
  return MemRefType::get({rows, columns}, Float32Type::get(context));
}

Value VectorLanes::allocate(Lanes &at, MemRefType type) const {
  return memref::AllocaOp::create(at.builder, at.loc, type,
                                  at.builder.getI64IntegerAttr(64));
}

/// A constant of the module.
Value VectorLanes::table(Lanes &at, Operation *user,
                         DenseElementsAttr numbers) const {
  OpBuilder &builder = at.builder;
  auto module = user->getParentOfType<ModuleOp>();
  auto type =
      MemRefType::get(numbers.getType().getShape(), numbers.getElementType());
  std::string name;
  for (int64_t i = 0; name.empty(); ++i) {
    std::string next = "kvc_numbers" + std::to_string(i);
    auto known = module.lookupSymbol<memref::GlobalOp>(next);
    if (!known) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(module.getBody());
      memref::GlobalOp::create(builder, at.loc, next,
                               builder.getStringAttr("private"), type, numbers,
                               /*constant=*/true, IntegerAttr());
    } else if (known.getInitialValueAttr() != numbers) {
      continue;
    }
    name = next;
  }
  return memref::GetGlobalOp::create(builder, at.loc, type, name);
}

Type VectorLanes::view(MLIRContext *context) const {
  return LLVM::LLVMPointerType::get(context);
}

MemRefType VectorLanes::page(MLIRContext *context, int64_t words) const {
  return MemRefType::get({words}, IntegerType::get(context, 32));
}

/// view[stream][number]. The memref that stands for the page is built by hand,
/// since its words are known and its address is not.
Value VectorLanes::pageOf(Lanes &at, Value view, int64_t stream, Value number,
                          MemRefType type) const {
  OpBuilder &builder = at.builder;
  Location loc = at.loc;
  MLIRContext *context = type.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = builder.getI64Type();
  auto entry = [&](Value table, Value number) -> Value {
    Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, table,
                                      ArrayRef<LLVM::GEPArg>{number});
    return LLVM::LoadOp::create(builder, loc, pointer, place);
  };
  auto integer = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i64, value);
  };
  number = arith::IndexCastOp::create(builder, loc, i64, number);
  Value table = entry(view, integer(stream));
  Value page = entry(table, number);

  // {allocated, aligned, offset, sizes, strides}
  auto array = LLVM::LLVMArrayType::get(i64, 1);
  auto structure = LLVM::LLVMStructType::getLiteral(
      context, {pointer, pointer, i64, array, array});
  Value descriptor = LLVM::PoisonOp::create(builder, loc, structure);
  auto put = [&](Value value, ArrayRef<int64_t> place) {
    descriptor =
        LLVM::InsertValueOp::create(builder, loc, descriptor, value, place);
  };
  put(page, {0});
  put(page, {1});
  put(integer(0), {2});
  put(integer(type.getDimSize(0)), {3, 0});
  put(integer(1), {4, 0});
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
      .getResult(0);
}

std::unique_ptr<LaneForm> createVectorLanes(int64_t lanes, bool byLane) {
  return std::make_unique<VectorLanes>(lanes, byLane);
}

} // namespace kvc
