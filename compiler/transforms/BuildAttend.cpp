//===- BuildAttend.cpp - attention over the segments ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One skeleton for a decode step and for a prefill: `rows` tokens of a
// sequence ask together, and each has borders of its own. Loops run from the
// first token that any of them attends to up to the last one; where a run lies
// not within the borders of all of them, a mask puts that right. A decode step
// is one row, whose borders are the loops'.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/TileBuilder.h"

using namespace mlir;

namespace kvc {

namespace {

/// Where results go, as the last arguments of a function: out in io; where io
/// is not f32 the same place as f32, for results that are to be merged, and
/// which of the two is meant; lse.
class Output {
public:
  /// Where `lse` may be null the strides of it say so: then all that is
  /// written goes to one place.
  static void addTypes(TileBuilder &tiles, int64_t tokens,
                       SmallVectorImpl<Type> &types, bool lseMayBeNull) {
    kv::ShapeAttr shape = tiles.shape;
    const int64_t extents[] = {tokens, shape.getHeads(), shape.getValueDim()};
    types.push_back(tiles.ioType(extents));
    if (!shape.getIo().isF32())
      types.append({tiles.bufferType(extents), tiles.builder.getI1Type()});
    auto lse = tiles.bufferType({tokens, shape.getHeads()});
    if (lseMayBeNull)
      lse = MemRefType::Builder(lse).setLayout(
          StridedLayoutAttr::get(tiles.builder.getContext(), 0,
                                 {ShapedType::kDynamic, ShapedType::kDynamic}));
    types.push_back(lse);
  }

  Output() = default;
  explicit Output(ValueRange arguments)
      : out(arguments.front()), lse(arguments.back()) {
    if (arguments.size() == 4) {
      part = arguments[1];
      isPart = arguments[2];
    }
  }

  /// Row `row` and those behind it of `count` tokens.
  void write(TileBuilder &tiles, Value state, Value row, Value count) {
    OpBuilder &builder = tiles.builder;
    auto each = builder.getI64IntegerAttr(tiles.blockHeads());
    if (!part) {
      kv::FinishOp::create(builder, tiles.loc, state, out, row, count, each,
                           lse);
      return;
    }
    auto branch = scf::IfOp::create(builder, tiles.loc, isPart,
                                    /*withElseRegion=*/true);
    for (auto [block, to] :
         {std::pair<Block *, Value>{branch.thenBlock(), part},
          {branch.elseBlock(), out}}) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(block);
      kv::FinishOp::create(builder, tiles.loc, state, to, row, count, each,
                           lse);
    }
  }

private:
  Value out, part, isPart, lse;
};

/// Writes @<step>_attend or @<step>_attend_rows: one head of keys, all query
/// heads that meet it, one pass over the segments for each block of these.
class Attend {
public:
  Attend(TileBuilder &tiles, int64_t rows)
      : tiles(tiles), builder(tiles.builder), loc(tiles.loc), rows(rows),
        group(tiles.blockHeads()), schedule(*tiles.step.getSchedule()) {}

  void build(StringRef name);

private:
  void overSegments();
  kv::TileType tile(int64_t columns) {
    return kv::TileType::get(builder.getContext(), rows * group, columns);
  }
  func::FuncOp open(StringRef name);
  void splitScore();
  SmallVector<Value> rotations();
  /// The length as of which a row attends.
  Value lengthOf(Value row) { return tiles.add(seen, row); }
  /// What a row attends to in a segment.
  TokenRange borders(kv::SegmentAttr segment, Value row);
  /// Likewise, of what is asked for.
  TokenRange asked(kv::SegmentAttr segment, Value row) {
    return tiles.intersect(borders(segment, row), TokenRange{from, to});
  }
  Value firstWithTokens(kv::SegmentAttr segment);
  Value indexOf(kv::SegmentAttr segment, Value row) {
    return indexOf(segment.getRotation(), row);
  }
  Value indexOf(unsigned rotation, Value row);
  /// The last point, where it falls with distance; else none.
  kv::ScoreAttrInterface byDistance() const;
  Value nearest(Value row);
  Value settled(Value state);
  Value overRun(kv::SegmentAttr segment, Value query, Run run, Value ahead,
                Value whole, Value state);
  Value aheadOf(Run run, TokenRange tokens);
  Value logits(Value dots, kv::SegmentAttr segment, Run run);
  Value masked(Value dots, kv::SegmentAttr segment, Run run, Value whole);
  Value overSegment(kv::SegmentAttr segment, ArrayRef<Value> queries,
                    Value state);
  int64_t mostTokens(kv::StreamAttr stream) const;
  Value overStretches(TokenRange tokens, int64_t stretch, Value state,
                      llvm::function_ref<Value(TokenRange, Value)> overRuns);

