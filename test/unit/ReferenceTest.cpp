//===- ReferenceTest.cpp - the reference against numbers made by hand -----===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `ReferenceTest [TRACE EXPECT]`: with two files, also a full f32 cache over a
// recorded trace against what another program computed from it in fp64.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Safetensors.h"
#include "compiler/harness/Trace.h"
#include "test/unit/ReferenceTestModel.h"

#include <cmath>

using namespace kvc;
using namespace kvc::reference;
using namespace kvc::test;
using namespace mlir;

static void testAttention() {
  // n equal keys: the mean of the values, and lse = s + ln n.
  Shape shape{3, 1, 2, 2};
  Model model;
  Policy policy;
  policy.scale = "0.5";
  model.add(shape, policy);
  auto reference = model.build();
  Attended result;
  const float q[6] = {1, 2, 0, 0, -1, 0}, k[2] = {3, 4};
  for (float value : {1.0f, 2.0f, 6.0f}) {
    const float v[2] = {value, -value};
    result = reference->decode(0, {q, k, v});
  }
  CHECK(std::fabs(result.out[0] - 3) < 1e-15 &&
        std::fabs(result.out[5] + 3) < 1e-15);
  CHECK(std::fabs(result.lse[0] - (5.5 + std::log(3.0))) < 1e-15);
  CHECK(std::fabs(result.lse[1] - std::log(3.0)) < 1e-15);
  CHECK(std::fabs(result.lse[2] - (-1.5 + std::log(3.0))) < 1e-15);
  CHECK(result.magnitude[0] == 5.5 && result.magnitude[2] == 1.5);
  CHECK(std::fabs(result.weighted[0] - 3) < 1e-15 && result.largest[0] == 6);

  // Two keys of different weight: e and 1.
  Model two;
  two.add({1, 1, 1, 1}, {});
  reference = two.build();
  const float one = 1, zero = 0, five = 5;
  reference->decode(0, {one, one, five}, /*attention=*/false);
  result = reference->decode(0, {one, zero, zero});
  const double e = std::exp(1.0);
  CHECK(std::fabs(result.out[0] - 5 * e / (e + 1)) < 1e-15);
  CHECK(std::fabs(result.lse[0] - std::log(e + 1)) < 1e-15);
}

static void testGroupedHeadsAndReaders() {
  // Heads 0, 1 read kv head 0, heads 2, 3 kv head 1; the reader has 2 heads.
  Shape owner{4, 2, 1, 1}, reader{2, 2, 1, 1};
  Model model;
  Policy share;
  share.depth = "#kv.share<layer = 0>";
  model.add(owner, {});
  model.add(reader, share);
  auto reference = model.build();
  const float q[4] = {1, 1, 1, 1}, k[2] = {0, 0}, v[2] = {7, 9};
  Attended result = reference->decode(0, {q, k, v});
  CHECK(result.out == std::vector<double>({7, 7, 9, 9}));
  CHECK(reference->seen(1) == 0);
  result = reference->decode(1, {llvm::ArrayRef<float>(q, 2), {}, {}});
  CHECK(result.out == std::vector<double>({7, 9}));
  CHECK(reference->seen(1) == 1 && reference->owner(1) == 0);
}

static std::vector<int64_t> storedAfter(const std::string &time, int tokens) {
  Shape shape{1, 1, 1, 1};
  Model model;
  Policy policy;
  policy.time = time;
  model.add(shape, policy);
  auto reference = model.build();
  const float x = 1;
  for (int i = 0; i < tokens; ++i)
    reference->decode(0, {x, x, x});
  std::vector<int64_t> indices;
  for (const Token &token : reference->store(0).getTokens())
    indices.push_back(token.index);
  return indices;
}

