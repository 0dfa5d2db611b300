//===- ReportTest.cpp - reports against what libraries count --------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Report.h"
#include "compiler/harness/Calls.h"
#include "compiler/harness/Inputs.h"
#include "compiler/harness/RandomModel.h"
#include "test/unit/Check.h"

using namespace kvc;
using namespace kvc::harness;
using namespace llvm;

static std::unique_ptr<Model> load(StringRef text) {
  auto model = Model::fromSpec(text, "report", /*threads=*/false);
  if (CHECK(bool(model)))
    return std::move(*model);
  std::printf("%s%s\n", text.str().c_str(),
              toString(model.takeError()).c_str());
  return nullptr;
}

static std::unique_ptr<CachePlan> planOf(Model &model, StringRef target = "") {
  auto plan = CachePlan::create(model, "report.yaml", target);
  if (CHECK(bool(plan)))
    return std::make_unique<CachePlan>(std::move(*plan));
  std::printf("%s\n", toString(plan.takeError()).c_str());
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Every length of a sequence
//===----------------------------------------------------------------------===//

static constexpr int64_t Longest = 300;

/// What the library counts for one layer is what the report says.
static bool same(const kvc_stats &stats, const LayerBytes &want) {
  return CHECK_EQ(stats.used.codes, want.plan.codes) &&
         CHECK_EQ(stats.used.scales, want.plan.scales) &&
         CHECK_EQ(stats.used.residual, want.plan.residual) &&
         CHECK_EQ(stats.used.sinks, want.plan.sinks) &&
         CHECK_EQ(stats.used.originals, want.plan.originals) &&
         CHECK_EQ(stats.used.rollback, want.plan.rollback) &&
         CHECK_EQ(stats.used.padding, want.padding) &&
         CHECK_EQ(stats.held, want.held());
}

static bool step(const LoadedLibrary &library, const LibraryCache &cache,
                 int64_t layer, int64_t token) {
  const LayerShape &shape = library.layers()[layer];
  TokenInput input = makeInput(InputKind::Gaussian, 1, layer, token, shape,
                               shape.owner == layer, library.io());
  Output output;
  return CHECK_EQ(decode(library, cache, layer,
                         {token, 1, input.q, input.k, input.v}, output),
                  KVC_OK);
}

/// The report at every length is what `stats` gives after as many steps.
static void testEveryLength(StringRef text) {
  auto model = load(text);
  if (!model)
    return;
  auto plan = planOf(*model);
  auto library = openCompiled(*model, CompileOptions{});
  if (!plan || !CHECK(bool(library)))
    return consumeError(library.takeError());
  auto cache = library->create();
  if (!CHECK(bool(cache)))
    return consumeError(cache.takeError());
  std::vector<int64_t> lengths(Longest + 1);
  for (int64_t length = 0; length <= Longest; ++length)
    lengths[length] = length;
  const std::vector<Report> reports = plan->at(lengths);
  const auto layers = static_cast<int64_t>(library->layers().size());
  for (const Report &report : reports)
    for (int64_t layer = 0; layer < layers; ++layer) {
      if (report.tokens > 0 &&
          !step(*library, *cache, layer, report.tokens - 1))
        return;
      kvc_stats stats = {};
      stats.size = sizeof stats;
      CHECK_EQ(
          (*library)->stats(cache->get(), static_cast<int32_t>(layer), &stats),
          KVC_OK);
      if (!same(stats, report.layers[layer])) {
        std::printf("layer %d at length %d of\n%s", int(layer),
                    int(report.tokens), text.str().c_str());
        return;
      }
    }
  // What was computed on the way is what is computed at once.
  for (int64_t length : {0, 1, 77, 300})
    CHECK_EQ(plan->at(length).sum().held(), reports[length].sum().held());
}

static void testEveryLength() {
  const char *model = "kvc: 1\nname: report\n"
                      "model: {layers: 2, heads: 4, kv_heads: 2, head_dim: 24, "
                      "value_dim: 20, rope: {theta: 10000}}\n";
  for (const char *cache :
       {// A shorter last group, odd groups, an odd residual, another flush.
        "cache: {keys: {bits: 4, per: channel, group: 5, flush: 15}, values: "
        "{bits: 8, per: token, group: 8, residual: 7}, residual_type: f16, "
        "context: 300, rollback: 3}\n"
        "layers: [{at: 1, values: bf16, keys: f16, rollback: 0}]\n",
        // All axes: sinks, a window that evicts, rollback, a reader.
        "cache: {keys: {bits: 4, per: token}, values: {bits: 4, per: channel, "
        "group: 32, residual: 10}, residual_type: bf16, sink: 4, "
        "sink_type: f32, window: 100, rollback: 9}\n"
        "layers: [{at: 1, share: 0}]\n",
        // Codes that are made anew at every token, with and without a window.
        "cache: {keys: {bits: 4, per: channel, group: all}, values: {bits: 2, "
        "per: channel, group: all, scales: f32}, residual_type: f16, sink: 2, "
        "window: 90, rollback: 5}\n"
        "layers: [{at: 1, window: all, context: 300, rollback: 0, values: "
        "{bits: 2, per: token, group: 8, residual: 20}}]\n",
        // A window within a group; and floats that are evicted.
        "cache: {keys: {bits: 8, per: channel, group: 64}, values: f16, "
        "sink: 1, window: 40, positions: cache}\n"
        "layers: [{at: 1, keys: f32, values: bf16, window: 130, rollback: "
        "70}]\n"})
    testEveryLength((Twine(model) + cache).str());
}

//===----------------------------------------------------------------------===//
// Many steps at once
//===----------------------------------------------------------------------===//

/// Steps that are not looked at raise no mark: of random specs, in two goes.
static void testSteps() {
  for (int64_t number = 0; number < 40; ++number) {
    auto model = load(makeRandomSpec(7, number));
    if (!model)
      continue;
    auto layers = expectHeld(model->module(), number % 2 ? "x86-64-v4" : "");
    if (!CHECK(bool(layers)))
      return consumeError(layers.takeError());
    for (const HeldPages &empty : *layers) {
      HeldPages each = empty;
      for (int64_t length = 1; length <= 400; ++length) {
        each.append(1);
        if (length % 7)
          continue;
        HeldPages once = empty, twice = empty;
        once.appendEach(length);
        twice.appendEach(length / 3);
        twice.appendEach(length - length / 3);
        if (!CHECK_EQ(once.bytes(), each.bytes()) ||
            !CHECK_EQ(twice.bytes(), each.bytes()))
          return;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

static void testLimits() {
  auto model = load("kvc: 1\nname: limits\n"
                    "model: {layers: 3, heads: 2, head_dim: 16}\n"
                    "cache: {keys: f16, values: f16, sink: 4, window: 60}\n"
                    "layers: [{at: 1, window: all, context: 200}]\n");
  auto plan = model ? planOf(*model) : nullptr;
  if (!plan)
    return;
  CHECK_EQ(plan->fullest(), 200);
  CHECK_EQ(plan->limit(), 200);
  CHECK_EQ(plan->telling(), 200);
  CHECK(!plan->check(200));
  const std::string error = toString(plan->check(201));
  CHECK(StringRef(error).contains("layer 1 stores at most 200 tokens"));
  // Two bytes a number, 2 heads, 16 + 16 channels, three layers.
  const Report report = plan->at(200);
  CHECK_EQ(report.full(2), 200 * 2 * 2 * 32 * 3);
  CHECK_EQ(report.sum().plan.sinks, 3 * 4 * 2 * 2 * 32);
  CHECK_EQ(report.layers[0].plan.residual, 60 * 2 * 2 * 32);
  CHECK_EQ(report.layers[1].plan.residual, 196 * 2 * 2 * 32);
}

int main() {
  testEveryLength();
  testSteps();
  testLimits();
  return kvc::test::checkResult();
}