  TileBuilder &tiles;
  OpBuilder &builder;
  Location loc;
  const int64_t rows;  ///< tokens that ask, at the most
  const int64_t group; ///< query heads of a block
  kv::ScheduleAttr schedule;

  double factor = 1;                          ///< into the query
  SmallVector<kv::ScoreAttrInterface> points; ///< into each dot product
  Value view, head, seen, count, newest, from, to, query;
  bool starts = false; ///< whether the softmax starts with a given logit
  Value sinks;
  SmallVector<Value> angles;
  Output output;
  Value firstHead; ///< query head
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

/// The query heads of a block, once for each rotation. They are scaled
/// behind it: what a scaled query lost would count where products cancel.
SmallVector<Value> Attend::rotations() {
  auto type = tile(tiles.shape.getHeadDim());
  Value asked = kv::RowsOp::create(builder, loc, type, query, firstHead, count,
                                   builder.getI64IntegerAttr(group));
  SmallVector<Value> rotated;
  for (Value table : angles)
    rotated.push_back(kv::RotateOp::create(builder, loc, type, asked, table,
                                           tiles.policy.getPosition(),
                                           /*exact=*/true));
  if (rotated.empty())
    rotated.push_back(asked);
  for (Value &tile : rotated)
    tile = kv::ScaleOp::create(builder, loc, type, tile,
                               builder.getF32FloatAttr(factor));
  return rotated;
}

TokenRange Attend::borders(kv::SegmentAttr segment, Value row) {
  Value length = lengthOf(row);
  Value held = tiles.least(length, newest);
  return tiles.intersect(
      tiles.range(tiles.streams[segment.getKeys()], length, held),
      tiles.range(tiles.streams[segment.getValues()], length, held));
}

/// The index that a row takes among a segment's tokens.
Value Attend::indexOf(unsigned rotation, Value row) {
  Value length = lengthOf(row);
  return tiles.policy.getPosition().buildQueryIndex(
      builder, loc, rotation, tiles.subtract(length, tiles.constant(1)),
      tiles.evicted(length));
}

kv::ScoreAttrInterface Attend::byDistance() const {
  if (points.empty() || points.back().getSteepestFall() == 0)
    return {};
  return points.back();
}

/// How far the nearest token lies before a row that attends to it, or 0. Where
/// all are far, what they lose by distance is large beside what they differ by,
/// and f32 has no bits for both: logits are counted from here.
Value Attend::nearest(Value row) {
  auto position = tiles.policy.getPosition();
  Value length = lengthOf(row), zero = tiles.constant(0);
  Value sinks = tiles.constant(tiles.policy.getTime().getSinks());
  Value end = tiles.least(tiles.least(length, newest), to);
  TokenRange body{tiles.greatest(tiles.firstLive(length), from), end};
  TokenRange sunk{from, tiles.least(end, sinks)};
  auto distance = [&](bool isSink, TokenRange tokens) {
    Value index = indexOf(position.rotationFor(isSink), row);
    Value last = tiles.subtract(tokens.end, tiles.constant(1));
    return tiles.greatest(tiles.subtract(index, last), zero);
  };
  auto choose = [&](bool isSink, TokenRange tokens, Value otherwise) -> Value {
    Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       tokens.begin, tokens.end);
    return arith::SelectOp::create(builder, loc, some, distance(isSink, tokens),
                                   otherwise);
  };
  return choose(false, body, choose(true, sunk, zero));
}

/// Fills an operation's region: what `body` gives of a row.
static void fillRegion(TileBuilder &tiles, Region &region,
                       llvm::function_ref<SmallVector<Value>(Value)> body) {
  OpBuilder::InsertionGuard guard(tiles.builder);
  Block *block =
      tiles.builder.createBlock(&region, {}, tiles.index(), tiles.loc);
  kv::YieldOp::create(tiles.builder, tiles.loc, body(block->getArgument(0)));
}

/// The state with logits as they are, and with the learned sinks.
Value Attend::settled(Value state) {
  auto settle = kv::SettleStateOp::create(
      builder, loc, state.getType(), state, byDistance(), firstHead,
      builder.getI64IntegerAttr(group), sinks);
  fillRegion(tiles, settle.getDistance(),
             [&](Value row) { return SmallVector<Value>{nearest(row)}; });
  return settle;
}

Value Attend::logits(Value dots, kv::SegmentAttr segment, Run run) {
  for (kv::ScoreAttrInterface &point : points) {
    auto logit = kv::LogitOp::create(builder, loc, dots.getType(), dots, point,
                                     firstHead, run.token, run.lead, run.count,
                                     builder.getI64IntegerAttr(group));
    fillRegion(tiles, logit.getIndex(), [&](Value row) {
      SmallVector<Value> yields{indexOf(segment, row)};
      if (byDistance() && &point == &points.back())
        yields.push_back(nearest(row));
      return yields;
    });
    dots = logit;
  }
  return dots;
}

Value Attend::masked(Value dots, kv::SegmentAttr segment, Run run,
                     Value whole) {
  auto mask = kv::MaskOp::create(
      builder, loc, dots.getType(), dots, run.token, run.lead, run.count, whole,
      whole ? builder.getI64IntegerAttr(group) : IntegerAttr());
  if (whole)
    fillRegion(tiles, mask.getBorders(), [&](Value row) {
      TokenRange range = borders(segment, row);
      return SmallVector<Value>{range.begin, range.end};
    });
  return mask;
}

/// The first token of the run that is asked for meanwhile; null where none is:
/// many rows compute long enough for a processor to look ahead by itself.
Value Attend::aheadOf(Run run, TokenRange tokens) {
  if (rows > 1 || schedule.getPrefetch() == 0)
    return {};
  Value later = run.stop;
  if (schedule.getPrefetch() > 1)
    later = tiles.add(later, tiles.constant((schedule.getPrefetch() - 1) *
                                            schedule.getRun()));
  return tiles.least(later, tiles.subtract(tokens.end, tiles.constant(1)));
}

Value Attend::overRun(kv::SegmentAttr segment, Value query, Run run,
                      Value ahead, Value whole, Value state) {
  auto page = [&](int64_t stream, Value token) {
    return token ? tiles.page(view, stream, token) : Value();
  };
  Value keys = page(segment.getKeys(), run.token);
  Value values = page(segment.getValues(), run.token);
  auto type = tile(schedule.getRun());
  Value dots = kv::ContractOp::create(builder, loc, type, query, Value(),
                                      Value(), keys, head, run.token, run.lead,
                                      run.count, page(segment.getKeys(), ahead),
                                      ahead, StringAttr(), schedule);
  dots = masked(logits(dots, segment, run), segment, run, whole);
  auto update = kv::SoftmaxUpdateOp::create(
      builder, loc, type, tile(1), state.getType(), dots, state, run.count);
  return kv::AccumulateOp::create(
      builder, loc, state.getType(), update.getWeights(), Value(), Value(),
      values, head, run.token, run.lead, run.count,
      page(segment.getValues(), ahead), ahead, update.getNext(),
      update.getAlpha(), StringAttr(), schedule);
}

/// The first row that attends to anything in a segment; the last one where
/// none does. Rows before it begin further back, where nobody may hold tokens
/// in this form: each of them attends to those in another.
Value Attend::firstWithTokens(kv::SegmentAttr segment) {
  Value one = tiles.constant(1);
  SmallVector<Type> types{tiles.index()};
  auto loop =
      scf::WhileOp::create(builder, loc, types, ValueRange{tiles.constant(0)});
  OpBuilder::InsertionGuard guard(builder);
  auto isLess = [&](Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
  };
  Block *before = builder.createBlock(&loop.getBefore(), {}, types, {loc});
  Value row = before->getArgument(0);
  TokenRange tokens = asked(segment, row);
  Value isEmpty = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                        tokens.begin, tokens.end);
  Value isOn = arith::AndIOp::create(builder, loc, isEmpty,
                                     isLess(row, tiles.subtract(count, one)));
  scf::ConditionOp::create(builder, loc, isOn, row);
  Block *after = builder.createBlock(&loop.getAfter(), {}, types, {loc});
  scf::YieldOp::create(builder, loc,
                       ValueRange{tiles.add(after->getArgument(0), one)});
  return loop.getResult(0);
}

