//===- BuildAttend.cpp - cpp ----------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/TileBuilder.h"

using namespace mlir;

namespace kvc {

namespace {

/// Writes @<step>_attend(view, seen, q, angles..., out, lse), with learned
/// sinks at the end where the step has them: for each head of keys one pass
/// over the segments with all query heads that meet it.
class Attend {
public:
  explicit Attend(TileBuilder &tiles)
      : tiles(tiles), builder(tiles.builder), loc(tiles.loc),
        group(tiles.shape.getGroup()), schedule(*tiles.step.getSchedule()) {}

  void build();

private:
  kv::TileType tile(int64_t rows, int64_t columns) {
    return kv::TileType::get(builder.getContext(), rows, columns);
  }
  void splitScore();
  SmallVector<Value> rotations(Value head);
  Value overRun(kv::SegmentAttr segment, Value query, Value head, Run run,
                Value state);
  Value logits(Value dots, kv::SegmentAttr segment, Value head, Run run);
  Value overSegment(kv::SegmentAttr segment, ArrayRef<Value> queries,
                    Value head, Value state);

  TileBuilder &tiles;
  OpBuilder &builder;
  Location loc;
  const int64_t group; ///< query heads a head of keys
  kv::ScheduleAttr schedule;

  double factor = 1;                          ///< into the query
  SmallVector<kv::ScoreAttrInterface> points; ///< into each dot product
  bool starts = false; ///< whether the softmax starts with a given logit
  Value view, seen, query, out, lse, sinks;
  SmallVector<Value> angles;
};

} // namespace

/// Leading points that are a factor go into the query, the rest stay.
void Attend::splitScore() {
  for (Attribute attribute : tiles.policy.getScore()) {
    auto point = cast<kv::ScoreAttrInterface>(attribute);
    if (point.startsWithLogit()) {
      starts = true;
      continue;
    }
    auto multiplier = point.getQueryFactor();
    if (points.empty() && multiplier)
      factor *= *multiplier;
    else
      points.push_back(point);
  }
}

/// The query heads that meet `head`, once for each rotation. They are scaled
/// behind it: what a scaled query lost would count where products cancel.
SmallVector<Value> Attend::rotations(Value head) {
  auto type = tile(group, tiles.shape.getHeadDim());
  Value rows = kv::RowsOp::create(builder, loc, type, query,
                                  tiles.multiply(head, group));
  SmallVector<Value> rotated;
  for (Value table : angles)
    rotated.push_back(kv::RotateOp::create(builder, loc, type, rows, table,
                                           tiles.policy.getPosition(),
                                           /*exact=*/true));
  if (rotated.empty())
    rotated.push_back(rows);
  for (Value &tile : rotated)
    tile = kv::ScaleOp::create(builder, loc, type, tile,
                               builder.getF32FloatAttr(factor));
  return rotated;
}

Value Attend::logits(Value dots, kv::SegmentAttr segment, Value head, Run run) {
  if (points.empty())
    return dots;
  Value position = tiles.subtract(seen, tiles.constant(1));
  Value first = tiles.firstLive(seen);
  Value sinks =
      tiles.least(seen, tiles.constant(tiles.policy.getTime().getSinks()));
  Value gone = tiles.greatest(tiles.subtract(tiles.least(first, seen), sinks),
                              tiles.constant(0));
  Value index = tiles.policy.getPosition().buildQueryIndex(
      builder, loc, segment.getRotation(), position, gone);
  Value firstHead = tiles.multiply(head, group);
  for (kv::ScoreAttrInterface point : points)
    dots =
        kv::LogitOp::create(builder, loc, dots.getType(), dots, point,
                            firstHead, index, run.token, run.lead, run.count);
  return dots;
}

Value Attend::overRun(kv::SegmentAttr segment, Value rows, Value head, Run run,
                      Value state) {
  Value keys = tiles.page(view, segment.getKeys(), run.token);
  Value values = tiles.page(view, segment.getValues(), run.token);
  auto type = tile(group, schedule.getRun());
  Value dots = kv::ContractOp::create(builder, loc, type, rows, Value(),
                                      Value(), keys, head, run.token, run.lead,
                                      run.count, StringAttr(), schedule);
  dots = logits(dots, segment, head, run);
  Value masked =
      kv::MaskOp::create(builder, loc, type, dots, run.lead, run.count);
  auto update =
      kv::SoftmaxUpdateOp::create(builder, loc, type, tile(group, 1),
                                  state.getType(), masked, state, run.count);
  return kv::AccumulateOp::create(
      builder, loc, state.getType(), update.getWeights(), Value(), Value(),
      values, head, run.token, run.lead, run.count, update.getNext(),
      update.getAlpha(), StringAttr(), schedule);
}

Value Attend::overSegment(kv::SegmentAttr segment, ArrayRef<Value> queries,
                          Value head, Value state) {
  const kv::StreamAttr keys = tiles.streams[segment.getKeys()];
  const kv::StreamAttr values = tiles.streams[segment.getValues()];
  // Where nothing is rotated, one query serves all indices.
  Value rows =
      queries.size() == 1 ? queries[0] : queries[segment.getRotation()];
  TokenRange tokens =
      tiles.intersect(tiles.range(keys, seen), tiles.range(values, seen));
  return tiles.forRuns(tokens, keys.getOrigin(),
                       tiles.borders({keys, values}, schedule.getRun()), state,
                       [&](Run run, ValueRange carried) {
                         return SmallVector<Value>{
                             overRun(segment, rows, head, run, carried[0])};
                       })[0];
}

void Attend::build() {
  splitScore();
  kv::ShapeAttr shape = tiles.shape;
  SmallVector<Type> inputs{
      kv::ViewType::get(builder.getContext()), tiles.index(),
      tiles.bufferType({shape.getHeads(), shape.getHeadDim()})};
  const unsigned rotations = tiles.policy.getPosition().getRotations();
  inputs.append(rotations, tiles.anglesType());
  inputs.push_back(tiles.bufferType({shape.getHeads(), shape.getValueDim()}));
  inputs.push_back(tiles.bufferType({shape.getHeads()}));
  if (starts)
    inputs.push_back(tiles.bufferType({shape.getHeads()}));
  auto function = tiles.function("attend", inputs, {});
  view = function.getArgument(0);
  seen = function.getArgument(1);
  query = function.getArgument(2);
  for (unsigned rotation = 0; rotation < rotations; ++rotation)
    angles.push_back(function.getArgument(3 + rotation));
  out = function.getArgument(3 + rotations);
  lse = function.getArgument(4 + rotations);
  if (starts)
    sinks = function.getArgument(5 + rotations);

  tiles.forHeads({}, [&](Value head, ValueRange) {
    SmallVector<Value> queries = this->rotations(head);
    Value state = kv::InitStateOp::create(
        builder, loc,
        kv::StateType::get(builder.getContext(), group, shape.getValueDim()),
        sinks, sinks ? tiles.multiply(head, group) : Value());
    for (kv::SegmentAttr segment : tiles.step.getSegmentList())
      state = overSegment(segment, queries, head, state);
    kv::FinishOp::create(builder, loc, state, out, tiles.multiply(head, group),
                         lse);
    return SmallVector<Value>{};
  });
  tiles.finish();
}

void buildAttend(TileBuilder &tiles) { Attend(tiles).build(); }

} // namespace kvc
