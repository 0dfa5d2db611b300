//===- Interpreter.cpp - a kernel's lanes, one step after another ---------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/vulkan/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using llvm::APFloat;

namespace kvc::test {

Interpreter::Interpreter(gpu::GPUFuncOp kernel)
    : kernel(kernel), lanes((*kernel.getKnownBlockSize())[0]) {}

bool Interpreter::fail(Operation &op, const llvm::Twine &why) {
  llvm::raw_string_ostream os(text);
  os << why << "\n  at ";
  op.print(os, OpPrintingFlags().skipRegions());
  return false;
}

static SmallVector<int64_t, 3> stridesOf(MemRefType type) {
  SmallVector<int64_t, 3> strides(type.getRank(), 1);
  for (int64_t i = type.getRank() - 1; i > 0; --i)
    strides[i - 1] = strides[i] * type.getDimSize(i);
  return strides;
}

bool Interpreter::run(int64_t number, ArrayRef<Memory *> arguments) {
  known.clear();
  memrefs.clear();
  tiles.clear();
  text.clear();
  group = number;
  epoch = 0;
  mask = allLanes();
  for (auto [argument, memory] : llvm::zip(kernel.getArguments(), arguments))
    memrefs[argument] = {memory, 0,
                         stridesOf(cast<MemRefType>(argument.getType()))};
  return walk(kernel.getBody().front());
}

bool Interpreter::walk(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      terminator = &op;
      return true;
    }
    if (!step(op))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Interpreter::Values &Interpreter::of(Value value) const {
  return known.find(value)->second;
}

/// In those lanes that are active.
void Interpreter::assign(ValueRange to, ValueRange from) {
  SmallVector<Values> all;
  for (Value value : from)
    all.push_back(of(value));
  for (auto [value, next] : llvm::zip(to, all)) {
    Values &old = set(value);
    for (int lane = 0; lane < lanes; ++lane)
      if (active(lane))
        old[lane] = next[lane];
  }
}

bool Interpreter::isUniform(Value value) const {
  const Values &values = of(value);
  std::optional<int64_t> first;
  for (int lane = 0; lane < lanes; ++lane)
    if (active(lane)) {
      if (first && *first != values[lane].integer)
        return false;
      first = values[lane].integer;
    }
  return true;
}

/// An integer as its type has it, sign-extended.
static Scalar wrapped(Type type, int64_t value) {
  const unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return {.integer = llvm::SignExtend64(static_cast<uint64_t>(value), bits)};
}

static uint64_t unsignedOf(Type type, Scalar value) {
  const unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return static_cast<uint64_t>(value.integer) & (~uint64_t(0) >> (64 - bits));
}

static uint32_t bitsOf(Type type, Scalar value) {
  if (!isa<FloatType>(type))
    return static_cast<uint32_t>(value.integer);
  APFloat number(value.real);
  bool loses;
  number.convert(cast<FloatType>(type).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &loses);
  return static_cast<uint32_t>(number.bitcastToAPInt().getZExtValue());
}

static Scalar fromBits(Type type, uint32_t bits) {
  if (!isa<FloatType>(type))
    return wrapped(type, bits);
  APFloat number(cast<FloatType>(type).getFloatSemantics(),
                 llvm::APInt(type.getIntOrFloatBitWidth(), bits, false, true));
  bool loses;
  number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
  return {.real = number.convertToFloat()};
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  default:
    llvm::report_fatal_error("comparisons of integers are signed");
  }
}

static bool compare(arith::CmpFPredicate predicate, float a, float b) {
  switch (predicate) {
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  default:
    llvm::report_fatal_error("comparisons of floats are ordered");
  }
}

