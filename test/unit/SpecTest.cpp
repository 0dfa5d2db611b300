//===- SpecTest.cpp - specs resolved, and canonical -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a spec resolves to, over the whole schema. How errors read is tested in
// test/spec, hostile text in SpecHostileTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Keys.h"
#include "compiler/spec/Parser.h"
#include "test/unit/Check.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>

using namespace kvc::spec;

static std::optional<Spec> parse(const std::string &text) {
  Diagnostics diags;
  std::optional<Spec> spec = parseSpec(text, "test.yaml", diags);
  if (!spec)
    std::printf("%s%s", text.c_str(), diags.str().c_str());
  return spec;
}

//===----------------------------------------------------------------------===//
// Equality but for places
//===----------------------------------------------------------------------===//

static bool same(const Precision &a, const Precision &b) {
  if (a.coded != b.coded)
    return false;
  if (!a.coded)
    return a.type == b.type;
  return a.bits == b.bits && a.per == b.per && a.groupAll == b.groupAll &&
         (a.groupAll || a.group == b.group) && a.residual == b.residual &&
         a.flush == b.flush && a.scales == b.scales;
}

static bool same(const std::optional<Rope> &a, const std::optional<Rope> &b) {
  if (!a || !b)
    return !a && !b;
  const RopeScaling &s = a->scaling, &t = b->scaling;
  return a->theta == b->theta && a->dims == b->dims &&
         a->pairing == b->pairing && s.type == t.type && s.factor == t.factor &&
         s.low == t.low && s.high == t.high &&
         s.originalContext == t.originalContext && s.betaFast == t.betaFast &&
         s.betaSlow == t.betaSlow && s.attentionFactor == t.attentionFactor &&
         s.truncate == t.truncate;
}

static bool same(const Layer &a, const Layer &b) {
  return a.heads == b.heads && a.kvHeads == b.kvHeads &&
         a.headDim == b.headDim && a.valueDim == b.valueDim &&
         a.scale == b.scale && a.softcap == b.softcap &&
         a.learnedSinks == b.learnedSinks && a.alibi == b.alibi &&
         a.alibiSlopes == b.alibiSlopes && same(a.rope, b.rope) &&
         same(a.keys, b.keys) && same(a.values, b.values) &&
         a.residualType == b.residualType && a.keySinkType == b.keySinkType &&
         a.valueSinkType == b.valueSinkType && a.sink == b.sink &&
         a.window == b.window && a.context == b.context &&
         a.positions == b.positions && a.rollback == b.rollback &&
         a.arithmetic == b.arithmetic && a.share == b.share;
}

static bool same(const Spec &a, const Spec &b) {
  if (a.name != b.name || a.io != b.io || a.layers.size() != b.layers.size())
    return false;
  for (std::size_t i = 0; i < a.layers.size(); ++i)
    if (!same(a.layers[i], b.layers[i]))
      return false;
  return true;
}

/// A canonical text as JSON: its lines are keys with values, the heads of
/// sections, and items.
static std::string json(const std::string &canonical) {
  // A word or a number; true and false are what they are in JSON.
  auto scalar = [](const std::string &text) {
    char *end = nullptr;
    std::strtod(text.c_str(), &end);
    const bool word = *end || text == "inf" || text == "nan";
    return word && text != "true" && text != "false" ? '"' + text + '"' : text;
  };
  auto flow = [&](const std::string &text) {
    std::string out, token;
    for (char c : text + '\0') {
      if (c && std::string_view("{}[],: ").find(c) == std::string_view::npos) {
        token += c;
        continue;
      }
      out += token.empty() ? "" : scalar(token);
      token.clear();
      if (c && c != ' ')
        out += c;
    }
    return out;
  };
  std::string out = "{", close;
  std::istringstream lines(canonical);
  for (std::string line; std::getline(lines, line);) {
    if (line[0] != ' ') {
      out += close.empty() ? "" : close;
      close.clear();
    }
    if (out.back() != '{' && out.back() != '[')
      out += ",\n";
    if (line.starts_with("  - ")) {
      out += flow(line.substr(4));
    } else if (line.ends_with(":")) {
      const bool items = line == "layers:";
      out += '"' + line.substr(0, line.size() - 1) + (items ? "\":[" : "\":{");
      close = items ? "]" : "}";
    } else {
      out += flow(line);
    }
  }
  return out + close + "}";
}

