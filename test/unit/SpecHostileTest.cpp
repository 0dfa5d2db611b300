//===- SpecHostileTest.cpp - texts that mean harm ---------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever bytes it is given, the parser comes back soon, with a spec or with
// errors.
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Parser.h"
#include "test/unit/Check.h"

#include <ctime>
#include <random>
#include <string>

using namespace kvc::spec;

static std::string errors(const std::string &text) {
  Diagnostics diags;
  return parseSpec(text, "test.yaml", diags) ? "" : diags.str();
}

static const char *const good = R"(kvc: 1
name: g
model:
  layers: 4
  heads: 9
  kv_heads: 3
  head_dim: 64
  rope: {theta: 1e5, dims: 64, pairing: half}
cache:
  keys: {bits: 4, per: channel, group: 32, flush: 64}
  values: {bits: 4, per: token, group: 32, residual: 64}
  sink: 4
  window: 128
  context: 100
  positions: cache
layers:
  - {at: [0, 2..3], window: all}
  - {at: 3, share: 1}
)";

static std::string repeat(const std::string &text, std::size_t times) {
  std::string result;
  while (times--)
    result += text;
  return result;
}

static void testHostile() {
  const std::size_t most = std::size_t{1} << 20;
  auto refused = [](const std::string &text, const char *why) {
    std::string message = errors(text);
    if (!CHECK(message.find(why) != std::string::npos))
      std::printf("wanted '%s', got: %.300s\n", why, message.c_str());
  };
  refused(repeat(" ", most + 1), "larger than 1 MiB");
  refused(repeat("[", most), "deeper than 32");
  refused("a: " + repeat("{a: ", 200000), "deeper than 32");
  refused(repeat("- ", most / 2), "deeper than 32");
  refused(repeat("? ", most / 2), "deeper than 32");
  refused("a: &x [1, 2]\n", "anchors (&)");
  refused("a: *x\n", "error");
  refused("a: !!str b\n", "tags (!)");
  refused("a: !<tag:x> {}\n", "tags (!)");
  refused("<<: {a: 1}\n", "unknown key <<");
  refused(std::string(good) + "---\nkvc: 1\n", "second document");
  refused(std::string("kvc: 1\0", 7), "NUL byte");
  refused("kvc: \xC3(\n", "not valid UTF-8");
  refused("kvc: \xED\xA0\x80\n", "not valid UTF-8");
  refused("\xFF\xFEk\n", "not valid UTF-8");
  refused("kvc: 1\x1B[31m\n", "control character 0x1B");
  refused("", "empty");
  refused("# nothing\n", "empty");
  refused("just words\n", "a key and its value are written key: value");
  refused("- 1\n", "the spec is a list");
  refused("{[1]: 2}\n", "keys are plain words");
  refused("kvc: 1\nkvc: 1\n", "written twice");
  refused("{kvc: 1\nname: x\n", "is never closed");
  refused("kvc: 1]\n", "kvc is 1]");
  for (const char *number : {"99999999999999999999999999",
                             "-99999999999999999999",
                             "1e999",
                             "nan",
                             ".nan",
                             ".inf",
                             "-.Inf",
                             "inf",
                             "0x10",
                             "010",
                             "+5",
                             "1_000",
                             "5e-1",
                             "-1",
                             "0",
                             "65537",
                             "''",
                             "~",
                             "[]",
                             "{}",
                             "true",
                             "\"3\""})
    refused("kvc: 1\nname: n\nmodel: {layers: 1, heads: " +
                std::string(number) + ", head_dim: 4}\ncache: {context: 1}\n",
            "error: heads ");
}

/// Whatever the bytes, the parser comes back.
static void testMutations() {
  std::string text = good;
  CHECK(errors(text).empty() && errors(text + "...\n").empty());
  for (std::size_t length = 0; length < text.size(); ++length)
    errors(text.substr(0, length));
  std::mt19937 engine(7);
  const std::string alphabet = "{}[]:,-?&*!|>'\"%@`#\n\t\r \x01\x80\xC3~.019az";
  for (int round = 0; round < 8000; ++round) {
    std::string mutant = text;
    for (unsigned edits = engine() % 4 + 1; edits-- > 0;) {
      std::size_t at = engine() % mutant.size();
      char c = alphabet[engine() % alphabet.size()];
      switch (engine() % 4) {
      case 0:
        mutant[at] = c;
        break;
      case 1:
        mutant.insert(at, 1, c);
        break;
      case 2:
        mutant.erase(at, 1 + engine() % 9);
        break;
      default:
        mutant.insert(at, text.substr(engine() % text.size(), 30));
      }
    }
    Diagnostics diags;
    std::optional<Spec> spec = parseSpec(mutant, "m.yaml", diags);
    CHECK(spec.has_value() == diags.empty());
    CHECK(diags.empty() || diags.str().find("error: ") != std::string::npos);
  }
}