static void testTime() {
  using List = std::vector<int64_t>;
  CHECK(storedAfter(window(0, 3), 3) == List({0, 1, 2}));
  CHECK(storedAfter(window(0, 3), 4) == List({1, 2, 3}));
  CHECK(storedAfter(window(0, 1), 4) == List({3}));
  CHECK(storedAfter(window(2, 3), 1) == List({0}));
  CHECK(storedAfter(window(2, 3), 5) == List({0, 1, 2, 3, 4}));
  CHECK(storedAfter(window(2, 3), 6) == List({0, 1, 3, 4, 5}));
  CHECK(storedAfter(window(4, 2), 9) == List({0, 1, 2, 3, 7, 8}));
  // Within the sinks, the window's tokens are sinks too.
  CHECK(storedAfter(window(4, 1), 3) == List({0, 1, 2}));
  CHECK(storedAfter("#kv.all<sinks = 2, tokens = 9>", 4) == List({0, 1, 2, 3}));
}

static void testCoding() {
  // Four tokens of one channel: 0, 1, 2, 15 in 4 bits: scale 1, codes exact.
  Shape shape{1, 1, 1, 1};
  Model model;
  Policy policy;
  policy.keys = perChannel(4, 4, 4, 0);
  policy.values = perToken(4, 1, 1, 2);
  policy.time = window(1, 100);
  model.add(shape, policy);
  auto reference = model.build();
  auto token = [&](float key, float value) {
    const float q = 0;
    reference->decode(0, {q, key, value});
  };
  token(1000, 1000); // the sink
  for (float x : {-1.0f, 0.0f, 0.5f, 14.0f})
    token(x, x);
  const auto &tokens = reference->store(0).getTokens();
  auto key = [&](int i) { return tokens[i].planes[0].read[0]; };
  auto value = [&](int i) { return tokens[i].planes[1].read[0]; };
  CHECK(!tokens[0].planes[0].coded && key(0) == 1000);
  CHECK(tokens[4].planes[0].coded);
  // zero = -1, scale = 1; 0.5 is code 1.5, and half goes to even: 2.
  CHECK(key(1) == -1 && key(2) == 0 && key(3) == 1 && key(4) == 14);
  // Values: the newest 2 stay; a group of one value: scale 2^-14, code 0.
  CHECK(tokens[2].planes[1].coded && !tokens[3].planes[1].coded);
  CHECK(value(1) == -1 && value(2) == 0 && value(3) == 0.5f);
  // The residual's 15 ... : the scale is rounded up to f16.
  token(0.1f, 0.1f);
  CHECK(!tokens[5].planes[0].coded && key(5) == 0.1f);
  CHECK(tokens[3].planes[1].coded && value(3) == 0.5f);
  CHECK(reference->store(0).saturated() == 0);
}

static void testCodingAtTheLimits() {
  Shape shape{1, 1, 1, 2};
  Model model;
  Policy policy;
  policy.values = perToken(8, 2, 1, 0);
  model.add(shape, policy);
  auto reference = model.build();
  const float q = 0, k = 0;
  auto coded = [&](float a, float b) {
    const float v[2] = {a, b};
    reference->decode(0, {q, k, v});
    return reference->store(0).getTokens().back().planes[1].read;
  };
  using List = std::vector<float>;
  // zero saturates at 65504; the scale, 4496 / 255 rounded up, is 17.640625.
  CHECK(coded(70000, 70000) ==
        List({255 * 17.640625f + 65504, 255 * 17.640625f + 65504}));
  CHECK(reference->store(0).saturated() == 1);
  // Both saturate.
  CHECK(coded(-0x1p56f, 0x1p56f) ==
        List({-65504, 255.0f * 65504.0f - 65504.0f}));
  CHECK(reference->store(0).saturated() == 3);
  // The least scale is 2^-14; zero is rounded down, and -0 is +0.
  List zeros = coded(-0.0f, 0x1p-20f);
  CHECK(zeros == List({0, 0}) && !std::signbit(zeros[0]));
  CHECK(coded(1 + 0x1p-13f, 1) == List({1 + 0x1p-13f, 1}));
  CHECK(reference->store(0).saturated() == 3);
}

