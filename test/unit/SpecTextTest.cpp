//===- SpecTextTest.cpp - slips in a spec's text ----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slip is shown where it is, with its cause and nothing that comes of it;
// and what is unusual but right is taken.
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Parser.h"
#include "test/unit/Check.h"

#include <string>

using namespace kvc::spec;

/// The errors of a text, as line:column: message.
static std::string errors(const std::string &text) {
  Diagnostics diags;
  parseSpec(text, "t", diags);
  std::string result;
  for (const Diagnostic &error : diags.sorted())
    result += std::to_string(error.at.line) + ":" +
              std::to_string(error.at.column) + ": " + error.message + "\n";
  return result;
}

static void expect(const std::string &text, const std::string &wanted) {
  if (std::string got = errors(text); !CHECK(got == wanted))
    std::printf("%s\nwanted:\n%sgot:\n%s\n", text.c_str(), wanted.c_str(),
                got.c_str());
}

/// A spec whose fourth line and those below are these; six keys of a model.
static std::string model(const std::string &lines) {
  return "kvc: 1\nname: t\nmodel:\n" + lines + "cache:\n  context: 10\n";
}

static void testSpaces() {
  const std::string tab =
      "a tab indents this line; YAML indents by spaces alone\n";
  expect(model("\tlayers: 4\n\theads: 8\n\thead_dim: 64\n"),
         "4:1: " + tab + "5:1: " + tab + "6:1: " + tab);
  expect(model("  layers: 4\n\theads: 8\n  head_dim: 64\n"), "5:1: " + tab);
  expect(model("  layers: 4\n  \theads: 8\n  head_dim: 64\n"), "5:3: " + tab);
  const std::string space =
      "this is a no-break space (U+00A0); write a plain space\n";
  expect(model("  layers: 4\n  heads:\u00a08\n  head_dim: 64\n"),
         "5:9: " + space);
  expect(model("  layers: 4\n  heads: \u00a08\n  head_dim: 64\n"),
         "5:10: " + space);
  expect(model("  layers: 4\n\u00a0\u00a0heads: 8\n  head_dim: 64\n"),
         "5:1: " + space);
  expect(model("  layers: 4 # \u00a0\u2014\u201ca\u201d\n  heads: 8\n"
               "  head_dim: 64\n"),
         "");
  expect(model("  layers: 4\n  heads: 8\n\u3000\u3000head_dim: 64\n"),
         "6:1: this is an ideographic space (U+3000); write a plain space\n");
  expect(model("  lay\u200bers: 4\n  heads: 8\n  head_dim: 64\n"),
         "4:6: this is a character of no width (U+200B); leave it out\n");
  expect(model("  layers: 4\n  heads: 8\u2028  head_dim: 64\n"),
         "5:11: this is a line separator (U+2028); write a plain line end\n");
  expect(model("  layers: 4\n  heads: 8\u0085  head_dim: 64\n"),
         "5:11: control character 0x85; a spec is plain text\n");
  const std::string right = "kvc: 1\nname: t\nmodel: {layers: 1, heads: 1, "
                            "head_dim: 1}\ncache: {context: 1}\n";
  expect("\ufeff" + right, "");
  expect("# a\n\ufeff" + right,
         "2:1: this is a byte order mark, which only begins a file (U+FEFF); "
         "leave it out\n");
}

static void testMarks() {
  expect(model("  layers: 4\n  heads\uff1a 8\n  head_dim: 64\n"),
         "5:8: this is a full-width character (U+FF1A); write :\n");
  expect(model("  layers: 4\n  heads: \uff18\n  head_dim: 64\n"),
         "5:10: this is a full-width character (U+FF18); write 8\n");
  expect(model("  layers: 4\n  io: \u201cf32\u201d\n  heads: 8\n"
               "  head_dim: 64\n"),
         "5:7: this is a curly quote (U+201C); write \"\n");
  expect(model("  layers: 4\n  heads: 8\n  head_dim: 64\n  scale: \u22121\n"),
         "7:10: this is a minus sign that is not ASCII's (U+2212); write -\n");
}

