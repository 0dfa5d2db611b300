//===- VerifyInputs.cpp - how long a library is checked, and where --------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/VerifyInputs.h"

#include <set>

using namespace llvm;

namespace kvc::harness {

// The longest that a layer is checked: a larger window is not passed.
static constexpr int64_t longest = 5000;
// Products of query and key that one kind of input may take the reference.
static constexpr double budget = 3e8;

namespace {
/// What is at a border in one layer.
class Borders {
public:
  Borders(kv::PolicyAttr policy, kv::ShapeAttr shape)
      : policy(policy), shape(shape) {}

  int64_t wantedLength() const;
  /// A number for each thing that may change; a change of it is a border.
  SmallVector<int64_t, 8> state(int64_t seen) const;

private:
  int64_t blockTokens(kv::Plane plane) const {
    auto block = policy.getPlane(plane).getBlock(shape.getDim(plane));
    return block && !block->spansAllTokens() ? block->tokens : 1;
  }

  kv::PolicyAttr policy;
  kv::ShapeAttr shape;
};
} // namespace

int64_t Borders::wantedLength() const {
  auto time = policy.getTime();
  int64_t length = 0;
  for (kv::Plane plane : {kv::Plane::Keys, kv::Plane::Values})
    length = std::max(length, 2 * policy.getPlane(plane).mostOriginals() +
                                  2 * blockTokens(plane));
  // 150 more pass a page border or two.
  length += time.getSinks() + 150;
  if (auto limit = time.getLimit())
    return std::min({length, *limit, longest});
  return std::min(length + time.getCapacity(), longest);
}

SmallVector<int64_t, 8> Borders::state(int64_t seen) const {
  auto time = policy.getTime();
  const int64_t sinks = time.getSinks();
  const int64_t live = std::max<int64_t>(0, time.firstLive(seen) - sinks);
  SmallVector<int64_t, 8> state{seen >= sinks, live > 0, seen / 64};
  for (kv::Plane plane : {kv::Plane::Keys, kv::Plane::Values}) {
    state.push_back(
        policy.getPlane(plane).codedTokens(std::max<int64_t>(0, seen - sinks)));
    state.push_back(live / blockTokens(plane));
  }
  return state;
}

/// Marks the lengths around the first few changes of each thing.
static void mark(LayerSchedule &schedule, const Borders &borders) {
  const int64_t length = schedule.length;
  schedule.marks.resize(length + 1);
  SmallVector<int64_t, 8> before = borders.state(0);
  SmallVector<int, 8> changes(before.size());
  for (int64_t seen = 1; seen <= length; ++seen) {
    SmallVector<int64_t, 8> now = borders.state(seen);
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i] == before[i] || ++changes[i] > 6)
        continue;
      for (int64_t near : {seen - 1, seen, seen + 1})
        if (near >= 1 && near <= length)
          schedule.marks.set(near);
    }
    before = std::move(now);
  }
  if (length)
    schedule.marks.set(length);
}

static LayerSchedule scheduleLayer(const reference::Reference &model,
                                   int64_t layer, int64_t length,
                                   int64_t distinctLayers) {
  LayerSchedule schedule;
  kv::PolicyAttr policy = model.policy(layer);
  kv::ShapeAttr shape = model.shape(layer);
  schedule.length = length;
  mark(schedule, Borders(policy, shape));
  // The sum of what is stored at each length is what attention costs.
  double stored = 0;
  for (int64_t seen = 1; seen <= length; ++seen)
    stored += static_cast<double>(policy.getTime().stored(seen));
  const double cost =
      stored * static_cast<double>(shape.getHeads()) *
      static_cast<double>(shape.getHeadDim() + shape.getValueDim());
  schedule.stride =
      1 +
      static_cast<int64_t>(cost * static_cast<double>(distinctLayers) / budget);
  return schedule;
}

/// Whether each layer is the first of its kernels; a reader of an owner that
/// is not is none either.
static std::vector<bool> findDistinct(const reference::Reference &model) {
  std::set<std::pair<const void *, const void *>> known;
  std::vector<bool> distinct;
  distinct.reserve(static_cast<size_t>(model.layers()));
  for (int64_t layer = 0; layer < model.layers(); ++layer)
    distinct.push_back(
        known
            .insert({model.policy(layer).getKernelForm().getAsOpaquePointer(),
                     model.shape(layer).getAsOpaquePointer()})
            .second);
  // A distinct reader needs its owner at the same length.
  for (int64_t layer = 0; layer < model.layers(); ++layer)
    if (distinct[layer])
      distinct[model.owner(layer)] = true;
  return distinct;
}

static std::vector<LayerSchedule>
makeSchedule(const reference::Reference &model,
             function_ref<int64_t(int64_t, bool)> lengthOf) {
  const std::vector<bool> distinct = findDistinct(model);
  const auto count = llvm::count(distinct, true);
  std::vector<LayerSchedule> schedules;
  for (int64_t layer = 0; layer < model.layers(); ++layer) {
    // A reader lasts as long as its owner does.
    const int64_t length = model.stores(layer)
                               ? lengthOf(layer, distinct[layer])
                               : schedules[model.owner(layer)].length;
    schedules.push_back(scheduleLayer(model, layer, length, count));
    schedules.back().distinct = distinct[layer];
    if (!distinct[layer])
      schedules.back().stride *= 4;
  }
  return schedules;
}

std::vector<LayerSchedule> makeSchedule(const reference::Reference &model) {
  return makeSchedule(model, [&](int64_t layer, bool distinct) {
    const int64_t length =
        Borders(model.policy(layer), model.shape(layer)).wantedLength();
    return distinct ? length : std::min<int64_t>(length, 80);
  });
}

std::vector<LayerSchedule> makeSchedule(const reference::Reference &model,
                                        int64_t tokens) {
  return makeSchedule(model, [&](int64_t layer, bool) {
    auto limit = model.policy(layer).getTime().getLimit();
    return limit ? std::min(*limit, tokens) : tokens;
  });
}

} // namespace kvc::harness