/// One lane's result of an operation that arithmetic() knows.
Scalar Interpreter::compute(Operation &op, int lane, bool &isKnown) {
  auto in = [&](unsigned i) { return of(op.getOperand(i))[lane]; };
  auto integer = [&](unsigned i) { return in(i).integer; };
  auto real = [&](unsigned i) { return in(i).real; };
  Type from = op.getNumOperands() ? op.getOperand(0).getType() : Type();
  Type type = op.getResult(0).getType();
  auto word = [&](int64_t value) { return wrapped(type, value); };
  auto bits = [&](unsigned i) { return unsignedOf(from, in(i)); };
  auto number = [](float value) { return Scalar{.real = value}; };
  return llvm::TypeSwitch<Operation *, Scalar>(&op)
      .Case([&](arith::ConstantOp op) {
        if (auto value = dyn_cast<FloatAttr>(op.getValue()))
          return number(value.getValue().convertToFloat());
        return word(cast<IntegerAttr>(op.getValue()).getValue().getSExtValue());
      })
      .Case([&](arith::AddIOp) { return word(integer(0) + integer(1)); })
      .Case([&](arith::SubIOp) { return word(integer(0) - integer(1)); })
      .Case([&](arith::MulIOp) { return word(integer(0) * integer(1)); })
      .Case([&](arith::DivUIOp) { return word(bits(0) / bits(1)); })
      .Case([&](arith::RemUIOp) { return word(bits(0) % bits(1)); })
      .Case([&](arith::MinSIOp) {
        return word(std::min(integer(0), integer(1)));
      })
      .Case([&](arith::MaxSIOp) {
        return word(std::max(integer(0), integer(1)));
      })
      .Case([&](arith::AndIOp) { return word(integer(0) & integer(1)); })
      .Case([&](arith::OrIOp) { return word(integer(0) | integer(1)); })
      .Case([&](arith::XOrIOp) { return word(integer(0) ^ integer(1)); })
      .Case([&](arith::ShLIOp) { return word(bits(0) << integer(1)); })
      .Case([&](arith::ShRUIOp) { return word(bits(0) >> integer(1)); })
      .Case([&](arith::ShRSIOp) { return word(integer(0) >> integer(1)); })
      .Case([&](arith::IndexCastOp) { return word(integer(0)); })
      .Case([&](arith::TruncIOp) { return word(integer(0)); })
      .Case([&](arith::ExtUIOp) { return word(bits(0)); })
      .Case([&](arith::SIToFPOp) {
        return number(static_cast<float>(integer(0)));
      })
      .Case(
          [&](arith::FPToSIOp) { return word(static_cast<int64_t>(real(0))); })
      .Case([&](arith::ExtSIOp) { return word(integer(0)); })
      .Case(
          [&](arith::BitcastOp) { return fromBits(type, bitsOf(from, in(0))); })
      .Case([&](arith::ExtFOp) { return in(0); })
      .Case(
          [&](arith::TruncFOp) { return fromBits(type, bitsOf(type, in(0))); })
      .Case([&](arith::CmpIOp op) {
        return Scalar{.integer =
                          compare(op.getPredicate(), integer(0), integer(1))};
      })
      .Case([&](arith::CmpFOp op) {
        return Scalar{.integer = compare(op.getPredicate(), real(0), real(1))};
      })
      .Case([&](arith::SelectOp) { return integer(0) & 1 ? in(1) : in(2); })
      .Case([&](arith::AddFOp) { return number(real(0) + real(1)); })
      .Case([&](arith::SubFOp) { return number(real(0) - real(1)); })
      .Case([&](arith::MulFOp) { return number(real(0) * real(1)); })
      .Case([&](arith::DivFOp) { return number(real(0) / real(1)); })
      .Case([&](arith::NegFOp) { return number(-real(0)); })
      .Case([&](math::FmaOp) {
        return number(std::fma(real(0), real(1), real(2)));
      })
      .Case([&](math::RoundEvenOp) { return number(std::nearbyint(real(0))); })
      .Case([&](math::AbsFOp) { return number(std::fabs(real(0))); })
      .Case([&](math::CopySignOp) {
        return number(std::copysign(real(0), real(1)));
      })
      .Case([&](gpu::LaneIdOp) { return word(lane); })
      .Case([&](gpu::BlockIdOp) { return word(group); })
      .Default([&](Operation *) {
        isKnown = false;
        return Scalar{.integer = 0};
      });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A load or a store of each active lane, whose value is the operation's.
bool Interpreter::access(Operation &op, Value memref, OperandRange place,
                         bool write) {
  const View &view = memrefs.find(memref)->second;
  const uint64_t others = allLanes();
  for (int lane = 0; lane < lanes; ++lane) {
    if (!active(lane))
      continue;
    int64_t address = view.offset;
    for (auto [index, stride] : llvm::zip(place, view.strides))
      address += of(index)[lane].integer * stride;
    if (address < 0 ||
        address >= static_cast<int64_t>(view.memory->elements.size()))
      return fail(op, "lane " + llvm::Twine(lane) + " is outside, at " +
                          llvm::Twine(address));
    Scalar &element = view.memory->elements[address];
    if (write)
      element = of(op.getOperand(0))[lane];
    else
      set(op.getResult(0))[lane] = element;
    if (view.memory->touches.empty())
      continue;
    Memory::Touch &touch = view.memory->touches[address];
    const uint64_t me = uint64_t(1) << lane, rest = others & ~me;
    if (touch.written == epoch && (touch.writers & rest))
      return fail(op, "lane " + llvm::Twine(lane) +
                          " meets what another lane writes");
    if (write && touch.read == epoch && (touch.readers & rest))
      return fail(op,
                  "lane " + llvm::Twine(lane) + " writes what another reads");
    auto note = [&](int64_t &when, uint64_t &who) {
      who = when == epoch ? who | me : me;
      when = epoch;
    };
    if (write)
      note(touch.written, touch.writers);
    else
      note(touch.read, touch.readers);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

bool Interpreter::loop(scf::ForOp op) {
  for (Value bound : {op.getLowerBound(), op.getUpperBound(), op.getStep()})
    if (!isUniform(bound))
      return fail(*op, "lanes make different trips");
  int first = 0;
  while (!active(first))
    ++first;
  const int64_t to = of(op.getUpperBound())[first].integer;
  const int64_t step = of(op.getStep())[first].integer;
  assign(op.getRegionIterArgs(), op.getInitArgs());
  for (int64_t i = of(op.getLowerBound())[first].integer; i < to; i += step) {
    for (Scalar &counter : set(op.getInductionVar()))
      counter.integer = i;
    if (!walk(*op.getBody()))
      return false;
    assign(op.getRegionIterArgs(), terminator->getOperands());
  }
  assign(op.getResults(), op.getRegionIterArgs());
  return true;
}

bool Interpreter::loop(scf::WhileOp op) {
  assign(op.getBeforeArguments(), op.getInits());
  while (true) {
    if (!walk(*op.getBeforeBody()))
      return false;
    auto condition = cast<scf::ConditionOp>(terminator);
    if (!isUniform(condition.getCondition()))
      return fail(*condition, "lanes leave at different times");
    int first = 0;
    while (!active(first))
      ++first;
    if (!(of(condition.getCondition())[first].integer & 1)) {
      assign(op.getResults(), condition.getArgs());
      return true;
    }
    assign(op.getAfterArguments(), condition.getArgs());
    if (!walk(*op.getAfterBody()))
      return false;
    assign(op.getBeforeArguments(), terminator->getOperands());
  }
}

bool Interpreter::branch(scf::IfOp op) {
  const uint64_t before = mask;
  const Values condition = of(op.getCondition());
  for (bool taken : {true, false}) {
    Region &region = taken ? op.getThenRegion() : op.getElseRegion();
    mask = 0;
    for (int lane = 0; lane < lanes; ++lane)
      if ((before >> lane & 1) && (condition[lane].integer & 1) == taken)
        mask |= uint64_t(1) << lane;
    if (!mask || region.empty())
      continue;
    if (!walk(region.front()))
      return false;
    assign(op.getResults(), terminator->getOperands());
  }
  mask = before;
  return true;
}

bool Interpreter::arithmetic(Operation &op) {
  Values next(lanes);
  bool isKnown = true;
  for (int lane = 0; lane < lanes; ++lane)
    if (active(lane))
      next[lane] = compute(op, lane, isKnown);
  if (!isKnown)
    return fail(op, "the interpreter does not know it");
  set(op.getResult(0)) = next;
  return true;
}

bool Interpreter::step(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return this->loop(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return this->loop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return this->branch(branch);
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    set(load.getResult());
    return access(op, load.getMemRef(), load.getIndices(), /*write=*/false);
  }
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return access(op, store.getMemRef(), store.getIndices(), /*write=*/true);
  if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    MemRefType type = alloc.getType();
    tiles.push_back(std::make_unique<Memory>());
    // What a workgroup's memory holds at first is anything.
    tiles.back()->elements.assign(type.getNumElements(), {.real = NAN});
    tiles.back()->touches.resize(type.getNumElements());
    memrefs[alloc] = {tiles.back().get(), 0, stridesOf(type)};
    return true;
  }
  if (auto part = dyn_cast<memref::SubViewOp>(op)) {
    Value offset = part.getOffsets().front();
    if (!isUniform(offset))
      return fail(op, "lanes look at different pages");
    View view = memrefs[part.getSource()];
    view.offset += of(offset)[0].integer;
    memrefs[part] = view;
    return true;
  }
  if (isa<gpu::BarrierOp, gpu::ShuffleOp>(op) && mask != allLanes())
    return fail(op, "not all lanes come to it");
  if (isa<gpu::BarrierOp>(op)) {
    ++epoch;
    return true;
  }
  if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op)) {
    const Values from = of(shuffle.getValue());
    const int64_t offset = of(shuffle.getOffset())[0].integer;
    for (int lane = 0; lane < lanes; ++lane)
      set(shuffle.getShuffleResult())[lane] = from[lane ^ offset];
    return true;
  }
  return arithmetic(op);
}

} // namespace kvc::test
