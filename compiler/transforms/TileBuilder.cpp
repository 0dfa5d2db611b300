//===- TileBuilder.cpp - what all tile programs are built with ------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/transforms/TileBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;

namespace kvc {

kv::TargetAttr targetOf(kv::StepOp step) {
  auto module = step->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<kv::TargetAttr>("kv.target")
                : kv::TargetAttr();
}

int64_t runUnit(kv::StepOp step) {
  int64_t unit = 1;
  for (kv::StreamAttr stream : step.getStreamList()) {
    kv::PageLayout layout(stream);
    unit = std::lcm(unit, layout.codesPerWord);
    unit = std::lcm(unit, layout.tokensOnLanes()
                              ? layout.lanes() * layout.vectors()
                              : layout.lanes());
  }
  return unit;
}

TileBuilder::TileBuilder(kv::StepOp step)
    : step(step), shape(step.getShape()), policy(step.getPolicy()),
      streams(step.getStreamList()), builder(step.getContext()),
      loc(step.getLoc()) {}

func::FuncOp TileBuilder::function(StringRef suffix, TypeRange inputs,
                                   TypeRange results) {
  builder.setInsertionPointToEnd(step->getBlock());
  auto function = func::FuncOp::create(
      builder, loc, (step.getSymName() + "_" + suffix).str(),
      builder.getFunctionType(inputs, results));
  function.setPrivate();
  builder.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

void TileBuilder::finish(ValueRange results) {
  func::ReturnOp::create(builder, loc, results);
}

Value TileBuilder::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value TileBuilder::add(Value a, Value b) {
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}
Value TileBuilder::subtract(Value a, Value b) {
  return builder.createOrFold<arith::SubIOp>(loc, a, b);
}
Value TileBuilder::multiply(Value a, int64_t b) {
  return builder.createOrFold<arith::MulIOp>(loc, a, constant(b));
}
Value TileBuilder::divide(Value a, int64_t b) {
  return builder.createOrFold<arith::DivUIOp>(loc, a, constant(b));
}
Value TileBuilder::remainder(Value a, int64_t b) {
  return builder.createOrFold<arith::RemUIOp>(loc, a, constant(b));
}
Value TileBuilder::least(Value a, Value b) {
  return builder.createOrFold<arith::MinSIOp>(loc, a, b);
}
Value TileBuilder::greatest(Value a, Value b) {
  return builder.createOrFold<arith::MaxSIOp>(loc, a, b);
}

Value TileBuilder::codedTokens(kv::Plane plane, Value seen) {
  Value sinks = constant(policy.getTime().getSinks());
  Value tokens = greatest(subtract(seen, sinks), constant(0));
  return policy.getPlane(plane).buildCodedTokens(builder, loc, tokens);
}

Value TileBuilder::firstLive(Value seen) {
  return policy.getTime().buildFirstLive(builder, loc, seen);
}

TokenRange TileBuilder::range(kv::StreamAttr stream, Value seen, Value newest) {
  if (!newest)
    newest = seen;
  Value sinks = constant(policy.getTime().getSinks());
  if (stream.getKind() == "sink")
    return {constant(0), least(newest, sinks)};
  Value first = firstLive(seen);
  auto precision = policy.getPlane(stream.getPlane());
  const bool isOriginal = stream.getKind() == "original";
  if (!precision.keepsOriginals() || (isOriginal && precision.remakesCodes()))
    return {first, newest};
  Value border = add(sinks, codedTokens(stream.getPlane(), newest));
  if (!isOriginal)
    return {first, border};
  return {greatest(first, border), newest};
}

TokenRange TileBuilder::heldRange(kv::StreamAttr stream, Value seen,
                                  Value reached) {
  TokenRange live = range(stream, seen);
  if (stream.getKind() == "sink")
    return live;
  Value back =
      greatest(subtract(reached, constant(policy.getRollback())), constant(0));
  Value begin = least(live.begin, range(stream, back).begin);
  return {begin, live.end};
}

Value TileBuilder::evicted(Value seen) {
  Value sinks = least(seen, constant(policy.getTime().getSinks()));
  return greatest(subtract(least(firstLive(seen), seen), sinks), constant(0));
}

TokenRange TileBuilder::intersect(TokenRange a, TokenRange b) {
  return {greatest(a.begin, b.begin), least(a.end, b.end)};
}

SmallVector<int64_t> TileBuilder::borders(ArrayRef<kv::StreamAttr> of,
                                          int64_t most) {
  SmallVector<int64_t> all;
  if (most)
    all.push_back(most);
  for (kv::StreamAttr stream : of) {
    all.push_back(stream.getLayout().getTokens());
    const kv::PageLayout layout(stream);
    if (layout.block && layout.block->tokens > 1)
      all.push_back(layout.block->tokens);
  }
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  // A multiple of another border is met with it.
  SmallVector<int64_t> kept;
  for (int64_t border : all)
    if (llvm::none_of(kept, [&](int64_t b) { return border % b == 0; }))
      kept.push_back(border);
  return kept;
}

Value TileBuilder::nextBorder(Value token, int64_t origin,
                              ArrayRef<int64_t> borders, Value end) {
  Value offset = subtract(token, constant(origin));
  Value next = end;
  for (int64_t border : borders) {
    Value number = add(divide(offset, border), constant(1));
    next = least(next, add(multiply(number, border), constant(origin)));
  }
  return next;
}

SmallVector<Value> TileBuilder::forRuns(
    TokenRange tokens, int64_t origin, ArrayRef<int64_t> borders,
    ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Run, ValueRange)> body) {
  SmallVector<Value> inits{tokens.begin};
  llvm::append_range(inits, carried);
  SmallVector<Type> types(ValueRange(inits).getTypes());
  const int64_t unit = runUnit(step);
  auto loop = scf::WhileOp::create(builder, loc, types, inits);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> places(types.size(), loc);
  Block *before = builder.createBlock(&loop.getBefore(), {}, types, places);
  Value more = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                     before->getArgument(0), tokens.end);
  scf::ConditionOp::create(builder, loc, more, before->getArguments());
  Block *after = builder.createBlock(&loop.getAfter(), {}, types, places);
  Run run;
  run.token = after->getArgument(0);
  run.stop = nextBorder(run.token, origin, borders, tokens.end);
  run.lead = remainder(subtract(run.token, constant(origin)), unit);
  run.count = add(subtract(run.stop, run.token), run.lead);
  SmallVector<Value> next{run.stop};
  llvm::append_range(next, body(run, after->getArguments().drop_front()));
  scf::YieldOp::create(builder, loc, next);
  return llvm::to_vector(
      llvm::map_range(loop.getResults().drop_front(),
                      [](OpResult result) -> Value { return result; }));
}