/// The canonical text is a spec that means the same and is its own canonical;
/// so does its JSON.
static bool roundTrips(const Spec &spec) {
  std::optional<Spec> again = parse(spec.canonical);
  std::optional<Spec> other = parse(json(spec.canonical));
  bool right = again && again->canonical == spec.canonical &&
               same(*again, spec) && other &&
               other->canonical == spec.canonical;
  if (!right)
    std::printf("canonical:\n%s", spec.canonical.c_str());
  return right;
}

//===----------------------------------------------------------------------===//
// Resolving
//===----------------------------------------------------------------------===//

static void testDefaults() {
  auto spec = parse("kvc: 1\nname: d\nmodel: {layers: 2, heads: 8, head_dim: "
                    "80}\ncache: {context: 100}\n");
  if (!CHECK(spec))
    return;
  const Layer &layer = spec->layers[1];
  CHECK(spec->name == "d" && spec->file == "test.yaml");
  CHECK(layer.kvHeads == 8 && layer.valueDim == 80);
  CHECK(layer.scale == 1 / std::sqrt(80.0));
  CHECK(!layer.rope && !layer.softcap && !layer.alibi && !layer.learnedSinks);
  CHECK(!layer.keys.coded && layer.keys.type == FloatType::F32);
  CHECK(layer.sink == 0 && !layer.window && layer.context == 100);
  CHECK(layer.positions == "absolute" && layer.arithmetic == "f32");
  CHECK(layer.at.line == 3 && layer.at.column == 1);
  CHECK(roundTrips(*spec));
}

static void testPrecisionDefaults() {
  auto spec = parse(
      "kvc: 1\nname: d\nmodel: {layers: 1, heads: 8, head_dim: 80, value_dim: "
      "48, io: f16, rope: {}}\ncache: {keys: {bits: 4, per: channel}, values: "
      "{bits: 2, per: token}, sink: 2, context: 9}\n");
  if (!CHECK(spec))
    return;
  const Layer &layer = spec->layers[0];
  CHECK(layer.keys.group == 32 && layer.keys.flush == 32);
  CHECK(layer.values.group == 48 && layer.values.flush == 1);
  CHECK(layer.keys.residual == 1 && layer.keys.scales == FloatType::F16);
  CHECK(layer.values.residual == 1 && layer.arithmetic == "i16");
  CHECK(layer.residualType == FloatType::F16);
  CHECK(layer.keySinkType == FloatType::F16);
  CHECK(layer.rope->theta == 10000 && layer.rope->dims == 80);
  CHECK(roundTrips(*spec));
}

/// One token waits, where there is one that can; what is written counts.
static void testResidual() {
  const std::string model = "kvc: 1\nname: d\nmodel: {layers: 1, heads: 1, "
                            "head_dim: 8}\ncache: {values: {bits: 8, per: "
                            "token}, ";
  struct Case {
    const char *keys;
    int64_t residual, values;
  };
  for (const Case &one : {
           Case{"keys: {bits: 4, per: channel, group: all}, context: 9", 0, 1},
           Case{"keys: {bits: 4, per: channel, group: 2}, window: 1", 0, 0},
           Case{"keys: {bits: 4, per: channel, group: 2}, window: 2", 1, 1},
           Case{"keys: {bits: 4, per: token, residual: 0}, window: 2", 0, 1},
           Case{"keys: {bits: 4, per: token, residual: 5}, window: 6", 5, 1},
       }) {
    auto spec = parse(model + one.keys + "}\n");
    if (!CHECK(spec))
      continue;
    CHECK_EQ(spec->layers[0].keys.residual, one.residual);
    CHECK_EQ(spec->layers[0].values.residual, one.values);
    CHECK(roundTrips(*spec));
  }
}

