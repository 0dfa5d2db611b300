//===- Play.cpp - random calls of one library -----------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Play.h"

using namespace llvm;

namespace kvc::harness {

// Products of query and key that one play may take the reference.
static constexpr double budget = 3e7;

static InputKind randomKind(Random &random) {
  // Half of the time what models look like, else any.
  if (random.oneIn(2))
    return random.oneIn(2) ? InputKind::Gaussian : InputKind::Outliers;
  return allInputKinds()[random.below(
      static_cast<int64_t>(allInputKinds().size()))];
}

Play::Play(std::unique_ptr<Comparison> comparison, const LoadedLibrary &library,
           uint64_t seed)
    : library(library), random(seed), seed(seed), kind(randomKind(random)),
      mixed(random.oneIn(4)), late(random.oneIn(3)) {
  auto first = std::make_unique<Branch>();
  first->history.resize(library.layers().size());
  first->both = std::move(comparison);
  branches.push_back(std::move(first));
  length = chooseLength();
}

Worst Play::worst() const {
  Worst all = before;
  for (const auto &branch : branches)
    all.join(branch->both->worst());
  return all;
}

void Play::note(Operation operation) {
  ++counts[static_cast<size_t>(operation)];
  latest.push_back(operation);
  if (latest.size() > 12)
    latest.pop_front();
}

bool Play::missed(const Twine &why) {
  if (!text.empty())
    return false;
  text = why.str();
  if (!operates)
    return false;
  text += "\n  sequence " + std::to_string(current + 1) + " of " +
          std::to_string(branches.size()) + "; the last operations:";
  for (Operation operation : latest)
    text += " " + operationNames()[static_cast<size_t>(operation)].str();
  return false;
}

bool Play::check(const Branch &branch, bool good) {
  return good || missed(branch.both->miss());
}

int64_t Play::limitOf(int64_t layer) const {
  return branches.front()->model().policy(layer).getTime().getLimit().value_or(
      INT64_MAX);
}

/// Past the borders of the layer that has them farthest away.
int64_t Play::chooseLength() {
  const reference::Reference &model = branches.front()->model();
  int64_t most = 1;
  double cost = 0;
  for (int64_t layer = 0; layer < model.layers(); ++layer) {
    kv::PolicyAttr policy = model.policy(layer);
    kv::ShapeAttr shape = model.shape(layer);
    int64_t originals = std::max(policy.getKeys().mostOriginals(),
                                 policy.getValues().mostOriginals());
    int64_t wanted = policy.getTime().getSinks() +
                     policy.getTime().getCapacity() + 2 * originals +
                     policy.getRollback() + 5;
    most = std::max(most, std::min<int64_t>(wanted, 400));
    cost += static_cast<double>(shape.getHeads()) *
            static_cast<double>(shape.getHeadDim() + shape.getValueDim());
  }
  const int64_t chosen = random.oneIn(4) ? random.between(1, most) : most;
  // A step attends to about as many tokens as there are steps, or fewer.
  cost *= static_cast<double>(chosen) * static_cast<double>(chosen) / 2;
  stride = 1 + static_cast<int64_t>(cost / budget);
  return chosen;
}

/// Single tokens as often as chunks; no more than any owner takes, nor across
/// the end of a context.
int64_t Play::chooseChunk(const Branch &branch) {
  const int64_t token = branch.token;
  int64_t most = random.oneIn(2) ? 1 : random.between(1, 150);
  most = std::min(most, length - token);
  for (int64_t layer = 0; layer < branch.model().layers(); ++layer) {
    if (const int64_t chunk = library.chunk(layer); chunk >= 0)
      most = std::min(most, chunk);
    if (token < limitOf(layer))
      most = std::min(most, limitOf(layer) - token);
  }
  return most;
}

/// How many tokens an owner takes on the way to `target`; one that is behind
/// the others may need several calls.
int64_t Play::nextOf(const Branch &branch, int64_t layer,
                     int64_t target) const {
  int64_t count =
      std::min(target, limitOf(layer)) - branch.model().store(layer).seen();
  if (const int64_t chunk = library.chunk(layer); chunk >= 0)
    count = std::min(count, chunk);
  return std::max<int64_t>(0, count);
}

TokenInput Play::input(const Branch &branch, int64_t layer, int64_t token) {
  const uint64_t from = branch.inputs ? Random::mix(seed, branch.inputs) : seed;
  return makeInput(mixed ? randomKind(random) : kind, from, layer, token,
                   library.layers()[layer], branch.model().stores(layer),
                   library.io());
}

std::vector<TokenInput> Play::inputsOf(const Branch &branch, int64_t layer,
                                       int64_t from, int64_t count) {
  std::vector<TokenInput> inputs;
  inputs.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    inputs.push_back(input(branch, layer, from + i));
  return inputs;
}

/// What an owner took can be given to another cache.
void Play::keep(Branch &branch, int64_t layer, std::vector<TokenInput> inputs) {
  taken += static_cast<int64_t>(inputs.size());
  if (!operates || !branch.model().stores(layer))
    return;
  for (TokenInput &input : inputs) {
    input.q.clear();
    branch.history[layer].push_back(std::move(input));
  }
}

/// A layer whose context ended before the others' do.
bool Play::playFull(Branch &branch, int64_t layer) {
  if (!branch.model().stores(layer) || branch.token > limitOf(layer))
    return true;
  note(Operation::BadCall);
  return branch.both->compareFull(layer, input(branch, layer, branch.token));
}

bool Play::playErrors(Branch &branch, int64_t layer, const TokenInput &input) {
  note(Operation::BadCall);
  std::vector<uint8_t> first, then;
  Comparison &both = *branch.both;
  if (operates && !both.snapshotBytes(first))
    return false;
  if (!both.compareErrors(layer, input))
    return false;
  if (operates && !both.snapshotBytes(then))
    return false;
  return first == then ||
         missed("a call that is refused changes what a snapshot has");
}

bool Play::playOwner(Branch &branch, int64_t layer, int64_t count) {
  Comparison &both = *branch.both;
  std::vector<TokenInput> inputs =
      inputsOf(branch, layer, branch.model().seen(layer), count);
  if (random.oneIn(40) && !playErrors(branch, layer, inputs.front()))
    return false;
  bool good = true;
  if (count > 1 && random.oneIn(4)) {
    note(Operation::Append);
    good = both.chunk(layer, inputs, /*attends=*/false);
  } else if ((count > 1 && random.oneIn(stride)) || random.oneIn(8)) {
    // The reference computes every row of a prefill.
    note(Operation::Prefill);
    good = both.chunk(layer, inputs, /*attends=*/true);
  } else {
    note(Operation::Decode);
    good = llvm::all_of(inputs, [&](const TokenInput &next) {
      return both.step(layer, next, random.oneIn(stride));
    });
  }
  keep(branch, layer, std::move(inputs));
  return good;
}

bool Play::playChunk(Branch &branch, int64_t count) {
  const reference::Reference &model = branch.model();
  const int64_t target = branch.token + count;
  SmallVector<int64_t> before;
  for (int64_t layer = 0; layer < model.layers(); ++layer)
    before.push_back(model.store(layer).seen());
  // At times the layers' lengths come apart.
  const int64_t last = operates && random.oneIn(12)
                           ? random.below(model.layers())
                           : model.layers() - 1;
  for (int64_t layer = 0; layer <= last; ++layer) {
    const bool owns = model.stores(layer);
    if (owns && before[layer] >= limitOf(layer)) {
      if (!check(branch, playFull(branch, layer)))
        return false;
      continue;
    }
    const int64_t next = owns ? nextOf(branch, layer, target)
                              : model.store(layer).seen() - before[layer];
    if (next > 0 && !check(branch, owns ? playOwner(branch, layer, next)
                                        : playReader(branch, layer, next)))
      return false;
    if (random.oneIn(6 * stride) && !check(branch, playQuery(branch, layer)))
      return false;
    if ((random.oneIn(6) || target == length) &&
        !check(branch, branch.both->compareStored(layer)))
      return false;
  }
  branch.token = target;
  return true;
}

std::string Play::runCalls() {
  while (branch().token < length)
    if (!playChunk(branch(), chooseChunk(branch())))
      break;
  return text;
}

} // namespace kvc::harness