/// A run over the tokens that any row attends to, and what lies between them:
/// borders only grow from row to row.
Value Attend::overSegment(kv::SegmentAttr segment, ArrayRef<Value> queries,
                          Value state) {
  const kv::StreamAttr keys = tiles.streams[segment.getKeys()];
  const kv::StreamAttr values = tiles.streams[segment.getValues()];
  TokenRange first = borders(segment, tiles.constant(0)), last = first;
  if (rows > 1)
    last = borders(segment, tiles.subtract(count, tiles.constant(1)));
  // Where nothing is rotated, one query serves all indices.
  Value query =
      queries.size() == 1 ? queries[0] : queries[segment.getRotation()];
  Value begin = first.begin;
  if (rows > 1)
    begin = borders(segment, firstWithTokens(segment)).begin;
  TokenRange tokens = tiles.intersect({begin, last.end}, TokenRange{from, to});
  auto isWhole = [&](Run run) -> Value {
    if (rows == 1)
      return {};
    auto within = [&](Value a, Value b) -> Value {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, a,
                                   b);
    };
    Value begins = within(last.begin, run.token);
    return arith::AndIOp::create(builder, loc, begins,
                                 within(run.stop, first.end));
  };
  const auto borders = tiles.borders({keys, values}, schedule.getRun());
  auto overRuns = [&](TokenRange tokens, Value state) {
    return tiles.forRuns(tokens, keys.getOrigin(), borders, state,
                         [&](Run run, ValueRange carried) {
                           return SmallVector<Value>{overRun(
                               segment, query, run, aheadOf(run, tokens),
                               isWhole(run), carried[0])};
                         })[0];
  };
  const int64_t stretch = stretchTokens(borders.front());
  if (std::min(mostTokens(keys), mostTokens(values)) <= stretch)
    return overRuns(tokens, state);
  return overStretches(tokens, stretch, state, overRuns);
}

