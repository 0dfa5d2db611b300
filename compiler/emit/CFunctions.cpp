//===- CFunctions.cpp - a step's functions for the runtime ----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/emit/CFunctions.h"

#include "dialect/KVLayout.h"
#include "runtime/Generated.h"

using namespace mlir;

namespace kvc {

CFunctions::CFunctions(OpBuilder &builder, kv::StepOp step)
    : builder(builder), step(step), loc(step.getLoc()),
      pointer(LLVM::LLVMPointerType::get(step.getContext())),
      i64(builder.getI64Type()),
      none(LLVM::LLVMVoidType::get(step.getContext())) {}

LLVM::LLVMFuncOp CFunctions::callee(StringRef suffix) {
  auto module = step->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(
      (step.getSymName() + "_" + suffix).str());
  // Nothing outside the module calls it, so it can be inlined and dropped.
  if (function)
    function.setLinkage(LLVM::Linkage::Internal);
  return function;
}

LLVM::LLVMFuncOp CFunctions::open(StringRef suffix, Type result,
                                  ArrayRef<Type> inputs) {
  auto module = step->getParentOfType<ModuleOp>();
  builder.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(result, inputs);
  auto function = LLVM::LLVMFuncOp::create(
      builder, loc, (step.getSymName() + "_c_" + suffix).str(), type,
      LLVM::Linkage::Internal);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  return function;
}

Value CFunctions::integer(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, i64, value);
}

Value CFunctions::element(Value array, int64_t index, Type type) {
  Value place =
      LLVM::GEPOp::create(builder, loc, pointer, type, array,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  return place;
}

void CFunctions::pass(SmallVectorImpl<Value> &arguments, Value base,
                      ArrayRef<Value> sizes) {
  arguments.append({base, base, integer(0)});
  llvm::append_range(arguments, sizes);
  SmallVector<Value> strides(sizes.size());
  Value stride = integer(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    if (i > 0)
      stride = LLVM::MulOp::create(builder, loc, stride, sizes[i]);
  }
  llvm::append_range(arguments, strides);
}

void CFunctions::passStatic(SmallVectorImpl<Value> &arguments, Value base,
                            ArrayRef<int64_t> sizes) {
  SmallVector<Value> values;
  for (int64_t size : sizes)
    values.push_back(integer(size));
  pass(arguments, base, values);
}

std::string CFunctions::store(StringRef suffix) {
  LLVM::LLVMFuncOp function = callee(suffix);
  if (!function)
    return "";
  SmallVector<Type> inputs(function.getArgumentTypes());
  inputs.push_back(pointer);
  auto outer = open(suffix, none, inputs);
  Value out = outer.getArguments().back();
  SmallVector<Value> lengths(outer.getArguments().drop_back());
  auto call = LLVM::CallOp::create(builder, loc, function, lengths);
  SmallVector<Value> results;
  Type result = function.getFunctionType().getReturnType();
  if (auto aggregate = dyn_cast<LLVM::LLVMStructType>(result)) {
    for (int64_t i = 0; i < static_cast<int64_t>(aggregate.getBody().size());
         ++i)
      results.push_back(LLVM::ExtractValueOp::create(
          builder, loc, call.getResult(), ArrayRef<int64_t>{i}));
  } else if (call.getNumResults() == 1) {
    results.push_back(call.getResult());
  }
  for (auto [i, value] : llvm::enumerate(results))
    LLVM::StoreOp::create(builder, loc, value, element(out, i, i64));
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
  return outer.getName().str();
}

std::string CFunctions::append() {
  LLVM::LLVMFuncOp function = callee("append");
  if (!function)
    return "";
  kv::ShapeAttr shape = step.getShape();
  auto outer = open("append", i64, {pointer, i64, pointer, pointer, pointer});
  SmallVector<Value> arguments{outer.getArgument(0), outer.getArgument(1)};
  passStatic(arguments, outer.getArgument(2),
             {shape.getKvHeads(), shape.getHeadDim()});
  passStatic(arguments, outer.getArgument(3),
             {shape.getKvHeads(), shape.getValueDim()});
  auto position = step.getPolicy().getPosition();
  if (position.getRotations() > 0)
    passStatic(arguments, outer.getArgument(4), {2, position.getPairs()});
  auto call = LLVM::CallOp::create(builder, loc, function, arguments);
  LLVM::ReturnOp::create(builder, loc, call.getResults());
  return outer.getName().str();
}

std::string CFunctions::onLength(StringRef suffix) {
  LLVM::LLVMFuncOp function = callee(suffix);
  return function ? function.getName().str() : "";
}

bool CFunctions::takesSinks() {
  return llvm::any_of(step.getPolicy().getScore(), [](Attribute point) {
    return cast<kv::ScoreAttrInterface>(point).startsWithLogit();
  });
}

Value CFunctions::noSinks(StringRef suffix) {
  const std::string name =
      (step.getSymName() + "_" + suffix + "_no_sinks").str();
  const int64_t heads = step.getShape().getHeads();
  auto tensor = RankedTensorType::get({heads}, builder.getF32Type());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(
        step->getParentOfType<ModuleOp>().getBody());
    LLVM::GlobalOp::create(
        builder, loc, LLVM::LLVMArrayType::get(builder.getF32Type(), heads),
        /*isConstant=*/true, LLVM::Linkage::Internal, name,
        DenseElementsAttr::get(tensor,
                               -std::numeric_limits<float>::infinity()));
  }
  return LLVM::AddressOfOp::create(builder, loc, pointer, name);
}