static void testColons() {
  const std::string remedy =
      "heads:8 has no space behind its colon; write heads: 8\n";
  expect(model("  layers: 4\n  heads:8\n  head_dim: 64\n"), "5:3: " + remedy);
  expect(model("  heads:8\n  layers: 4\n  head_dim: 64\n"), "4:3: " + remedy);
  expect(model("  layers: 4\n  head_dim: 64\n  heads:8\n"), "6:3: " + remedy);
  expect("kvc: 1\nname: t\nmodel: {layers: 4, heads:8, head_dim: 64}\n"
         "cache: {context: 1}\n",
         "3:20: " + remedy);
  expect("kvc: 1\nname: t\nmodel: {layers: 4, head_dim: 64,\n  heads:8}\n",
         "4:3: " + remedy);
  expect(model("  layers: 4\n  heads: 8\n  head_dim: 64\n  rope:{dims: 4}\n"),
         "7:3: rope:{dims has no space behind its colon; write rope: {dims\n");
  expect("kvc: 1\nlayers:\n  - at:3\n    window: 4\n",
         "3:5: at:3 has no space behind its colon; write at: 3\n");
  const std::string equals =
      "a key and its value are written key: value; write heads: 8\n";
  expect(model("  layers: 4\n  heads = 8\n  head_dim: 64\n"), "5:3: " + equals);
  expect(model("  layers: 4\n  heads=8\n  head_dim: 64\n"), "5:3: " + equals);
  expect(model("  layers: 4\n  heads 8\n  head_dim: 64\n"), "5:3: " + equals);
  expect("kvc: 1\nname: t\nmodel: {layers: 4, heads = 8, head_dim: 64}\n",
         "3:20: " + equals);
  expect("kvc: 1\nname: t\nmodel: {layers: 4, heads 8, head_dim: 64}\n",
         "3:20: " + equals);
  expect(model("  layers: 4\n  heads\n  head_dim: 64\n"),
         "5:3: heads has no value; a key and its value are written key: "
         "value\n");
  expect("kvc=1\nname:t\n",
         "1:1: a key and its value are written key: value; write kvc: 1\n"
         "2:1: name:t has no space behind its colon; write name: t\n");
  expect("// A spec.\nkvc: 1\n", "1:1: a comment begins with #\n");
}

static void testQuotes() {
  for (const std::string quote : {"\"", "'"}) {
    const std::string open = "this " + quote + " is not closed in its line; " +
                             "write another " + quote +
                             " where the string ends\n";
    expect(model("  layers: 4\n  io: " + quote +
                 "f32\n  heads: 8\n  head_dim: 64\n"),
           "5:7: " + open);
    expect("kvc: 1\nname: t\nmodel: {layers: 4, io: " + quote +
               "f32, heads: 8}\ncache:\n  context: 1\n",
           "3:24: " + open);
    expect("kvc: 1\nname: " + quote + "t\ncache: {keys: " + quote + "f32" +
               quote + "}\n",
           "2:7: " + open);
    expect("kvc: 1\nname: " + quote + "t", "2:7: " + open);
  }
  expect("name: \"t\\\"\nkvc: 1\n",
         "1:7: this \" is not closed in its line; write another \" where the "
         "string ends\n");
  expect("name: 't''\nkvc: 1\n",
         "1:7: this ' is not closed in its line; write another ' where the "
         "string ends\n");
  const std::string ends =
      "the value ends before this; is a quote missing, or one too many?\n";
  expect("name: \"t\" x\nkvc: 1\n", "1:11: " + ends);
  expect("name: \"t\"\"\nkvc: 1\n", "1:10: " + ends);
}

