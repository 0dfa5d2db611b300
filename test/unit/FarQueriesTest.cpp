//===- FarQueriesTest.cpp - ALiBi over tokens far before the query --------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all tokens lose by distance cancels in out and stays in lse; out keeps
// to the bound whatever it is. Queries beyond the newest token and over the
// oldest ones, one and many, with learned sinks of like size, over so many
// tokens that a near query's work is cut, and beyond where distances end.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Model.h"
#include "test/unit/Check.h"

using namespace kvc;
using namespace kvc::harness;
using namespace llvm;

namespace {

constexpr int64_t tokens = 2600;

const char *const spec =
    "kvc: 1\nname: far\n"
    "model: {layers: 4, heads: 4, kv_heads: 1, head_dim: 8,\n"
    "        alibi: {slopes: [0.7, 0.003, 1e-9, 3]}}\n"
    "cache: {context: 2600}\n"
    "layers:\n"
    "  - {at: 1, learned_sinks: true, keys: {bits: 8, per: token, residual: "
    "0}, values: f16, sink: 3, window: 40, positions: cache}\n"
    // A row for each token of a piece, and a softcap before it.
    "  - {at: 2, heads: 2, softcap: 5, alibi: {slopes: [0.7, 1]}, window: 5, "
    "sink: 70}\n"
    "  - {at: 3, heads: 2, alibi: {slopes: [0, 0]}}\n";

std::string check() {
  auto model = Model::fromSpec(spec, "far", /*threads=*/false);
  if (!model)
    return toString(model.takeError());
  auto library = openCompiled(**model, CompileOptions());
  if (!library)
    return toString(library.takeError());
  // One that is as far below 0 as tokens at some distance are, two that are
  // near, one that weighs more than any.
  const LearnedSinks sinks = {{}, {-7000, -3, 2, 3e6f}, {}, {}};
  auto comparison = Comparison::create(*library, (*model)->module(), 0, sinks);
  if (!comparison)
    return toString(comparison.takeError());
  Comparison &both = **comparison;
  for (int64_t layer = 0; layer < 4; ++layer) {
    auto inputs = [&](int64_t from, int64_t count) {
      std::vector<TokenInput> all;
      for (int64_t i = 0; i < count; ++i)
        all.push_back(makeInput(InputKind::Gaussian, /*seed=*/2, layer,
                                from + i, library->layers()[layer],
                                /*stores=*/true, library->io()));
      return all;
    };
    if (!both.chunk(layer, inputs(0, tokens), /*attends=*/false))
      return both.miss();
    const bool sunk = !sinks[layer].empty();
    for (int64_t ahead :
         {int64_t{0}, int64_t{1}, int64_t{20}, int64_t{60}, int64_t{2000},
          int64_t{7000}, int64_t{9999}, int64_t{1'000'000},
          int64_t{1'000'000'000}, (int64_t{1} << 31) - tokens - 20,
          (int64_t{1} << 31) - 4, int64_t{1} << 32, int64_t{1} << 39})
      for (int64_t count : {1, 3, 40})
        for (auto [from, to] : {std::pair<int64_t, int64_t>{0, 1 << 20},
                                {0, 2},
                                {1, 90},
                                {5, 5},
                                {500, 700},
                                {2590, 2600}})
          for (bool withSinks : {false, true})
            if ((sunk || !withSinks) &&
                !Comparison::parts(layer,
                                   {{&both, tokens - 1 + ahead,
                                     inputs(7, count), from, to, withSinks}}))
              return both.miss();
    // Also as parts that are merged, and by a step at the newest token.
    for (int64_t ahead : {0, 3, 50, 5000, 1'000'000})
      if (!both.query(layer, tokens - 1 + ahead, inputs(7, 2),
                      {2, 100, 1500, 2595}))
        return both.miss();
  }
  std::printf("out at %.3f, lse at %.3f of its bound\n", both.worst().out,
              both.worst().lse);
  return "";
}

} // namespace

int main() {
  CHECK_EQ(check(), "");
  return kvc::test::checkResult();
}
