//===- HarnessTest.cpp - random specs, traces, what a check plans ---------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Coverage.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/HeldPages.h"
#include "compiler/harness/Inputs.h"
#include "compiler/harness/Model.h"
#include "compiler/harness/RandomModel.h"
#include "compiler/harness/Safetensors.h"
#include "compiler/harness/Tolerance.h"
#include "compiler/harness/Trace.h"
#include "compiler/harness/VerifyInputs.h"
#include "runtime/Generated.h"
#include "test/unit/Check.h"
#include "llvm/Support/FileSystem.h"

#include <cmath>

using namespace kvc;
using namespace kvc::harness;
using namespace llvm;

/// Every random spec is one that kvc takes, the same number gives the same
/// spec, and 144 of them meet every combination, whatever the seed.
static void testRandomSpecs() {
  for (uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{12345}}) {
    Coverage coverage;
    for (int64_t number = 0; number < 144; ++number) {
      const std::string text = makeRandomSpec(seed, number);
      CHECK(text == makeRandomSpec(seed, number));
      auto model = Model::fromSpec(text, "random", /*threads=*/false);
      if (!CHECK(bool(model))) {
        std::printf("%s%s\n", text.c_str(),
                    toString(model.takeError()).c_str());
        continue;
      }
      coverage.count(*(*model)->getSpec());
    }
    CHECK(coverage.empty() == 0);
    CHECK(coverage.emptyTypes() == 0);
  }
}

/// A check goes past a layer's borders and looks at both sides of each.
static void testSchedule() {
  const char *text = "kvc: 1\nname: a\n"
                     "model: {layers: 3, heads: 2, head_dim: 4}\n"
                     "cache: {keys: {bits: 4, per: channel, group: 5, flush: "
                     "10, residual: 0}, sink: 3, window: 50}\n"
                     "layers:\n  - {at: 2, window: all, context: 30}\n";
  auto model = Model::fromSpec(text, "schedule", /*threads=*/false);
  if (!CHECK(bool(model)))
    return consumeError(model.takeError());
  auto reference = reference::Reference::create((*model)->module());
  if (!CHECK(bool(reference)))
    return consumeError(reference.takeError());
  auto schedules = makeSchedule(**reference);
  CHECK(schedules.size() == 3);
  CHECK(schedules[0].distinct && !schedules[1].distinct &&
        schedules[2].distinct);
  CHECK(schedules[0].length > 3 + 50 + 20 && schedules[1].length == 80);
  CHECK(schedules[2].length == 30); // the context
  for (int64_t seen : {2, 3, 4, 12, 13, 14, 53, 54, 55})
    CHECK(schedules[0].marked(seen));
  CHECK(schedules[0].marked(schedules[0].length));
}

static void testTolerance() {
  reference::Attended row;
  row.magnitude = {16};
  row.weighted = {2};
  row.largest = {8};
  Tolerance tolerance(row, 0, 64, Element::F32);
  const double logits = 2e-5 + 0x1p-24 * 12 * 16;
  CHECK(std::fabs(tolerance.out(1.0) - (2 * logits + 0x1p-24)) < 1e-15);
  CHECK(std::fabs(tolerance.lse(-4) - (logits + 0x1p-20)) < 1e-15);
  // Beyond io's range its limit is right.
  CHECK(tolerance.wanted(1e9) == 1e9);
  CHECK(Tolerance(row, 0, 64, Element::F16).wanted(65536) == 65504);
  CHECK(Tolerance(row, 0, 64, Element::F16).wanted(-1e9) == -65504);
  CHECK(Tolerance(row, 0, 64, Element::BF16).wanted(-3e38) == -3e38);
  // Integers: i16 by what keys spread, i8 on random input alone.
  row.spread = {3};
  mlir::MLIRContext context;
  auto bound = [&](unsigned bits, bool isRandom) {
    auto type = mlir::IntegerType::get(&context, bits);
    return Tolerance(row, 0, 64, Element::F32, type, isRandom).lse(0);
  };
  CHECK(std::fabs(bound(16, false) - (logits + 2e-3 + 0x1p-17 * 64 * 3)) <
        1e-15);
  CHECK(bound(16, true) == bound(16, false));
  CHECK(bound(8, true) == 0.1 && std::isinf(bound(8, false)));
  row.weighted = {0};
  CHECK(Tolerance(row, 0, 64, Element::F32).unit() == 0x1p-77);
}

/// Every kind of input is one that a library of every io takes.
static void testInputs() {
  const LayerShape shape{2, 1, 7, 5, 0};
  for (Element io : {Element::F32, Element::F16, Element::BF16})
    for (InputKind kind : allInputKinds())
      for (int64_t token = 0; token < 40; ++token) {
        const TokenInput input = makeInput(kind, 3, 0, token, shape, true, io);
        for (const auto *plane : {&input.q, &input.k, &input.v}) {
          std::vector<float> rounded = *plane;
          roundTo(io, rounded);
          CHECK(rounded == *plane);
          for (float value : *plane)
            CHECK(std::fabs(value) <= std::min(0x1p56, largestFinite(io)));
        }
      }
}

