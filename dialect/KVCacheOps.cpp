//===- KVCacheOps.cpp - the cache level: what happens ---------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/KVOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialect/KVOps.cpp.inc"

namespace kvc::kv {

SmallVector<LayerOp> ModelOp::getLayers() {
  return llvm::to_vector(getBody().getOps<LayerOp>());
}

LayerOp ModelOp::getLayer(int64_t number) {
  auto layers = getLayers();
  return number >= 0 && number < static_cast<int64_t>(layers.size())
             ? layers[number]
             : LayerOp();
}

LogicalResult ModelOp::verify() {
  for (Operation &op : getBody().front())
    if (!isa<LayerOp>(op))
      return op.emitOpError("is no kv.layer, which is all a model holds");
  auto layers = getLayers();
  if (layers.empty())
    return emitOpError("has no layer");
  for (auto [number, layer] : llvm::enumerate(layers)) {
    const int64_t self = static_cast<int64_t>(number);
    const int64_t owner = layer.getPolicy().getDepth().getOwner(self);
    if (layer.getShape().getIo() != getIo())
      return layer.emitOpError("has io ")
             << layer.getShape().getIo() << ", its model has " << getIo();
    if (owner == self && layer.getPolicy().getDepth().stores())
      continue;
    if (owner < 0 || owner >= self)
      return layer.emitOpError("is layer ")
             << self << " and reads layer " << owner
             << "; an owner is an earlier layer";
    LayerOp source = layers[owner];
    if (!source.getPolicy().getDepth().stores())
      return layer.emitOpError("reads layer ")
             << owner << ", which stores nothing itself";
    ShapeAttr a = layer.getShape(), b = source.getShape();
    if (a.getKvHeads() != b.getKvHeads() || a.getHeadDim() != b.getHeadDim() ||
        a.getValueDim() != b.getValueDim())
      return layer.emitOpError("has another shape of keys and values than "
                               "layer ")
             << owner << ", which it reads";
    PolicyAttr p = layer.getPolicy(), q = source.getPolicy();
    if (p.getKeys() != q.getKeys() || p.getValues() != q.getValues() ||
        p.getResidual() != q.getResidual() ||
        p.getKeySinks() != q.getKeySinks() ||
        p.getValueSinks() != q.getValueSinks() || p.getTime() != q.getTime() ||
        p.getPosition() != q.getPosition())
      return layer.emitOpError("has another policy of its cache than layer ")
             << owner << ", which it reads";
  }
  return success();
}

int64_t LayerOp::getNumber() {
  int64_t number = 0;
  for (LayerOp layer : (*this)->getBlock()->getOps<LayerOp>()) {
    if (layer == *this)
      return number;
    ++number;
  }
  return -1;
}

/// Checks that each moment of the cache is changed once at the most, and not
/// read after that.
static LogicalResult verifyLinear(Block &body) {
  auto consumes = [](Operation *op) { return !isa<AttendOp>(op); };
  auto check = [&](Value moment) -> LogicalResult {
    if (!isa<CacheType>(moment.getType()))
      return success();
    Operation *consumer = nullptr;
    for (Operation *user : moment.getUsers()) {
      // A loop would change one moment many times.
      if (user->getBlock() != &body)
        return user->emitOpError("uses a moment of the cache of another block");
      if (!consumes(user))
        continue;
      if (consumer) {
        Operation *later = user->isBeforeInBlock(consumer) ? consumer : user;
        return later->emitOpError("takes a moment of the cache that another "
                                  "operation takes too");
      }
      consumer = user;
    }
    for (Operation *user : moment.getUsers())
      if (consumer && user != consumer && !user->isBeforeInBlock(consumer))
        return user->emitOpError("reads a moment of the cache that is gone");
    return success();
  };
  for (Value argument : body.getArguments())
    if (failed(check(argument)))
      return failure();
  for (Operation &op : body)
    for (Value result : op.getResults())
      if (failed(check(result)))
        return failure();
  return success();
}

/// The types as an error names them.
static std::string listOf(TypeRange types) {
  if (types.empty())
    return "nothing";
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(types, stream,
                        [&](Type type) { stream << '\'' << type << '\''; });
  return text;
}

/// Checks that a body's operations take what it is given (`arguments`) and
/// give what a step gives.
static LogicalResult verifySignatures(Block &body, ArrayRef<Type> arguments,
                                      ShapeAttr shape) {
  auto check = [](Operation *op, StringRef verb, TypeRange types,
                  ArrayRef<Type> wanted) -> LogicalResult {
    if (types == TypeRange(wanted))
      return success();
    return op->emitOpError(verb)
           << " " << listOf(types) << ", its layer's shape and policy want "
           << listOf(wanted);
  };
  const Type out = RankedTensorType::get(
      {shape.getHeads(), shape.getValueDim()}, shape.getIo());
  const Type lse = RankedTensorType::get({shape.getHeads()},
                                         Float32Type::get(shape.getContext()));
  const bool stores = arguments.size() == 4;
  for (Operation &op : body) {
    if (isa<AppendOp>(op) &&
        failed(check(&op, "takes", op.getOperandTypes(),
                     {arguments[0], arguments[2], arguments[3]})))
      return failure();
    if (isa<AttendOp>(op) &&
        (failed(check(&op, "takes", op.getOperandTypes(),
                      {arguments[0], arguments[1]})) ||
         failed(check(&op, "gives", op.getResultTypes(), {out, lse}))))
      return failure();
  }
  SmallVector<Type> yielded{out, lse};
  if (stores)
    yielded.insert(yielded.begin(), arguments[0]);
  return check(&body.back(), "gives", body.back().getOperandTypes(), yielded);
}

/// Checks the body of a layer or a step against its shape and policy.
static LogicalResult verifyBody(Operation *op, Region &body, ShapeAttr shape,
                                PolicyAttr policy) {
  const PositionAttrInterface position = policy.getPosition();
  for (int64_t pair = 0; pair < position.getPairs(); ++pair) {
    auto [first, second] = position.getPairDims(pair);
    if (std::max(first, second) >= shape.getHeadDim())
      return op->emitOpError("rotates channel ")
             << std::max(first, second) << " of a head of "
             << shape.getHeadDim();
  }
  for (Attribute point : policy.getScore())
    if (const size_t heads =
            cast<ScoreAttrInterface>(point).getHeadNumbers().size();
        heads != 0 && heads != static_cast<size_t>(shape.getHeads()))
      return op->emitOpError("has ") << shape.getHeads() << " query heads, "
                                     << point << " has numbers for " << heads;
  if (body.empty())
    return success();
  MLIRContext *context = op->getContext();
  auto tensor = [&](ArrayRef<int64_t> extents) {
    return RankedTensorType::get(extents, shape.getIo());
  };
  SmallVector<Type> wanted{CacheType::get(context),
                           tensor({shape.getHeads(), shape.getHeadDim()})};
  if (policy.getDepth().stores()) {
    wanted.push_back(tensor({shape.getKvHeads(), shape.getHeadDim()}));
    wanted.push_back(tensor({shape.getKvHeads(), shape.getValueDim()}));
  }
  if (body.getArgumentTypes() != TypeRange(wanted))
    return op->emitOpError("takes ")
           << listOf(body.getArgumentTypes()) << ", its shape and policy want "
           << listOf(wanted);
  Block &block = body.front();
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op->emitOpError("does not end in kv.yield");
  if (!policy.getDepth().stores())
    for (Operation &inner : block)
      if (isa<AppendOp, EvictOp, CodeOp>(inner))
        return inner.emitOpError("changes a cache that the layer only reads");

  if (failed(verifySignatures(block, wanted, shape)))
    return failure();
  return verifyLinear(block);
}

LogicalResult LayerOp::verify() {
  if (getBody().empty() != getStep().has_value())
    return emitOpError("has either a body or a step that does it");
  return verifyBody(*this, getBody(), getShape(), getPolicy());
}

SmallVector<StreamAttr> StepOp::getStreamList() {
  if (!getStreams())
    return {};
  return llvm::to_vector(getStreams()->getAsRange<StreamAttr>());
}

SmallVector<SegmentAttr> StepOp::getSegmentList() {
  if (!getSegments())
    return {};
  return llvm::to_vector(getSegments()->getAsRange<SegmentAttr>());
}

LogicalResult StepOp::verify() {
  const auto streams = getStreamList();
  for (SegmentAttr segment : getSegmentList()) {
    auto is = [&](int64_t number, Plane plane) {
      return number >= 0 && number < static_cast<int64_t>(streams.size()) &&
             streams[number].getPlane() == plane;
    };
    if (!is(segment.getKeys(), Plane::Keys) ||
        !is(segment.getValues(), Plane::Values))
      return emitOpError("has a segment of streams that it does not have: ")
             << segment;
    const int64_t rotations = getPolicy().getPosition().getIndices();
    if (segment.getRotation() < 0 || segment.getRotation() >= rotations)
      return emitOpError("has a segment of rotation ")
             << segment.getRotation() << ", its position has " << rotations;
  }
  return verifyBody(*this, getBody(), getShape(), getPolicy());
}

} // namespace kvc::kv
