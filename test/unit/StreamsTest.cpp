//===- StreamsTest.cpp - windows, sinks and readers at every border -------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Libraries against the reference, twice over: step by step, all that is stored
// compared bit for bit at every length, and in chunks that are longer than
// windows, flushes and pieces. `kvc fuzz` draws such specs and calls; here each
// relation of window to group, flush and chunk is there, and all its borders
// are passed.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Model.h"
#include "test/unit/Check.h"
#include "llvm/Support/FormatVariadic.h"

using namespace kvc;
using namespace kvc::harness;
using namespace llvm;

namespace {

/// Each layer is a case of its own, or one of several that share a sequence.
struct Case {
  const char *name;
  const char *model; ///< besides layers
  std::vector<const char *> layers;
};

const char *const grouped = "heads: 4, kv_heads: 2, head_dim: 6, value_dim: 5, "
                            "rope: {theta: 100, dims: 4}";

const Case cases[] = {
    {"windows of one",
     grouped,
     {"keys: f16, values: f32, window: 1",
      "keys: f32, values: bf16, window: 1, sink: 3, positions: cache",
      // A group of one token is coded as it comes.
      "keys: {bits: 4, per: channel, group: 1}, values: {bits: 8, per: token}, "
      "window: 1, rollback: 2",
      // Of each flush all but one token left before it.
      "keys: {bits: 8, per: channel, group: 4, flush: 8}, values: {bits: 2, "
      "per: channel, group: 5}, window: 1, sink: 2, positions: cache"}},
    {"windows smaller than a group",
     grouped,
     {"keys: {bits: 4, per: channel, group: 32}, values: {bits: 4, per: "
      "channel, group: 16}, window: 7",
      "keys: {bits: 8, per: channel, group: 33}, values: f16, window: 9, sink: "
      "5, positions: cache, residual_type: bf16",
      // What rollback holds is more than what is stored.
      "keys: {bits: 2, per: channel, group: 20}, values: {bits: 4, per: "
      "token}, window: 6, sink: 1, rollback: 21"}},
    {"windows equal to a flush",
     grouped,
     {"keys: {bits: 4, per: channel, group: 8, flush: 24}, values: {bits: 4, "
      "per: token, group: 3, flush: 24}, window: 24, sink: 3, positions: cache",
      "keys: {bits: 8, per: channel, group: 16}, values: {bits: 2, per: "
      "channel, group: 16}, window: 16, rollback: 5",
      // Counted from the end of what waits, the flush is the window's end.
      "keys: {bits: 4, per: channel, group: 5, flush: 10, residual: 15}, "
      "values: {bits: 8, per: token, residual: 24}, window: 25, sink: 7"}},
    {"windows smaller than a flush",
     grouped,
     {"keys: {bits: 4, per: channel, group: 8, flush: 40}, values: {bits: 4, "
      "per: token, flush: 30}, window: 11, sink: 4, positions: cache",
      "keys: {bits: 8, per: token, group: 4, flush: 37, residual: 3}, values: "
      "{bits: 8, per: channel, group: 7, flush: 35}, window: 13, rollback: 9"}},
    {"windows that groups do not divide",
     grouped,
     {"keys: {bits: 4, per: channel, group: 8, flush: 16}, values: {bits: 4, "
      "per: token, residual: 19}, window: 45, sink: 5, positions: cache, "
      "sink_type: f32, residual_type: f16",
      "keys: {bits: 2, per: channel, group: 9}, values: {bits: 8, per: "
      "channel, group: 6, flush: 12, residual: 5}, window: 131, rollback: 3"}},
    {"sinks without a window",
     grouped,
     {"keys: {bits: 4, per: channel, group: 16, flush: 32}, values: {bits: 4, "
      "per: token, residual: 20}, sink: 5, window: all, context: 210",
      "keys: f16, values: bf16, sink: 1, window: all, context: 199",
      // More of them than a page has tokens.
      "keys: {bits: 8, per: token}, values: f32, sink: 150, window: all, "
      "context: 260"}},
    {"local and global layers",
     "heads: 4, kv_heads: 1, head_dim: 8, io: f16",
     {"keys: f16, values: f16, window: 16",
      "keys: {bits: 8, per: channel, group: 16}, values: {bits: 8, per: "
      "token}, window: all, context: 300",
      "keys: f16, values: f16, window: 4, sink: 2, rope: {theta: 100}, "
      "positions: cache",
      "keys: {bits: 4, per: channel}, values: {bits: 4, per: token}, window: "
      "70, rope: {theta: 5000, pairing: interleaved}",
      "keys: bf16, values: bf16, window: all, sink: 3, context: 300",
      "keys: f16, values: f16, window: 16, alibi: true, sink: 4, positions: "
      "cache"}},
    {"readers with rollback",
     grouped,
     {"keys: {bits: 4, per: channel, group: 8}, values: {bits: 4, per: token, "
      "residual: 6}, window: 20, sink: 3, positions: cache, rollback: 11",
      "share: 0, heads: 2, softcap: 3",
      // Goes back further than its window is long.
      "keys: f16, values: {bits: 8, per: channel, group: 6}, window: 5, "
      "rollback: 12",
      "share: 2", "share: 0, heads: 6, alibi: true"}},
    // Without rollback readers follow each step.
    {"readers without rollback",
     grouped,
     {"keys: f32, values: f32, window: 3, sink: 1", "share: 0, scale: -2",
      "keys: {bits: 4, per: channel, group: 8}, values: {bits: 8, per: token, "
      "residual: 5}, window: 19",
      "share: 2, heads: 2"}},
    {"one scale over a window",
     grouped,
     {"keys: {bits: 4, per: channel, group: all}, values: {bits: 8, per: "
      "channel, group: all}, window: 9, sink: 2, positions: cache, rollback: 4",
      "share: 0",
      "keys: {bits: 2, per: channel, group: all}, values: f16, window: 1"}}};

std::string specOf(const Case &one) {
  std::string text =
      formatv("kvc: 1\nname: streams\nmodel: {{layers: {0}, {1}}\nlayers:\n",
              one.layers.size(), one.model)
          .str();
  for (auto [number, layer] : enumerate(one.layers))
    text += formatv("  - {{at: {0}, {1}}\n", number, layer);
  return text;
}

/// One sequence through all layers together.
class Sequence {
public:
  Sequence(const LoadedLibrary &library, Comparison &both)
      : library(library), both(both), model(both.reference()) {}