SmallVector<Value> TileBuilder::forHeads(
    ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  Value zero = constant(0), heads = constant(shape.getKvHeads()),
        one = constant(1);
  auto loop = scf::ForOp::create(builder, loc, zero, heads, one, carried);
  OpBuilder::InsertionGuard guard(builder);
  // A loop that carries nothing is born with its terminator.
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(builder, loc, next);
  return llvm::to_vector(llvm::map_range(
      loop.getResults(), [](OpResult result) -> Value { return result; }));
}

int64_t TileBuilder::blockHeads() {
  const auto schedule = step.getSchedule();
  const int64_t block = schedule ? schedule->getBlock() : 0;
  const int64_t group = shape.getGroup();
  return block == 0 ? group : std::min(block, group);
}

void TileBuilder::forBlocks(Value head, llvm::function_ref<void(Value)> body) {
  const int64_t group = shape.getGroup(), block = blockHeads();
  Value first = multiply(head, group);
  if (block == group)
    return body(first);
  auto loop = scf::ForOp::create(builder, loc, constant(0), constant(group),
                                 constant(block));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value begin = loop.getInductionVar();
  if (group % block != 0)
    begin = least(begin, constant(group - block));
  body(add(first, begin));
}

kv::PageType TileBuilder::pageType(int64_t stream) {
  return kv::PageType::get(builder.getContext(), streams[stream]);
}

Value TileBuilder::page(Value view, int64_t stream, Value token) {
  return kv::PageOp::create(builder, loc, pageType(stream), view,
                            builder.getI64IntegerAttr(stream), token);
}

MemRefType TileBuilder::bufferType(ArrayRef<int64_t> extents) {
  return MemRefType::get(extents, builder.getF32Type());
}

MemRefType TileBuilder::ioType(ArrayRef<int64_t> extents) {
  return MemRefType::get(extents, shape.getIo());
}

MemRefType TileBuilder::anglesType() {
  return bufferType({2, policy.getPosition().getPairs()});
}

} // namespace kvc