/// Layers without codes multiply none; where nothing is written the default is
/// that of what the spec is for.
static void testArithmetic() {
  const std::string text =
      "kvc: 1\nname: d\nmodel: {layers: 3, heads: 1, head_dim: 8}\ncache: "
      "{keys: {bits: 4, per: token}, context: 9}\nlayers: [{at: 1, keys: f16}, "
      "{at: 2, share: 0}]\n";
  for (const char *word : {"i16", "f32"}) {
    Diagnostics diags;
    auto spec = parseSpec(text, "test.yaml", diags, {word});
    if (!CHECK(spec))
      continue;
    CHECK_EQ(spec->layers[0].arithmetic, word);
    CHECK_EQ(spec->layers[1].arithmetic, "f32");
    CHECK_EQ(spec->layers[2].arithmetic, word);
    // Said out loud, so that it means the same elsewhere.
    CHECK(spec->canonical.find(std::string("\n  arithmetic: ") + word) !=
          std::string::npos);
    CHECK(roundTrips(*spec));
  }
  auto floats = parse("kvc: 1\nname: d\nmodel: {layers: 1, heads: 1, head_dim: "
                      "8}\ncache: {context: 9}\n");
  CHECK(floats && floats->canonical.find("arithmetic") == std::string::npos);
}

static void testSinkTypes() {
  auto spec = parse("kvc: 1\nname: d\nmodel: {layers: 1, heads: 8, head_dim: "
                    "8}\ncache: {keys: bf16, values: {bits: 4, per: token}, "
                    "residual_type: f16, sink: 2, context: 9}\n");
  if (!CHECK(spec))
    return;
  CHECK(spec->layers[0].keySinkType == FloatType::BF16);
  CHECK(spec->layers[0].valueSinkType == FloatType::F16);
  CHECK(spec->canonical.find("sink_type") == std::string::npos);
  CHECK(roundTrips(*spec));
}

static void testOverrides() {
  auto spec = parse(R"(kvc: 1
name: o
model: {layers: 6, heads: 8, kv_heads: 4, head_dim: 64, rope: {theta: 1e6}}
cache:
  keys: {bits: 4, per: channel, group: 64, flush: 128}
  sink: 4
  window: 1020
  context: 4096
layers:
  - {at: [0, 2..3], window: 64, keys: {bits: 8, per: channel}}
  - {at: 3, window: all, rope: none}
  - {at: 4..5, share: 1, heads: 12, scale: 0.5}
)");
  if (!CHECK(spec))
    return;
  const std::vector<Layer> &l = spec->layers;
  CHECK(*l[0].window == 64 && *l[1].window == 1020 && *l[2].window == 64);
  CHECK(!l[3].window && l[3].context == 4096 && l[2].context == 0);
  // A value replaces the whole key: nothing of the base's flush is left.
  CHECK(l[0].keys.bits == 8 && l[0].keys.group == 32 && l[0].keys.flush == 32);
  CHECK(l[3].keys.bits == 8 && !l[3].rope && l[2].rope);
  CHECK(l[4].share == 1 && l[4].heads == 12 && l[4].kvHeads == 4);
  CHECK(l[4].scale == 0.5 && l[1].scale == 0.125 && *l[4].window == 1020);
  CHECK(l[3].at.line == 11 && l[1].at.line == 3);
  CHECK(roundTrips(*spec));
}

static void testCanonicalIsOne() {
  // The same meaning in two writings.
  auto one = parse("kvc: 1\nname: c\nmodel: {layers: 3, heads: 2, head_dim: "
                   "4}\ncache: {window: 8, context: 5}\nlayers: [{at: 1, "
                   "window: all}]\n");
  auto two = parse("name: c\nkvc: 1\ncache: {context: 5}\nmodel: {head_dim: 4, "
                   "scale: 5e-1, layers: 3, heads: 2, kv_heads: 2}\nlayers:\n"
                   "- at: [2, 0]\n  window: 8\n");
  if (CHECK(one && two))
    CHECK(one->canonical == two->canonical);
}

//===----------------------------------------------------------------------===//
// Random specs over the whole schema
//===----------------------------------------------------------------------===//