static void testManyEntries() {
  // As many layers as there may be, each with an entry of its own.
  std::string text = "kvc: 1\nname: l\nmodel: {layers: 4096, heads: 2, "
                     "head_dim: 4}\ncache: {window: 9}\nlayers:\n";
  for (int i = 0; i < 4096; ++i)
    text += "- {at: " + std::to_string(i) + ", scale: 0." +
            std::to_string(i + 1) + "}\n";
  CHECK(errors(text).empty());
  // Entries that replace each other are all refused, in bearable time.
  text = text.substr(0, text.find("- {"));
  for (int i = 0; i < 4096; ++i)
    text += "- {at: 0..4095, window: 7, sink: 3, scale: 2, kv_heads: 1, "
            "value_dim: 3, softcap: 3}\n";
  std::string message = errors(text);
  CHECK(message.find("more errors are not shown") != std::string::npos);
}

/// The head of `text`, then `unit` as often as a file may hold it, then `tail`.
static std::string filled(const std::string &head, const std::string &unit,
                          const std::string &tail = "") {
  const std::size_t most = std::size_t{1} << 20;
  std::size_t room = most - head.size() - tail.size();
  return head + repeat(unit, room / unit.size()) + tail;
}

static std::string numbered(const char *before, const char *behind) {
  std::string text;
  for (int i = 0; text.size() < (std::size_t{1} << 20) - 64; ++i)
    text += before + std::to_string(i) + behind;
  return text;
}

/// As large as a file may be, of whatever costs most: an error within a second.
/// The bound here leaves room for a machine that has more to do.
static void testTime() {
  const std::string head =
      "kvc: 1\nname: n\nmodel: {layers: 4096, heads: 2, head_dim: 4}\n"
      "cache: {window: 9}\nlayers:\n";
  const std::string all = "- {at: 0..4095, window: 7, sink: 3, scale: 2}\n";
  struct {
    const char *what;
    std::string text;
  } cases[] = {
      {"spaces of 100 MB", std::string(100'000'000, ' ')},
      {"a million entries", head + repeat("- {at: 0}\n", 1'000'000)},
      {"entries", filled(head, "- {}\n")},
      {"empty entries", filled(head, "-\n")},
      {"entries of all layers", head + repeat(all, 4096)},
      {"lists of all layers",
       head + repeat("- {at: [" + repeat("0..4095,", 30) + "0], window: 7}\n",
                     3500)},
      {"layers in a list", filled(head + "- {at: [", "0..4095,", "0]}\n")},
      {"huge numbers",
       head + repeat("- {at: 99999999999999999999, window: 1e999}\n", 4096)},
      {"one key many times", filled("", "a: 1\n")},
      {"many keys", numbered("k", ": 1\n")},
      {"many keys in a line", "{" + numbered("k", ": 1, ") + "}"},
      {"a long key", filled("", "a", ": 1\n")},
      {"a long value", filled("kvc: ", "1")},
      {"a long string", filled("name: \"", "a", "\"\n")},
      {"a string without an end", filled("name: \"", "\\x41")},
      {"lines of a string", filled("a: \"x\n", "  x\n")},
      {"lines of a block", filled("a: |\n", " x\n")},
      {"commas", filled("[", ",", "]")},
      {"pairs in a list", filled("[", "a: b,")},
      {"keys in a map", filled("{", "\"a\":1,")},
      {"question marks", filled("", "? a\n")},
      {"colons", filled("", ":")},
      {"quotes", filled("", "\"")},
      {"deep pairs", filled("a: ", repeat("[", 30) + repeat("]", 30) + ",")},
      {"an alias bomb",
       "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\n"},
      {"anchors", filled("", "&a ")},
      {"documents", filled("", "---\n")},
      {"directives", filled("", "%YAML 1.2\n")},
      {"comments", filled("", "#\n")},
  };
  for (const auto &[what, text] : cases) {
    const std::clock_t start = std::clock();
    std::string message = errors(text);
    double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    if (!CHECK(message.find("error: ") != std::string::npos &&
               message.size() < 1'000'000 && seconds < 2 * kvc::test::slowness))
      std::printf("%s: %.2f s, %.100s\n", what, seconds, message.c_str());
  }
}

static void testMuchMemory() {
  // What is kept for each head of each layer is bounded.
  std::string head = "kvc: 1\nname: m\ncache: {window: 1}\nmodel: {layers: "
                     "4096, head_dim: 1, heads: ";
  CHECK(errors(head + "65536, alibi: true}\n").find("heads together") !=
        std::string::npos);
  CHECK(errors(head + "1, alibi: {slopes: [" + repeat("1,", 65535) + "1]}}\n")
            .find("65536 slopes for 1 heads") != std::string::npos);
  CHECK(errors(head + "1, alibi: {slopes: [" + repeat("1,", 400000) + "1]}}\n")
            .find("400001 items; the most is 65536") != std::string::npos);
}

int main() {
  testHostile();
  testMutations();
  testManyEntries();
  testTime();
  testMuchMemory();
  return kvc::test::checkResult();
}