/// Tokens that a stream holds at the most.
int64_t Attend::mostTokens(kv::StreamAttr stream) const {
  kv::TimeAttrInterface time = tiles.policy.getTime();
  if (stream.getKind() == "sink")
    return time.getSinks();
  auto precision = tiles.policy.getPlane(stream.getPlane());
  if (stream.getKind() == "original" && precision.keepsOriginals())
    return std::min(precision.mostOriginals() + rows, time.getCapacity());
  return time.getCapacity();
}

/// Long ranges in stretches: each is a softmax of its own, and joined to what
/// came before. What is added up one by one is rounded to the same side as
/// often as it is alike, n terms by up to n * 2^-25 of their sum; so sums are
/// kept to a few hundred terms, and sums of those.
Value Attend::overStretches(
    TokenRange tokens, int64_t stretch, Value state,
    llvm::function_ref<Value(TokenRange, Value)> overRuns) {
  SmallVector<Type> types{tiles.index(), state.getType()};
  auto loop = scf::WhileOp::create(builder, loc, types,
                                   ValueRange{tokens.begin, state});
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> places(2, loc);
  Block *before = builder.createBlock(&loop.getBefore(), {}, types, places);
  Value more = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                     before->getArgument(0), tokens.end);
  scf::ConditionOp::create(builder, loc, more, before->getArguments());
  Block *after = builder.createBlock(&loop.getAfter(), {}, types, places);
  Value begin = after->getArgument(0);
  Value end =
      tiles.least(tiles.add(begin, tiles.constant(stretch)), tokens.end);
  Value part = kv::InitStateOp::create(builder, loc, state.getType(), Value(),
                                       Value(), IntegerAttr());
  part = overRuns({begin, end}, part);
  Value joined = kv::MergeStateOp::create(builder, loc, state.getType(),
                                          after->getArgument(1), part);
  scf::YieldOp::create(builder, loc, ValueRange{end, joined});
  return loop.getResult(1);
}