namespace {
class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  std::string spec();

private:
  int below(int n) { return static_cast<int>(engine() % unsigned(n)); }
  bool once(int n) { return below(n) == 0; }
  template <typename... T> std::string pick(T... words) {
    const char *all[] = {words...};
    return all[below(sizeof...(words))];
  }
  std::string number(int from, int to) {
    return std::to_string(from + below(to - from + 1));
  }
  std::string precision();
  std::string rope();
  std::string cacheKeys(int rarity);
  std::string modelKeys(int rarity);

  std::mt19937 engine;
};
} // namespace

std::string Random::precision() {
  if (once(3))
    return pick("f32", "f16", "bf16");
  std::string head = "{bits: " + pick("8", "4", "2");
  std::string scales = once(2) ? "" : ", scales: " + pick("f16", "bf16", "f32");
  if (once(2))
    return head + ", per: token" + (once(2) ? "" : ", group: 8") +
           (once(2) ? "" : ", residual: " + number(0, 9)) +
           (once(2) ? "" : ", flush: " + number(1, 3)) + scales + "}";
  if (once(4))
    return head + ", per: channel, group: all" + scales + "}";
  return head + ", per: channel, group: 4, flush: " + pick("4", "8", "12") +
         (once(2) ? "" : ", residual: " + number(0, 9)) + scales + "}";
}

std::string Random::rope() {
  if (once(3))
    return "none";
  std::string head = "{theta: " + pick("10000", "5e5", "1234.5678901");
  if (once(2))
    head += ", dims: " + pick("4", "8");
  if (once(2))
    head += ", pairing: interleaved";
  if (once(2))
    head += ", scaling: " +
            pick("{type: linear, factor: 2.5}", "{type: ntk, factor: 4}",
                 "{type: llama3, factor: 8, original_context: 8192, high: 5}",
                 "{type: yarn, factor: 3.3, original_context: 4096}",
                 "{type: yarn, factor: 40, original_context: 4096, "
                 "attention_factor: 0.7, truncate: false}");
  return head + "}";
}

std::string Random::cacheKeys(int rarity) {
  std::string out;
  auto key = [&](const char *name, const std::string &value) {
    if (once(rarity))
      out += std::string(", ") + name + ": " + value;
  };
  key("keys", precision());
  key("values", precision());
  key("residual_type", pick("f32", "f16", "bf16"));
  key("sink", number(0, 5));
  key("sink_type", pick("f32", "f16", "bf16"));
  key("window", once(2) ? "all" : number(1, 20));
  key("context", number(1, 99));
  key("positions", pick("absolute", "cache"));
  key("rollback", number(0, 3));
  key("arithmetic", pick("f32", "i16", "i8"));
  return out;
}

std::string Random::modelKeys(int rarity) {
  std::string out;
  auto key = [&](const char *name, const std::string &value) {
    if (once(rarity))
      out += std::string(", ") + name + ": " + value;
  };
  key("kv_heads", pick("1", "2", "4"));
  key("value_dim", pick("8", "24"));
  key("scale", pick("0.1", "-0.3333333333333333", "1e-5"));
  key("softcap", pick("none", "50", "30.5"));
  key("learned_sinks", pick("true", "false"));
  key("alibi", pick("true", "false", "{slopes: [0.5, 0.1, 0, 1e-3]}"));
  key("rope", rope());
  return out;
}

std::string Random::spec() {
  std::string out = "kvc: 1\nname: r\nmodel: {layers: 4, heads: 4, head_dim: " +
                    pick("8", "16") + ", io: " + pick("f32", "f16", "bf16") +
                    modelKeys(3) + "}\ncache: {x" + cacheKeys(2) + "}\n";
  std::size_t x = out.find("{x");
  out.replace(x, out[x + 2] == ',' ? 4 : 2, "{");
  int entries = below(4);
  if (entries > 0)
    out += "layers:\n";
  for (int i = 0; i < entries; ++i)
    out += "  - {at: " + pick("0", "1", "2", "0..1", "[0, 3]", "1..3") +
           (once(4) ? ", share: 0" : "") + modelKeys(8) + cacheKeys(8) + "}\n";
  return out;
}