/// One scale a channel over all that is stored, made anew as tokens come and
/// go.
static void testCodesMadeAnew() {
  Shape shape{1, 1, 1, 1};
  Model model;
  Policy policy;
  policy.keys = "#kv.affine_all<bits = 4, scales = f16>";
  policy.values = "#kv.affine_all<bits = 2, scales = f32>";
  policy.time = window(1, 4);
  model.add(shape, policy);
  auto reference = model.build();
  const Store &store = reference->store(0);
  using List = std::vector<float>;
  auto token = [&](float x) {
    const float q = 0;
    return reference->decode(0, {q, x, x});
  };
  auto read = [&](kv::Plane plane) {
    List list;
    for (const Token &token : store.getTokens())
      list.push_back(token.planes[size_t(plane)].read[0]);
    return list;
  };
  auto at = [&](int64_t length, kv::Plane plane) {
    List list;
    for (const Moment::Form &form : store.getMoment(length).tokens)
      list.push_back(form.planes[size_t(plane)]->read[0]);
    return list;
  };
  const auto Keys = kv::Plane::Keys, Values = kv::Plane::Values;
  token(1000); // the sink, which no scale covers
  for (float x : {-1.0f, 0.0f, 0.5f, 14.0f})
    token(x);
  // Steps of 1 from -1 on, halves to even; of 5: 0, 0.2, 0.3, 3.
  CHECK(read(Keys) == List({1000, -1, 0, 1, 14}));
  CHECK(read(Values) == List({1000, -1, -1, -1, 14}));
  // 30 comes and -1 goes: from 0 on, of 2 (0.25 and 7) and of 10 (1.4).
  const Attended result = token(30);
  CHECK(read(Keys) == List({1000, 0, 0, 14, 30}));
  CHECK(read(Values) == List({1000, 0, 0, 10, 30}));
  CHECK(std::fabs(result.out[0] - (1000 + 0 + 0 + 10 + 30) / 5.0) < 1e-12);
  // What a step attended to before is what it was.
  CHECK(at(6, Keys) == read(Keys));
  CHECK(at(5, Keys) == List({1000, -1, 0, 1, 14}));
  CHECK(at(5, Values) == List({1000, -1, -1, -1, 14}));
  CHECK(at(2, Keys) == List({1000, -1}));
  // Beyond the newest: the codes of now, less what the window excludes.
  CHECK(at(8, Values) == List({1000, 10, 30}));
  // A scale that saturates counts while its tokens are there: 65504 as zero of
  // keys, 3.4e38 / 3 as a scale of values is none.
  CHECK(store.saturated() == 0);
  token(-70000);
  CHECK(store.saturated() == 1);
  CHECK(read(Keys)[4] == -65504);
  for (float x : {1.0f, 2.0f, 3.0f, 4.0f})
    CHECK(store.saturated() == 1), token(x);
  CHECK(store.saturated() == 0);
  // The least scale of 15: the last four are exact but for it.
  CHECK(read(Values) == List({1000, 1, 2, 3, 4}));
  // Bytes: 1 + 4 tokens; a pair a plane; originals of both planes in f32.
  const BytePlan plan =
      planBytes(store.policy(), store.shape(), reference->seen(0));
  CHECK(plan.codes == 4 * 4 / 8 + 4 * 2 / 8 && plan.scales == 4 + 8);
  CHECK(plan.originals == 2 * 4 * 4 && plan.residual == 0);
  CHECK(plan.sinks == 8 && plan.rollback == 0);
}

static void testEvictedBeforeFlush() {
  // Window 3, flush 4: at length 4 the tokens 1, 2, 3 are stored, and the
  // scale covers them alone: token 0, far away, is gone and has no say.
  Shape shape{1, 1, 1, 1};
  Model model;
  Policy policy;
  policy.keys = perChannel(8, 4, 4, 0);
  policy.time = window(0, 3);
  model.add(shape, policy);
  auto reference = model.build();
  for (float x : {-60000.0f, 0.0f, 255.0f, 1.0f}) {
    const float q = 0;
    reference->decode(0, {q, x, x});
  }
  const auto &tokens = reference->store(0).getTokens();
  CHECK(tokens.size() == 3 && tokens[0].planes[0].coded);
  CHECK(tokens[0].planes[0].read[0] == 0 &&
        tokens[1].planes[0].read[0] == 255 && tokens[2].planes[0].read[0] == 1);
}

