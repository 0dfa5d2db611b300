//===- Import.cpp - spec to cache level -----------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Import.h"
#include "dialect/KVOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace kvc {

namespace {

/// Turns one spec into one module.
class Importer {
public:
  Importer(MLIRContext &context, const spec::Spec &spec)
      : builder(&context), spec(spec) {}

  OwningOpRef<ModuleOp> run();

private:
  Location locate(spec::Location at) {
    return FileLineColLoc::get(builder.getContext(), spec.file, at.line,
                               at.column);
  }
  Type type(spec::FloatType type) {
    switch (type) {
    case spec::FloatType::F32:
      return builder.getF32Type();
    case spec::FloatType::F16:
      return builder.getF16Type();
    case spec::FloatType::BF16:
      return builder.getBF16Type();
    }
    return {};
  }

  kv::PrecisionAttrInterface precision(const spec::Precision &plane);
  kv::PrecisionAttrInterface floats(spec::FloatType kept);
  kv::PolicyAttr policy(const spec::Layer &layer, Location loc);
  kv::ShapeAttr shape(const spec::Layer &layer);
  LogicalResult addLayer(int64_t number, const spec::Layer &layer);
  void addBody(kv::LayerOp op);

  OpBuilder builder;
  const spec::Spec &spec;
};

} // namespace

kv::PrecisionAttrInterface Importer::precision(const spec::Precision &plane) {
  kv::PrecisionRequest request;
  if (!plane.coded)
    request.type = type(plane.type);
  request.bits = plane.bits;
  request.per = plane.per;
  request.groupAll = plane.groupAll;
  request.group = plane.group;
  request.flush = plane.flush;
  request.residual = plane.residual;
  request.scales = type(plane.scales);
  return dyn_cast_if_present<kv::PrecisionAttrInterface>(
      kv::makePrecision(builder.getContext(), request));
}

kv::PrecisionAttrInterface Importer::floats(spec::FloatType kept) {
  kv::PrecisionRequest request;
  request.type = type(kept);
  return dyn_cast_if_present<kv::PrecisionAttrInterface>(
      kv::makePrecision(builder.getContext(), request));
}

kv::ShapeAttr Importer::shape(const spec::Layer &layer) {
  return kv::ShapeAttr::getChecked(
      [&] { return emitError(locate(layer.at)); }, builder.getContext(),
      layer.heads, layer.kvHeads, layer.headDim, layer.valueDim, type(spec.io));
}

static kv::PositionRequest::Scaling scaling(const spec::RopeScaling &scaling) {
  return {scaling.type,
          {{"factor", scaling.factor},
           {"low", scaling.low},
           {"high", scaling.high},
           {"original_context", scaling.originalContext},
           {"beta_fast", scaling.betaFast},
           {"beta_slow", scaling.betaSlow},
           {"attention_factor", scaling.attentionFactor}},
          scaling.truncate};
}

kv::PolicyAttr Importer::policy(const spec::Layer &layer, Location loc) {
  MLIRContext *context = builder.getContext();
  kv::PositionRequest position;
  position.positions = layer.positions;
  if (layer.rope) {
    position.rotated = true;
    position.theta = layer.rope->theta;
    position.dims = layer.rope->dims;
    position.pairing = layer.rope->pairing;
    position.scaling = scaling(layer.rope->scaling);
  }
  auto keys = precision(layer.keys), values = precision(layer.values);
  auto residual = floats(layer.residualType);
  auto keySinks = floats(layer.keySinkType);
  auto valueSinks = floats(layer.valueSinkType);
  auto time = dyn_cast_if_present<kv::TimeAttrInterface>(
      kv::makeTime(context, {layer.sink, layer.window, layer.context}));
  auto where = dyn_cast_if_present<kv::PositionAttrInterface>(
      kv::makePosition(context, position));
  auto depth = dyn_cast_if_present<kv::DepthAttrInterface>(
      kv::makeDepth(context, {layer.share}));
  auto score = kv::makeScore(context, {layer.scale, layer.softcap,
                                       layer.alibiSlopes, layer.learnedSinks});
  const bool precise = keys && values && residual && keySinks && valueSinks;
  if (!precise || !time || !where || !depth) {
    emitError(loc) << "no point of the "
                   << (!precise ? "precision"
                       : !time  ? "time"
                       : !where ? "position"
                                : "depth")
                   << " axis is what this layer asks for";
    return {};
  }
  Type arithmetic;
  if (layer.arithmetic != "f32")
    arithmetic = builder.getIntegerType(layer.arithmetic == "i8" ? 8 : 16);
  return kv::PolicyAttr::getChecked(
      [&] { return emitError(loc); }, context, keys, values, residual, keySinks,
      valueSinks, time, where, depth, score, layer.rollback, arithmetic);
}