/// A reader with fewer rows has the last ones; wrong shapes name the tensor.
static void testTrace() {
  SmallString<128> path;
  sys::fs::createUniquePath("trace-%%%%%%.safetensors", path, true);
  SafetensorsWriter writer;
  writer.addF32("layers.0.q", {3, 2, 1}, {1, 2, 3, 4, 5, 6});
  writer.addF32("layers.0.k", {3, 1, 1}, {7, 8, 9});
  writer.add("layers.0.v", Element::F16, {3, 1, 1},
             narrow(Element::F16, {1, 2, 3}));
  writer.addF32("layers.1.q", {2, 1, 1}, {10, 11});
  writer.addI64("unrelated", {1});
  CHECK(!writer.write(path));
  const LayerShape owner{2, 1, 1, 1, 0}, reader{1, 1, 1, 1, 0};
  auto trace = readTrace(path, {owner, reader}, Element::F32);
  if (CHECK(bool(trace))) {
    CHECK(trace->tokens == 3 && trace->layers[1].start == 1);
    CHECK(!trace->layers[1].has(0) && trace->layers[1].queryAt(2)[0] == 11);
    CHECK(trace->layers[0].queryAt(1)[1] == 4 &&
          trace->layers[0].valueAt(2)[0] == 3);
    CHECK(trace->layers[1].keyAt(2).empty());
  } else {
    consumeError(trace.takeError());
  }
  auto errorOf = [&](ArrayRef<LayerShape> layers) {
    auto wrong = readTrace(path, layers, Element::F32);
    return wrong ? std::string() : toString(wrong.takeError());
  };
  CHECK(StringRef(errorOf({LayerShape{3, 1, 1, 1, 0}, reader}))
            .contains("'layers.0.q' is [3, 2, 1], the model wants [tokens, 3"));
  CHECK(StringRef(errorOf({owner, LayerShape{1, 1, 1, 1, 1}}))
            .contains("'layers.1.q' has 2 tokens"));
  CHECK(StringRef(errorOf({owner, reader, reader}))
            .contains("no tensor 'layers.2.q'"));
  sys::fs::remove(path);
}

/// By hand: an owner whose pages have 16 tokens each, and its reader.
static void testHeldPages() {
  auto model = Model::fromSpec(
      "kvc: 1\n"
      "name: held\n"
      "model: {layers: 2, heads: 1, head_dim: 16, value_dim: 8}\n"
      "cache:\n"
      "  keys: {bits: 8, per: channel, group: 16, residual: 0}\n"
      "  values: f32\n"
      "  residual_type: f32\n"
      "  sink: 2\n"
      "  window: 16\n"
      "layers: [{at: 1, share: 0}]\n",
      "held.yaml", /*threads=*/false);
  if (!CHECK(bool(model)))
    return consumeError(model.takeError());
  auto open = [&] {
    auto layers = expectHeld((*model)->module(), "x86-64-v3");
    return layers ? *layers : std::vector<HeldPages>();
  };
  // Of 16 tokens: f32 keys, f32 values, and keys' codes with 16 pairs a group.
  const int64_t header = KVC_PAGE_HEADER, keys = header + 16 * 16 * 4,
                values = header + 16 * 8 * 4, codes = header + 16 * 16 + 16 * 4;
  auto layers = open();
  if (!CHECK_EQ(layers.size(), 2u))
    return;
  HeldPages &owner = layers[0];
  CHECK_EQ(owner.bytes(), 0);
  owner.append(1); // a sink
  CHECK_EQ(owner.bytes(), keys + values);
  owner.append(2); // a token that is none
  CHECK_EQ(owner.bytes(), 2 * (keys + values));
  owner.append(14); // 15 tokens
  CHECK_EQ(owner.bytes(), 2 * (keys + values));
  // The 16th is an original first; then all are codes.
  owner.append(1);
  CHECK_EQ(owner.bytes(), 2 * (keys + values) + codes);
  // The window moves into a second page of values and of codes.
  owner.append(1);
  CHECK_EQ(owner.bytes(), 2 * keys + 3 * values + codes);
  for (int64_t i = 0; i < 14; ++i)
    owner.append(1);
  CHECK_EQ(owner.bytes(), 2 * keys + 3 * values + codes);
  // Both pages of codes at once, when the first one's last token leaves.
  owner.append(1);
  CHECK_EQ(owner.bytes(), 2 * keys + 3 * values + 2 * codes);
  for (int64_t i = 0; i < 100; ++i)
    owner.append(1);
  CHECK_EQ(owner.bytes(), 2 * keys + 3 * values + 2 * codes);
  layers[1].append(100);
  CHECK_EQ(layers[1].bytes(), 0);

  // In one piece, nothing is freed before the last has attended.
  auto piece = open();
  piece[0].append(2 + 40);
  CHECK_EQ(piece[0].bytes(), (1 + 3) * keys + (1 + 3) * values + 2 * codes);

  auto unknown = expectHeld((*model)->module(), "pdp-11");
  CHECK(!unknown &&
        StringRef(toString(unknown.takeError())).contains("target pdp-11"));
}

int main() {
  testRandomSpecs();
  testSchedule();
  testTolerance();
  testInputs();
  testTrace();
  testHeldPages();
  return kvc::test::checkResult();
}