  int64_t length() const;
  bool bySteps();
  bool inChunks();

private:
  TokenInput input(int64_t layer, int64_t token) const {
    return makeInput(token % 5 == 2 ? InputKind::Outliers : InputKind::Gaussian,
                     /*seed=*/3, layer, token, library.layers()[layer],
                     model.stores(layer), library.io());
  }
  std::vector<TokenInput> inputs(int64_t layer, int64_t from,
                                 int64_t count) const {
    std::vector<TokenInput> all;
    for (int64_t i = 0; i < count; ++i)
      all.push_back(input(layer, from + i));
    return all;
  }
  int64_t lengthOf(int64_t layer) const;
  bool readerStep(int64_t layer, int64_t token);
  bool queries(int64_t layer, int64_t token);

  const LoadedLibrary &library;
  Comparison &both;
  const reference::Reference &model;
};

/// Everything of the layer has happened at least twice by then.
int64_t Sequence::lengthOf(int64_t layer) const {
  kv::PolicyAttr policy = model.policy(layer);
  auto time = policy.getTime();
  if (auto limit = time.getLimit())
    return *limit;
  int64_t length = time.getSinks() + 2 * time.getCapacity();
  for (kv::Plane plane : {kv::Plane::Keys, kv::Plane::Values})
    length = std::max(length, time.getSinks() +
                                  3 * policy.getPlane(plane).mostOriginals());
  // And page borders.
  return length + 2 * policy.getRollback() + 150;
}

int64_t Sequence::length() const {
  int64_t most = 0;
  for (int64_t layer = 0; layer < model.layers(); ++layer)
    most = std::max(most, lengthOf(layer));
  return most;
}

/// Readers come at every step, or as late as they may: then they ask for all
/// that they left out.
bool Sequence::readerStep(int64_t layer, int64_t token) {
  const int64_t lag = model.policy(model.owner(layer)).getRollback();
  if (layer % 2 || lag == 0)
    return both.step(layer, input(layer, token), /*compare=*/true);
  if (token % (lag + 1) != lag)
    return true;
  return both.chunk(layer, inputs(layer, token - lag, lag + 1),
                    /*attends=*/true);
}

/// As of the newest token, as far back as rollback goes and one step more, and
/// ahead; the sinks apart, and the newest half of the window.
bool Sequence::queries(int64_t layer, int64_t token) {
  kv::PolicyAttr policy = model.policy(layer);
  const int64_t rollback = policy.getRollback();
  const int64_t first = model.store(layer).firstPosition();
  const int64_t sinks = policy.getTime().getSinks();
  const int64_t half = std::max(
      sinks,
      token - std::min<int64_t>(token, policy.getTime().getCapacity()) / 2);
  for (int64_t back :
       {int64_t{0}, rollback / 2, rollback, rollback + 1, int64_t{-9}})
    if (back <= token && !both.query(layer, first + token - back,
                                     input(layer, token), {sinks, half}))
      return false;
  return true;
}

bool Sequence::bySteps() {
  const int64_t end = length();
  for (int64_t token = 0; token < end; ++token)
    for (int64_t layer = 0; layer < model.layers(); ++layer) {
      if (auto limit = model.policy(layer).getTime().getLimit();
          limit && token >= *limit) {
        if (!both.compareFull(layer, input(layer, token)))
          return false;
        continue;
      }
      const bool right =
          model.stores(layer)
              ? both.step(layer, input(layer, token), /*compare=*/true)
              : readerStep(layer, token);
      if (!right || !both.compareStored(layer))
        return false;
      if (token % 7 == 3 && !queries(layer, token))
        return false;
    }
  return true;
}

bool Sequence::inChunks() {
  const int64_t end = length();
  // Longer than most windows and flushes, than a piece (128), and than both.
  const int64_t cuts[] = {1, 23, 2, 61, 1, 129, 5, 3, 40, 300};
  int64_t most = INT64_MAX;
  for (int64_t layer = 0; layer < model.layers(); ++layer)
    if (const int64_t chunk = library.chunk(layer); chunk >= 0)
      most = std::min(most, chunk);
  size_t turn = 0;
  for (int64_t token = 0; token < end; ++turn) {
    int64_t count = std::min({cuts[turn % std::size(cuts)], most, end - token});
    for (int64_t layer = 0; layer < model.layers(); ++layer)
      if (int64_t limit = library.limit(layer); token < limit)
        count = std::min(count, limit - token);
    for (int64_t layer = 0; layer < model.layers(); ++layer) {
      if (token >= library.limit(layer))
        continue;
      const auto chunk = inputs(layer, token, count);
      const bool attends = turn % 3 != 1 || !model.stores(layer);
      if (!both.chunk(layer, chunk, attends) || !both.compareStored(layer) ||
          !queries(layer, token + count - 1))
        return false;
    }
    token += count;
  }
  return true;
}

/// Whether all borders were passed, which the miss of none would not tell.
void checkPassed(const Case &one, const Comparison &both) {
  const reference::Reference &model = both.reference();
  for (int64_t layer = 0; layer < model.layers(); ++layer) {
    const reference::Store &store = model.store(layer);
    auto time = model.policy(layer).getTime();
    if (time.getLimit())
      CHECK_EQ(store.seen(), *time.getLimit());
    else
      CHECK(store.evicted() > time.getCapacity());
  }
  std::printf("%-34s %3lld tokens, %6lld rows, out at %.2f of its bound\n",
              one.name, static_cast<long long>(model.store(0).seen()),
              static_cast<long long>(both.worst().rows), both.worst().out);
}

std::string play(const LoadedLibrary &library, Model &model, const Case &one,
                 bool chunks) {
  auto comparison =
      Comparison::create(library, model.module(), chunks ? 12345 : 0,
                         makeSinks(/*seed=*/1, library.layers()));
  if (!comparison)
    return toString(comparison.takeError());
  Sequence sequence(library, **comparison);
  if (chunks ? sequence.inChunks() : sequence.bySteps())
    checkPassed(one, **comparison);
  return (*comparison)->miss();
}

std::string check(const Case &one) {
  auto model = Model::fromSpec(specOf(one), "streams", /*threads=*/false);
  if (!model)
    return toString(model.takeError());
  auto library = openCompiled(**model, CompileOptions());
  if (!library)
    return toString(library.takeError());
  for (bool chunks : {false, true}) {
    std::string miss = play(*library, **model, one, chunks);
    if (!miss.empty())
      return formatv("{0}, {1}: {2}", one.name,
                     chunks ? "in chunks" : "by steps", miss);
  }
  return "";
}

} // namespace

int main() {
  for (const Case &one : cases)
    CHECK_EQ(check(one), "");
  return kvc::test::checkResult();
}