/// The only error of a text is in this line and column.
static void isOnlyError(const std::string &text, std::size_t at) {
  Diagnostics diags;
  parseSpec(text, "slip.yaml", diags);
  const std::string before = text.substr(0, at);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t column = at - (before.rfind('\n') + 1) + 1;
  if (!CHECK(diags.count() == 1 && diags.sorted()[0].at.line == line &&
             diags.sorted()[0].at.column == column))
    std::printf("%s%s", text.c_str(), diags.str().c_str());
}

/// One slip at any key of a right spec makes one error, which is there: its
/// name, its colon, or its value.
static void testSlips(const std::string &text) {
  auto letter = [](char c) { return c == '_' || std::isalpha(c); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!letter(text[i]) || (i > 0 && letter(text[i - 1])))
      continue;
    std::size_t end = i;
    while (letter(text[end]))
      ++end;
    if (text[end] != ':')
      continue;
    std::string slip = text;
    isOnlyError(slip.insert(end, "x"), i);
    if (text[end + 1] != ' ' || text[end + 2] == '[' || text[end + 2] == '{')
      continue;
    slip = text;
    isOnlyError(slip.erase(end + 1, 1), i);
    slip = text;
    isOnlyError(slip.replace(end, 1, " ="), i);
    if (text.substr(i, end - i) == "name")
      continue;
    slip = text;
    const std::size_t length = text.find_first_of(",}\n", end) - end - 2;
    isOnlyError(slip.replace(end + 2, length, "wrong"), end + 2);
  }
}

static void testRandomSpecs() {
  int valid = 0;
  for (unsigned seed = 0; seed < 8000 && kvc::test::failures == 0; ++seed) {
    std::string text = Random(seed).spec();
    Diagnostics diags;
    std::optional<Spec> spec = parseSpec(text, "random.yaml", diags);
    CHECK(spec.has_value() == diags.empty());
    if (!spec)
      continue;
    ++valid;
    if (!CHECK(roundTrips(*spec)))
      std::printf("from:\n%s", text.c_str());
    if (valid % 8)
      continue;
    testSlips(text);
    testSlips(spec->canonical);
  }
  CHECK(valid > 300);
}

//===----------------------------------------------------------------------===//
// The table, and diagnostics
//===----------------------------------------------------------------------===//

static void testTable() {
  for (const Key &key : keyTable()) {
    CHECK(!key.name.empty() && !key.doc.empty() && key.forms != 0);
    CHECK(findKey(key.section, key.name) == &key);
    bool words = key.forms & (form::Word | form::Choice);
    CHECK(words == !key.words.empty());
    if (key.forms & (form::Integer | form::Number | form::Range))
      CHECK(key.min < key.max);
    CHECK(!key.required || key.fallback.empty());
    CHECK(!expected(key).empty());
  }
}

static void testDiagnostics() {
  Diagnostics diags;
  diags.addSource("f.yaml",
                  "first\n\tx: \xC3\xA4 y\r\n" + std::string(500, 'z') + "\n");
  diags.error({3, 400}, "third");
  diags.error({2, 8}, "second");
  diags.error({2, 8}, "second");
  diags.error({}, "whole");
  std::string z(160, 'z');
  CHECK(diags.count() == 3);
  CHECK(diags.str() == "f.yaml: error: whole\n"
                       "f.yaml:2:8: error: second\n\tx: \xC3\xA4 y\n"
                       "\t     ^\n"
                       "f.yaml:3:400: error: third\n" +
                           z + "\n" + std::string(80, ' ') + "^\n");
}

int main(int argc, char **argv) {
  testDefaults();
  testPrecisionDefaults();
  testResidual();
  testArithmetic();
  testSinkTypes();
  testOverrides();
  testCanonicalIsOne();
  testRandomSpecs();
  testTable();
  testDiagnostics();
  // Specs that are given are right, and their canonical form is.
  for (int i = 1; i < argc; ++i) {
    Diagnostics diags;
    std::optional<Spec> spec = parseSpecFile(argv[i], diags);
    std::printf("%s", diags.str().c_str());
    if (CHECK(spec))
      CHECK(roundTrips(*spec));
  }
  return kvc::test::checkResult();
}