void Importer::addBody(kv::LayerOp op) {
  OpBuilder::InsertionGuard guard(builder);
  kv::ShapeAttr shape = op.getShape();
  const bool stores = op.getPolicy().getDepth().stores();
  Location loc = op.getLoc();
  auto tensor = [&](ArrayRef<int64_t> extents) -> Type {
    return RankedTensorType::get(extents, shape.getIo());
  };
  Type cacheType = kv::CacheType::get(builder.getContext());
  SmallVector<Type> types{cacheType,
                          tensor({shape.getHeads(), shape.getHeadDim()})};
  if (stores) {
    types.push_back(tensor({shape.getKvHeads(), shape.getHeadDim()}));
    types.push_back(tensor({shape.getKvHeads(), shape.getValueDim()}));
  }
  Block *body = builder.createBlock(&op.getBody(), {}, types,
                                    SmallVector<Location>(types.size(), loc));
  Value cache = body->getArgument(0);
  if (stores) {
    cache = kv::AppendOp::create(builder, loc, cacheType, cache,
                                 body->getArgument(2), body->getArgument(3));
    cache = kv::EvictOp::create(builder, loc, cacheType, cache);
    cache = kv::CodeOp::create(builder, loc, cacheType, cache);
  }
  auto attend = kv::AttendOp::create(
      builder, loc, tensor({shape.getHeads(), shape.getValueDim()}),
      RankedTensorType::get({shape.getHeads()}, builder.getF32Type()), cache,
      body->getArgument(1));
  SmallVector<Value> yielded{attend.getOut(), attend.getLse()};
  if (stores)
    yielded.insert(yielded.begin(), cache);
  kv::YieldOp::create(builder, loc, yielded);
}

LogicalResult Importer::addLayer(int64_t number, const spec::Layer &layer) {
  Location loc = locate(layer.at);
  kv::ShapeAttr layerShape = shape(layer);
  kv::PolicyAttr layerPolicy = policy(layer, loc);
  if (!layerShape || !layerPolicy)
    return failure();
  auto op = kv::LayerOp::create(
      builder, loc, builder.getStringAttr("layer" + std::to_string(number)),
      layerShape, layerPolicy, FlatSymbolRefAttr());
  addBody(op);
  return success();
}

OwningOpRef<ModuleOp> Importer::run() {
  builder.getContext()->loadDialect<kv::KVDialect>();
  Location loc = locate({1, 1});
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto model = kv::ModelOp::create(
      builder, loc, builder.getStringAttr(spec.name),
      TypeAttr::get(type(spec.io)), builder.getStringAttr(spec.canonical));
  builder.createBlock(&model.getBody());
  for (auto [number, layer] : llvm::enumerate(spec.layers))
    if (failed(addLayer(static_cast<int64_t>(number), layer)))
      return {};
  if (failed(verify(*module)))
    return {};
  return module;
}

OwningOpRef<ModuleOp> importSpec(MLIRContext &context, const spec::Spec &spec) {
  return Importer(context, spec).run();
}

} // namespace kvc