static void testRotation() {
  // theta 1: all frequencies are 1. Key (1, 0) at index 1 is (cos 1, sin 1).
  Shape shape{1, 1, 2, 1};
  Model model;
  Policy policy;
  policy.position =
      "#kv.in_cache<<theta = 1.0 : f64, dims = 2, pairing = \"half\">>";
  policy.time = window(1, 2);
  model.add(shape, policy);
  auto reference = model.build(/*first=*/100);
  const float x[2] = {1, 0}, v = 1;
  Attended result;
  for (int i = 0; i < 10; ++i)
    result = reference->decode(0, {x, x, v});
  const auto &tokens = reference->store(0).getTokens();
  const auto &key = tokens[2].planes[0].read;
  CHECK(tokens[2].index == 9 && key[0] == float(std::cos(109.0)) &&
        key[1] == float(std::sin(109.0)));
  // 3 stored of 10: to the sink the query is at index 2, to the window at 9:
  // distances are 2, 1, 0, and dot products their cosines.
  double sum = std::exp(std::cos(2.0)) + std::exp(std::cos(1.0)) + std::exp(1);
  CHECK(std::fabs(result.lse[0] - std::log(sum)) < 1e-6);
}

static void testMutatedBody() {
  // Attend before append: the first step sees nothing; no code op: no codes.
  Shape shape{1, 1, 1, 1};
  Model model;
  Policy policy;
  policy.keys = perChannel(8, 1, 1, 0);
  model.add(shape, policy,
            "%o, %l = kv.attend %c, %q : QT -> OT, LT\n"
            "%1 = kv.append %c, %k, %v : KT, VT\n"
            "kv.yield %1, %o, %l : !kv.cache, OT, LT");
  auto reference = model.build();
  const float x = 0.3f;
  Attended result = reference->decode(0, {x, x, x});
  CHECK(result.out[0] == 0 && std::isinf(result.lse[0]));
  // With a learned sink the lse of nothing is the sink.
  Model sunk;
  policy.more = ", #kv.learned_sinks";
  sunk.add(shape, policy,
           "%o, %l = kv.attend %c, %q : QT -> OT, LT\n"
           "%1 = kv.append %c, %k, %v : KT, VT\n"
           "kv.yield %1, %o, %l : !kv.cache, OT, LT");
  result = sunk.build(0, {{-2.5f}})->decode(0, {x, x, x});
  CHECK(result.out[0] == 0 && result.lse[0] == -2.5);
  result = reference->decode(0, {x, x, x});
  CHECK(std::fabs(result.out[0] - double(x)) < 1e-15);
  CHECK(!reference->store(0).getTokens()[0].planes[0].coded);
}

static BytePlan planOf(const std::string &shape, const std::string &policy,
                       int64_t seen) {
  static MLIRContext *context = [] {
    auto *made = new MLIRContext;
    made->loadDialect<kv::KVDialect>();
    return made;
  }();
  auto parse = [&](const std::string &text) {
    return parseAttribute(text, context);
  };
  return planBytes(
      cast<kv::PolicyAttr>(parse("#kv.policy<" + policy + ">")),
      cast<kv::ShapeAttr>(parse("#kv.shape<" + shape + ", io = f32>")), seen);
}

