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

Play::Play(Comparison &comparison, const LoadedLibrary &library, uint64_t seed)
    : comparison(comparison), library(library), model(comparison.reference()),
      random(seed), seed(seed), kind(randomKind(random)),
      mixed(random.oneIn(4)), length(chooseLength()) {}

int64_t Play::limitOf(int64_t layer) const {
  return model.policy(layer).getTime().getLimit().value_or(length);
}

/// Past the borders of the layer that has them farthest away.
int64_t Play::chooseLength() {
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
int64_t Play::chooseChunk(int64_t token) {
  int64_t most = random.oneIn(2) ? 1 : random.between(1, 150);
  most = std::min(most, length - token);
  for (int64_t layer = 0; layer < model.layers(); ++layer) {
    if (const int64_t chunk = library.chunk(layer); chunk >= 0)
      most = std::min(most, chunk);
    if (token < limitOf(layer))
      most = std::min(most, limitOf(layer) - token);
  }
  return most;
}

TokenInput Play::input(int64_t layer, int64_t token) {
  return makeInput(mixed ? randomKind(random) : kind, seed, layer, token,
                   library.layers()[layer], model.stores(layer), library.io());
}

/// A layer whose context ended before the others' do.
bool Play::playFull(int64_t layer, int64_t token) {
  return !model.stores(layer) || token > limitOf(layer) ||
         comparison.compareFull(layer, input(layer, token));
}

bool Play::playOwner(int64_t layer, int64_t token, int64_t count) {
  std::vector<TokenInput> inputs;
  inputs.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    inputs.push_back(input(layer, token + i));
  if (random.oneIn(40) && !comparison.compareErrors(layer, inputs.front()))
    return false;
  if (count > 1 && random.oneIn(4))
    return comparison.chunk(layer, inputs, /*attends=*/false);
  // The reference computes every row of a prefill.
  if ((count > 1 && random.oneIn(stride)) || random.oneIn(8))
    return comparison.chunk(layer, inputs, /*attends=*/true);
  return llvm::all_of(inputs, [&](const TokenInput &next) {
    return comparison.step(layer, next, random.oneIn(stride));
  });
}

/// A reader may leave queries out, of a chunk as well: it asks for the last
/// ones of it.
bool Play::playReader(int64_t layer, int64_t token, int64_t count) {
  if (random.oneIn(5))
    return true;
  std::vector<TokenInput> inputs;
  for (int64_t i = random.below(count); i < count; ++i)
    inputs.push_back(input(layer, token + i));
  if (random.oneIn(40) && !comparison.compareErrors(layer, inputs.back()))
    return false;
  if (inputs.size() > 1 || random.oneIn(4))
    return comparison.chunk(layer, inputs, /*attends=*/true);
  return comparison.step(layer, inputs.back(), random.oneIn(stride));
}

/// At the newest token, some way back, or ahead.
bool Play::playQuery(int64_t layer) {
  const reference::Store &store = model.store(layer);
  const int64_t seen = store.seen();
  const int64_t rollback = model.policy(layer).getRollback();
  int64_t back = 0;
  if (random.oneIn(2))
    back = random.between(0, std::min(seen - 1, 2 * rollback + 2));
  else if (random.oneIn(4))
    back = -random.between(1, 100);
  SmallVector<int64_t> cuts;
  for (int64_t i = random.below(4); i > 0; --i)
    cuts.push_back(random.between(0, seen + 1));
  llvm::sort(cuts);
  return comparison.query(layer, store.firstPosition() + seen - 1 - back,
                          input(layer, seen), cuts);
}

bool Play::playChunk(int64_t token, int64_t count) {
  for (int64_t layer = 0; layer < model.layers(); ++layer) {
    if (token >= limitOf(layer)) {
      if (!playFull(layer, token))
        return false;
      continue;
    }
    const bool right = model.stores(layer) ? playOwner(layer, token, count)
                                           : playReader(layer, token, count);
    if (!right)
      return false;
    if (random.oneIn(6 * stride) && !playQuery(layer))
      return false;
    if ((random.oneIn(6) || token + count == length) &&
        !comparison.compareStored(layer))
      return false;
  }
  return true;
}

std::string Play::run() {
  for (int64_t token = 0; token < length;) {
    const int64_t count = chooseChunk(token);
    if (!playChunk(token, count))
      return comparison.miss();
    token += count;
  }
  return "";
}

} // namespace kvc::harness