static void testBrackets() {
  expect("kvc: 1\nmodel: {layers: 4, heads: 8\ncache:\n  context = 10\n",
         "2:8: this { is not closed before line 3; write }\n");
  expect("kvc: 1\nlayers:\n  - {at: 0, window: 4\n  - {at: 1, window: 4}\n",
         "3:5: this { is not closed before line 4; write }\n");
  expect("kvc: 1\nlayers:\n  - {at: [0, 1, window: 4}\n",
         "3:26: this } does not close the [ of line 3, column 10; write ]\n");
  expect("{\"kvc\": 1,\n\"model\": {\"heads\": 8,\n\"name\": \"t\"}\n",
         "1:1: this { is never closed; write }\n");
  expect("kvc: 1\nmodel: {heads: 8}}\n", "2:18: this } closes nothing\n");
  expect("kvc: 1\nmodel: }\n", "2:8: this } closes nothing\n");
  expect("kvc: 1\nmodel: {layers: 4 heads: 8}\n",
         "2:19: a comma or } is missing before this\n");
  expect("{\"kvc\": 1\n \"name\": \"t\"\n}\n",
         "2:2: a comma or } is missing before this\n");
  expect("kvc: 1\nlayers: [{at: 1} {at: 2}]\n",
         "2:18: a comma or ] is missing before this\n");
  expect("kvc: 1\nmodel: {layers: 4; heads: 8}\n",
         "2:18: entries are separated by commas; write , for this ;\n");
}

static void testIndentation() {
  expect(model("  layers: 4\n   heads: 8\n   head_dim: 64\n"),
         "5:4: this line begins deeper than the one above, which has its value "
         "already; begin it in column 3\n");
  expect("kvc: 1\nlayers:\n  -{at: 0, window: 4}\n",
         "3:3: this dash has no space behind it; an item of a list is written "
         "- item\n");
}

/// All that YAML and JSON let one write otherwise.
static void testTaken() {
  const std::string cases[] = {
      // JSON, also with tabs, also without spaces.
      "{\n\t\"kvc\": 1,\n\t\"name\": \"t\",\n\t\"model\": {\n\t\t\"layers\": "
      "4,\n\t\t\"heads\": 8, \"head_dim\": 64\n\t},\n\t\"cache\": "
      "{\"context\": 10}\n}\n",
      "{\"kvc\":1,\"name\":\"t\",\"model\":{\"layers\":4,\"heads\":8,"
      "\"head_dim\":64},\"cache\":{\"context\":10}}",
      "\n\t{ \"kvc\": 1, \"name\": \"t\",\n\t\"model\": {\"layers\": 4, "
      "\"heads\": 8, \"head_dim\": 64}, \"cache\": {\"context\": 10} }\n",
      // A value below its key; brackets over lines; a comma too many.
      model("  layers:\n    4\n  heads: 8 # eight\n\n  # all\n  head_dim: 64\n"
            "  rope: {\n    theta: 5, # :=\n    dims: 4,\n  }\n"),
      // YAML wants these lines deeper; nothing else is unclear in them.
      model("  layers: 4\n  heads: 8\n  head_dim: 64\n  rope: {theta: 5,\n  "
            "dims: 4}\n"),
      model("  layers: 4\n  heads: 8\n  head_dim: 64\n  alibi:\n    slopes:\n"
            "    - 1\n    - 1\n    - 1\n    - 1\n    - 1\n    - 1\n    - 1\n"
            "    - 1\n"),
      // Items at their key's column; a map of several lines in an item.
      model("  layers: 4\n  heads: 8\n  head_dim: 64\n") +
          "layers:\n- at: 1\n  window: 4\n-\n  at: 2\n  window: 5\n-   at: "
          "3\n    window: 9\n",
      // Lines that end as Windows' do, blanks behind values, markers.
      "kvc: 1 \r\nname: t\t\r\nmodel: {layers: 4, heads: 8, head_dim: "
      "64} \r\ncache:\t{context: 10}\r\n",
      "---\nkvc: 1\nname: t\nmodel: {layers: 4, heads: 8, head_dim: 64}\n"
      "cache: {context: 10}\n...\n",
      "? kvc\n: 1\nname: t\nmodel: {layers: 4, heads: 8, head_dim: 64}\n"
      "cache: {context: 10}\n",
      "\"kvc\" : 1\n'name': t\nmodel: {layers: 4, heads: 8, 'head_dim':64}\n"
      "cache: {context: 10}\n"};
  for (const std::string &text : cases)
    expect(text, "");
}

int main() {
  testSpaces();
  testMarks();
  testColons();
  testQuotes();
  testBrackets();
  testIndentation();
  testTaken();
  return kvc::test::checkResult();
}
