//===- PlayQueries.cpp - random queries over what is there ----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Readers that follow their owner or lag behind it, and queries over parts: one
// or many, at the newest token, behind it, across it and ahead of it, over
// ranges that are empty, or begin or end where some of them attend to nothing.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Play.h"

using namespace llvm;

namespace kvc::harness {

/// More than a piece has, where the reference is fast enough.
int64_t Play::mostQueries() const { return std::max<int64_t>(3, 150 / stride); }

/// A reader may leave queries out, of a chunk as well: it asks for the last
/// ones of the `taken` tokens that its owner took. Or it lags, as far as it has
/// not asked yet; mostly as far as is held.
Play::Queries Play::chooseQueries(const Branch &branch, int64_t layer,
                                  int64_t taken) {
  const reference::Store &store = branch.model().store(layer);
  const int64_t newest = store.seen();
  if (!random.oneIn(3)) {
    const int64_t skipped = random.below(taken);
    return {newest - taken + skipped + 1, taken - skipped};
  }
  int64_t first = std::max<int64_t>(1, branch.model().seen(layer));
  while (first < newest && !store.isHeld(first) && !random.oneIn(300))
    ++first;
  if (random.oneIn(2))
    first = random.between(first, newest);
  return {first,
          random.between(1, std::min(newest - first + 1, mostQueries()))};
}

/// Of an owner or a reader: at the newest token, some way back, or ahead; no
/// farther than fp64 has bits for what the steepest slope makes of it.
Play::Queries Play::chooseAsked(const Branch &branch, int64_t layer) {
  const int64_t seen = branch.model().store(layer).seen();
  const int64_t rollback = branch.model().policy(layer).getRollback();
  int64_t back = 0;
  if (random.oneIn(2))
    back = random.between(0, std::min(seen - 1, 2 * rollback + 2));
  else if (random.oneIn(3))
    back = random.between(0, seen - 1);
  else if (random.oneIn(4))
    back = random.oneIn(2) ? -random.between(1, 100)
                           : -(INT64_C(1) << random.between(7, 20));
  int64_t count = 1;
  if (random.oneIn(2))
    count = random.oneIn(3) ? random.between(2, mostQueries()) : 2;
  return {seen - back, count};
}

/// Anywhere, about the end of the sinks, or about where some query's tokens
/// end.
int64_t Play::chooseCut(const Branch &branch, int64_t layer, Queries queries) {
  const int64_t seen = branch.model().store(layer).seen();
  int64_t cut = 0;
  switch (random.below(4)) {
  case 0:
    cut = branch.model().policy(layer).getTime().getSinks() +
          random.between(-1, 1);
    break;
  case 1:
    cut = queries.first + random.between(-2, queries.count);
    break;
  default:
    cut = random.between(0, seen + 1);
  }
  return std::max<int64_t>(0, cut);
}

void Play::noteBehind(const Branch &branch, int64_t layer, Queries queries) {
  if (queries.count > 1 && queries.first < branch.model().store(layer).seen())
    note(Operation::Behind);
}

bool Play::playReader(Branch &branch, int64_t layer, int64_t count) {
  if (late ? !random.oneIn(4) : random.oneIn(5))
    return true;
  const Queries queries = chooseQueries(branch, layer, count);
  const int64_t behind =
      branch.model().store(layer).seen() - queries.first - queries.count + 1;
  const std::vector<TokenInput> inputs =
      inputsOf(branch, layer, queries.first - 1, queries.count);
  if (random.oneIn(40) && !playErrors(branch, layer, inputs.back()))
    return false;
  if (behind > 0)
    noteBehind(branch, layer, queries);
  if (inputs.size() > 1 || behind > 0 || random.oneIn(4)) {
    note(Operation::Prefill);
    return branch.both->chunk(layer, inputs, /*attends=*/true, behind);
  }
  note(Operation::Decode);
  return branch.both->step(layer, inputs.back(), random.oneIn(stride));
}

bool Play::playQuery(Branch &branch, int64_t layer) {
  const reference::Store &store = branch.model().store(layer);
  if (store.seen() == 0)
    return true;
  const Queries queries = chooseAsked(branch, layer);
  SmallVector<int64_t> cuts;
  for (int64_t i = random.below(4); i > 0; --i)
    cuts.push_back(cuts.empty() || !random.oneIn(4)
                       ? chooseCut(branch, layer, queries)
                       : cuts.back());
  llvm::sort(cuts);
  bool held = true;
  for (int64_t i = 0; i < queries.count; ++i)
    held = held && store.isHeld(queries.first + i);
  note(held ? Operation::Attend : Operation::Gone);
  if (held) {
    note(Operation::Merge);
    noteBehind(branch, layer, queries);
  }
  return branch.both->query(
      layer, store.firstPosition() + queries.first - 1,
      inputsOf(branch, layer, store.seen(), queries.count), cuts);
}

/// A part of each sequence, in one call.
bool Play::playQueriesTogether(int64_t layer) {
  std::vector<std::vector<TokenInput>> inputs(branches.size());
  std::vector<Comparison::Part> asked;
  for (auto [number, each] : enumerate(branches)) {
    const reference::Store &store = each->model().store(layer);
    if (store.seen() == 0)
      continue;
    const Queries queries = chooseAsked(*each, layer);
    inputs[number] = inputsOf(*each, layer, store.seen(), queries.count);
    int64_t from = 0, to = INT64_C(1) << 41;
    if (random.oneIn(2))
      from = chooseCut(*each, layer, queries);
    if (random.oneIn(2))
      to = chooseCut(*each, layer, queries);
    asked.push_back({each->both.get(),
                     store.firstPosition() + queries.first - 1, inputs[number],
                     std::min(from, to), std::max(from, to)});
    noteBehind(*each, layer, queries);
  }
  if (asked.empty())
    return true;
  note(Operation::Batch);
  const bool good = Comparison::parts(layer, asked);
  for (const auto &each : branches)
    if (!good)
      check(*each, each->both->miss().empty());
  return good;
}

} // namespace kvc::harness