func::FuncOp Attend::open(StringRef name) {
  kv::ShapeAttr shape = tiles.shape;
  const int64_t any = rows > 1 ? ShapedType::kDynamic : 1;
  const int64_t pairs = tiles.policy.getPosition().getPairs();
  const unsigned rotations = tiles.policy.getPosition().getRotations();
  SmallVector<Type> inputs{kv::ViewType::get(builder.getContext())};
  inputs.append(6, tiles.index());
  inputs.push_back(tiles.ioType({any, shape.getHeads(), shape.getHeadDim()}));
  inputs.append(rotations, tiles.bufferType({rows, 2, pairs}));
  const size_t before = inputs.size();
  Output::addTypes(tiles, any, inputs, /*lseMayBeNull=*/false);
  const size_t outputs = inputs.size() - before;
  if (starts)
    inputs.push_back(tiles.bufferType({shape.getHeads()}));
  func::FuncOp function = tiles.function(name, inputs, {});
  Value *arguments[] = {&view,   &head, &seen, &count,
                        &newest, &from, &to,   &query};
  unsigned number = 0;
  for (Value *argument : arguments)
    *argument = function.getArgument(number++);
  for (unsigned rotation = 0; rotation < rotations; ++rotation)
    angles.push_back(function.getArgument(number++));
  output = Output(function.getArguments().slice(number, outputs));
  if (starts)
    sinks = function.getArguments().back();
  if (rows == 1)
    count = tiles.constant(1);
  return function;
}

void Attend::build(StringRef name) {
  splitScore();
  open(name);
  tiles.forBlocks(head, [&](Value first) {
    firstHead = first;
    overSegments();
  });
  tiles.finish();
}

/// The query heads of a block.
void Attend::overSegments() {
  SmallVector<Value> queries = rotations();
  const bool first = sinks && !byDistance();
  Value state = kv::InitStateOp::create(
      builder, loc,
      kv::StateType::get(builder.getContext(), rows * group,
                         tiles.shape.getValueDim()),
      first ? sinks : Value(), first ? firstHead : Value(),
      first ? builder.getI64IntegerAttr(group) : IntegerAttr());
  for (kv::SegmentAttr segment : tiles.step.getSegmentList())
    state = overSegment(segment, queries, state);
  if (byDistance())
    state = settled(state);
  output.write(tiles, state, firstHead, count);
}

void buildAttend(TileBuilder &tiles) {
  Attend(tiles, 1).build("attend");
  const int64_t rows = tiles.step.getSchedule()->getRows();
  if (rows > 1)
    Attend(tiles, rows).build("attend_rows");
}

/// Writes @<step>_merge(parts, count, token, out, lse): the softmax over the
/// tokens of all parts, in the order of the parts.
void buildMerge(TileBuilder &tiles) {
  OpBuilder &builder = tiles.builder;
  Location loc = tiles.loc;
  kv::ShapeAttr shape = tiles.shape;
  const int64_t heads = shape.getHeads();
  SmallVector<Type> inputs{kv::PartsType::get(builder.getContext()),
                           tiles.index(), tiles.index()};
  Output::addTypes(tiles, 1, inputs, /*lseMayBeNull=*/true);
  auto function = tiles.function("merge", inputs, {});
  Value parts = function.getArgument(0), count = function.getArgument(1),
        token = function.getArgument(2);
  Output output(function.getArguments().drop_front(3));
  Value first = tiles.multiply(token, heads);
  auto type = kv::StateType::get(builder.getContext(), tiles.blockHeads(),
                                 shape.getValueDim());
  auto mergeBlock = [&](Value row) {
    auto over = [&](Value begin, Value end, Value step,
                    llvm::function_ref<Value(Value)> stateOf) -> Value {
      Value nothing = kv::InitStateOp::create(builder, loc, type, Value(),
                                              Value(), IntegerAttr());
      auto loop = scf::ForOp::create(builder, loc, begin, end, step, nothing);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value next =
          kv::MergeStateOp::create(builder, loc, type, loop.getRegionIterArg(0),
                                   stateOf(loop.getInductionVar()));
      scf::YieldOp::create(builder, loc, next);
      return loop.getResult(0);
    };
    // Many parts in stretches, as many runs are.
    Value stretch = tiles.constant(StretchRuns);
    Value all = over(tiles.constant(0), count, stretch, [&](Value begin) {
      Value end = tiles.least(tiles.add(begin, stretch), count);
      return over(begin, end, tiles.constant(1), [&](Value part) -> Value {
        return kv::LoadStateOp::create(builder, loc, type, parts, part,
                                       tiles.add(first, row));
      });
    });
    output.write(tiles, all, row, tiles.constant(1));
  };
  tiles.forHeads({}, [&](Value head, ValueRange) {
    tiles.forBlocks(head, mergeBlock);
    return SmallVector<Value>{};
  });
  tiles.finish();
}

} // namespace kvc