static void testBytePlan() {
  const std::string shape = Shape{32, 8, 128, 128}.text();
  Policy plain;
  CHECK(planOf(shape, plain.text(), 10).residual == 10 * 8 * 256 * 4);
  // KIVI: keys flush 128, values keep the last 128. At 300 tokens: 256 keys
  // and 172 values are codes, 44 keys and 128 values are not.
  Policy kivi;
  kivi.keys = perChannel(4, 64, 128, 0);
  kivi.values = perToken(4, 64, 1, 128);
  BytePlan plan = planOf(shape, kivi.text(), 300);
  CHECK(plan.codes == (256 + 172) * 1024 / 2);
  CHECK(plan.scales == (4 * 1024 + 172 * 2 * 8) * 4);
  CHECK(plan.residual == (44 + 128) * 1024 * 4);
  CHECK(plan.sinks == 0 &&
        plan.total() == plan.codes + plan.scales + plan.residual);
  // With sinks and a window: the first block loses its tokens one by one, and
  // its pairs go with the last.
  kivi.time = window(4, 200);
  plan = planOf(shape, kivi.text(), 4 + 328);
  CHECK(plan.sinks == 4 * 2048 * 4);
  CHECK(plan.codes == ((256 - 128) + (200 - 128)) * 1024 / 2);
  CHECK(plan.scales == (2 * 1024 + 72 * 2 * 8) * 4);
  plan = planOf(shape, kivi.text(), 4 + 327);
  CHECK(plan.scales == (3 * 1024 + 72 * 2 * 8) * 4);
  // Odd counts: bytes are rounded up once a plane.
  Policy odd;
  odd.keys = odd.values = perToken(4, 2, 1, 0);
  plan = planOf(Shape{1, 1, 3, 5}.text(), odd.text(), 3);
  CHECK(plan.codes == 5 + 8 && plan.scales == (3 * 2 + 3 * 3) * 4);
  Policy reader;
  reader.depth = "#kv.share<layer = 0>";
  CHECK(planOf(shape, reader.text(), 10).total() == 0);
}

/// The recorded trace's last rows against what another program made of them.
static void testRecorded(const char *tracePath, const char *expectPath) {
  Shape shape{9, 3, 64, 64};
  Policy policy;
  policy.position = "#kv.absolute<<theta = 1.0e5 : f64, dims = 64, "
                    "pairing = \"half\">>";
  policy.scale = "0.125";
  Model model;
  std::vector<harness::LayerShape> shapes;
  for (int i = 0; i < 4; ++i) {
    model.add(shape, policy);
    shapes.push_back({9, 3, 64, 64, i});
  }
  auto reference = model.build();
  auto trace = harness::readTrace(tracePath, shapes, harness::Element::F32);
  auto expect = harness::SafetensorsFile::open(expectPath);
  if (!CHECK(trace && expect))
    exit(1);
  double worst = 0;
  for (int i = 0; i < 4; ++i) {
    const harness::LayerTrace &layer = trace->layers[i];
    const harness::Tensor *tensor =
        expect->find("layers." + std::to_string(i) + ".out");
    if (!CHECK(tensor && tensor->shape.size() == 3))
      return;
    const int64_t rows = tensor->shape[0];
    const std::vector<float> want = harness::widen(
        *tensor->element, tensor->bytes.data(), tensor->elements());
    for (int64_t token = 0; token < trace->tokens; ++token) {
      const int64_t row = token - (trace->tokens - rows);
      Attended got = reference->decode(
          i, {layer.queryAt(token), layer.keyAt(token), layer.valueAt(token)},
          row >= 0);
      for (size_t d = 0; d < got.out.size(); ++d)
        worst = std::max(
            worst, std::fabs(got.out[d] - want[row * got.out.size() + d]) /
                       got.weighted[d / 64]);
    }
  }
  std::printf("recorded trace: largest error %.3g of the row's largest sum\n",
              worst);
  CHECK(worst < 1e-6);
}

int main(int argc, char **argv) {
  testAttention();
  testGroupedHeadsAndReaders();
  testTime();
  testCoding();
  testCodingAtTheLimits();
  testCodesMadeAnew();
  testEvictedBeforeFlush();
  testRotation();
  testMutatedBody();
  testBytePlan();
  if (argc > 2)
    testRecorded(argv[1], argv[2]);
  return kvc::test::checkResult();
}
