//===- LateQueriesTest.cpp - several queries behind the newest token ------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each of several queries attends to tokens in the form they had at its length.
// Where the first one attends to nothing in some form, tokens from its border
// on may be held in another form alone, or in pages that are gone: tokens that
// are coded as they come are originals at no length. Queries over any range, a
// reader's chunks, and both in a cache that was loaded.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Model.h"
#include "compiler/harness/Together.h"
#include "test/unit/Check.h"
#include "llvm/Support/FormatVariadic.h"

using namespace kvc;
using namespace kvc::harness;
using namespace llvm;

namespace {

// The least of its kind, then: two planes with borders apart, groups of one
// token, windows in whose flushes most tokens left before, flushes that a piece
// of queries passes several times, readers.
const char *const specs[] = {
    "model: {layers: 1, heads: 1, head_dim: 8}\n"
    "cache: {keys: {bits: 8, per: token, residual: 0}, values: {bits: 8, per: "
    "token, residual: 0}, context: 64}\n",
    "model: {layers: 6, heads: 4, kv_heads: 2, head_dim: 6, value_dim: 5,\n"
    "        rope: {theta: 100}}\n"
    "cache: {keys: {bits: 8, per: token, residual: 0}, values: {bits: 4, per: "
    "token, residual: 0}, sink: 3, context: 160}\n"
    "layers:\n"
    "  - {at: 1, keys: {bits: 4, per: channel, group: 1, residual: 0}, values: "
    "f16, sink: 2}\n"
    "  - {at: 2, values: {bits: 8, per: channel, group: 16, residual: 5}}\n"
    "  - {at: 3, share: 0, heads: 2, alibi: true}\n"
    "  - {at: 4, share: 1, heads: 6}\n"
    "  - {at: 5, share: 2}\n",
    "model: {layers: 4, heads: 2, kv_heads: 1, head_dim: 8, io: f16}\n"
    "cache: {keys: {bits: 8, per: channel, group: 8, residual: 0}, values: "
    "{bits: 8, per: token, residual: 0}, window: 20, sink: 1}\n"
    "layers:\n"
    "  - {at: 1, keys: {bits: 4, per: channel, group: 20, flush: 40, residual: "
    "0}, values: {bits: 8, per: token, residual: 4}, window: 5}\n"
    "  - {at: 2, keys: {bits: 8, per: token, residual: 0}, values: {bits: 8, "
    "per: token, residual: 0}, window: 3, sink: 0, rollback: 2}\n"
    "  - {at: 3, share: 2, softcap: 4}\n"};

/// Lengths at which queries come, past page borders.
const int64_t lengths[] = {20, 66, 131, 150};

class Sequence {
public:
  Sequence(const LoadedLibrary &library, Comparison &both)
      : library(library), both(both), model(both.reference()) {}

  bool run();

private:
  std::vector<TokenInput> inputs(int64_t layer, int64_t from,
                                 int64_t count) const {
    std::vector<TokenInput> all;
    for (int64_t i = 0; i < count; ++i)
      all.push_back(makeInput(InputKind::Gaussian, /*seed=*/7, layer, from + i,
                              library.layers()[layer], model.stores(layer),
                              library.io()));
    return all;
  }
  int64_t limit(int64_t layer) const {
    return model.policy(layer).getTime().getLimit().value_or(INT64_MAX);
  }
  bool grow(int64_t length);
  bool queries(Comparison &of, int64_t layer);
  bool readers(int64_t layer);
  bool asks();
  /// What missed is said once.
  bool joined(Comparison &other, bool good) {
    if (!good)
      miss = other.miss();
    return good;
  }

  const LoadedLibrary &library;
  Comparison &both;
  const reference::Reference &model;

public:
  std::string miss;
};

/// Owners alone, one token after another: readers are yet to ask.
bool Sequence::grow(int64_t length) {
  for (int64_t layer = 0; layer < model.layers(); ++layer)
    while (model.stores(layer) &&
           model.seen(layer) < std::min(length, limit(layer)))
      if (!both.step(layer, inputs(layer, model.seen(layer), 1)[0],
                     /*compare=*/false))
        return false;
  return true;
}

/// From every tenth token on and the last ones, over ranges that lie before,
/// across and behind what the first query attends to, and are empty.
bool Sequence::queries(Comparison &of, int64_t layer) {
  const reference::Store &store = of.reference().store(layer);
  const int64_t seen = store.seen(), end = INT64_C(1) << 41;
  const int64_t sinks = model.policy(layer).getTime().getSinks();
  for (int64_t first = 1; first <= seen + 2;
       first += first + 10 < seen - 6 ? 10 : 1)
    for (int64_t count : {2, 3, 33}) {
      const auto asked = inputs(layer, seen, count);
      const int64_t ranges[][2] = {{0, end},
                                   {sinks, end},
                                   {std::max<int64_t>(0, sinks - 1), first},
                                   {first - 1, first + 1},
                                   {first, first},
                                   {first, end},
                                   {first + 1, first + 3},
                                   {seen - 1, seen},
                                   {seen, seen + 9}};
      for (auto [from, to] : ranges)
        if (from <= to &&
            !Comparison::parts(layer, {{&of, store.firstPosition() + first - 1,
                                        asked, from, to}}))
          return false;
    }
  return true;
}

/// A reader does not go back, so each chunk is a fork's first.
bool Sequence::readers(int64_t layer) {
  const int64_t seen = model.store(layer).seen();
  for (int64_t first = 1; first <= seen;
       first += first + 10 < seen - 6 ? 10 : 1)
    for (int64_t count : {2, 5, 140}) {
      count = std::min(count, seen - first + 1);
      auto fork = both.fork();
      if (!fork)
        return false;
      if (!joined(*fork,
                  fork->chunk(layer, inputs(layer, first - 1, count),
                              /*attends=*/true, seen - first - count + 1)))
        return false;
    }
  return true;
}

bool Sequence::asks() {
  Snapshot snapshot;
  if (!both.save(snapshot))
    return false;
  auto loaded = both.fresh();
  if (!loaded) {
    miss = toString(loaded.takeError());
    return false;
  }
  if (!joined(**loaded, (*loaded)->load(snapshot)))
    return false;
  for (int64_t layer = 0; layer < model.layers(); ++layer)
    if (!queries(both, layer) || !joined(**loaded, queries(**loaded, layer)) ||
        (!model.stores(layer) && !readers(layer)))
      return false;
  return true;
}

bool Sequence::run() {
  for (int64_t length : lengths)
    if (!grow(length) || !asks())
      return false;
  return true;
}

std::string check(const char *spec) {
  auto model = Model::fromSpec(std::string("kvc: 1\nname: late\n") + spec,
                               "late", /*threads=*/false);
  if (!model)
    return toString(model.takeError());
  auto library = openCompiled(**model, CompileOptions());
  if (!library)
    return toString(library.takeError());
  auto comparison =
      Comparison::create(*library, (*model)->module(), 1000,
                         makeSinks(/*seed=*/1, library->layers()));
  if (!comparison)
    return toString(comparison.takeError());
  Sequence sequence(*library, **comparison);
  if (!sequence.run())
    return sequence.miss.empty() ? (*comparison)->miss() : sequence.miss;
  std::printf("%lld rows, out at %.2f of its bound\n",
              static_cast<long long>((*comparison)->worst().rows),
              (*comparison)->worst().out);
  return compareTogether(*library, /*seed=*/5);
}

} // namespace

int main() {
  for (const char *spec : specs)
    CHECK_EQ(check(spec), "");
  return kvc::test::checkResult();
}