std::string CFunctions::attend(StringRef suffix, int64_t rows) {
  LLVM::LLVMFuncOp function = callee(suffix);
  if (!function)
    return "";
  kv::ShapeAttr shape = step.getShape();
  auto outer = open(suffix, none, {pointer, pointer});
  // Members of kvc_gen_rows, each of 64 bits, in their order.
  int64_t number = 0;
  auto member = [&](Type type) -> Value {
    Value place = element(outer.getArgument(1), number++, i64);
    return LLVM::LoadOp::create(builder, loc, type, place);
  };
  SmallVector<Value> arguments{outer.getArgument(0)};
  for (int i = 0; i < 6; ++i) // head, seen, rows, newest, from, to
    arguments.push_back(member(i64));
  Value count = rows > 1 ? arguments[3] : integer(1);
  pass(arguments, member(pointer),
       {count, integer(shape.getHeads()), integer(shape.getHeadDim())});
  auto position = step.getPolicy().getPosition();
  for (unsigned rotation = 0; rotation < KVC_MAX_QUERIES; ++rotation) {
    Value table = member(pointer);
    if (rotation < position.getRotations())
      passStatic(arguments, table, {rows, 2, position.getPairs()});
  }
  Value out = member(pointer), lse = member(pointer);
  passOut(arguments, out, lse, member(i64), count);
  // A function that takes learned sinks gets those of no effect for null.
  if (takesSinks()) {
    Value sinks = member(pointer);
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    Value given = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                       sinks, null);
    sinks = LLVM::SelectOp::create(builder, loc, given, sinks, noSinks(suffix));
    passStatic(arguments, sinks, {shape.getHeads()});
  }
  LLVM::CallOp::create(builder, loc, function, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
  return outer.getName().str();
}

/// What kv.finish writes to, by token: out in io, where that is not f32 also
/// as f32 with what tells which of the two is meant; lse, a token's numbers
/// `lseStride` apart where it is given.
void CFunctions::passOut(SmallVectorImpl<Value> &arguments, Value out,
                         Value lse, Value partial, Value count,
                         Value lseStride) {
  kv::ShapeAttr shape = step.getShape();
  SmallVector<Value> sizes{count, integer(shape.getHeads()),
                           integer(shape.getValueDim())};
  pass(arguments, out, sizes);
  if (!shape.getIo().isF32()) {
    pass(arguments, out, sizes);
    arguments.push_back(LLVM::ICmpOp::create(
        builder, loc, LLVM::ICmpPredicate::ne, partial, integer(0)));
  }
  pass(arguments, lse, {count, integer(shape.getHeads())});
  if (lseStride)
    arguments.back() = lseStride;
}

std::string CFunctions::merge() {
  LLVM::LLVMFuncOp function = callee("merge");
  if (!function)
    return "";
  auto outer = open("merge", none, {pointer, i64, i64, pointer, pointer, i64});
  SmallVector<Value> arguments(outer.getArguments().take_front(3));
  // Who wants no lse has a place on the stack that all of it is written to.
  Value scratch = LLVM::AllocaOp::create(builder, loc, pointer,
                                         builder.getF32Type(), integer(1));
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  Value wanted = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                      outer.getArgument(4), null);
  Value lse = LLVM::SelectOp::create(builder, loc, wanted, outer.getArgument(4),
                                     scratch);
  Value stride =
      LLVM::SelectOp::create(builder, loc, wanted, integer(1), integer(0));
  passOut(arguments, outer.getArgument(3), lse, outer.getArgument(5),
          integer(1), stride);
  LLVM::CallOp::create(builder, loc, function, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
  return outer.getName().str();
}

std::string CFunctions::snapshot(StringRef suffix, kv::StreamAttr stream) {
  LLVM::LLVMFuncOp function = callee(suffix);
  if (!function)
    return "";
  const kv::PageLayout layout(stream);
  const int64_t heads = layout.layout.getHeads();
  auto outer = open(suffix, none, {pointer, i64, pointer, pointer});
  SmallVector<Value> arguments(outer.getArguments().take_front(2));
  passStatic(arguments, outer.getArgument(2),
             {heads, layout.layout.getChannels()});
  if (layout.block)
    passStatic(
        arguments, outer.getArgument(3),
        {heads, layout.pairChannels() * stream.getEncoding().getPairWords()});
  LLVM::CallOp::create(builder, loc, function, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
  return outer.getName().str();
}

std::string CFunctions::read() {
  LLVM::LLVMFuncOp planes[] = {callee("read_keys"), callee("read_values")};
  if (!planes[0] || !planes[1])
    return "";
  kv::ShapeAttr shape = step.getShape();
  auto outer =
      open("read", none, {pointer, i64, i64, i64, i64, i64, pointer, pointer});
  for (int plane = 0; plane < 2; ++plane) {
    Value buffer = outer.getArgument(6 + plane);
    Block *some = outer.addBlock(), *next = outer.addBlock();
    Value null = LLVM::ZeroOp::create(builder, loc, pointer);
    Value wanted = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                        buffer, null);
    LLVM::CondBrOp::create(builder, loc, wanted, some, next);
    builder.setInsertionPointToEnd(some);
    SmallVector<Value> arguments(outer.getArguments().take_front(6));
    const int64_t row = shape.getKvHeads() *
                        (plane == 0 ? shape.getHeadDim() : shape.getValueDim());
    Value size =
        LLVM::MulOp::create(builder, loc, outer.getArgument(5), integer(row));
    pass(arguments, buffer, size);
    LLVM::CallOp::create(builder, loc, planes[plane], arguments);
    LLVM::BrOp::create(builder, loc, next);
    builder.setInsertionPointToEnd(next);
  }
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
  return outer.getName().str();
}

} // namespace kvc
