//===- Document.cpp - untrusted YAML text as a plain tree -------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Document.h"

#include "compiler/spec/Text.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

using namespace kvc::spec;

std::string kvc::spec::shown(const Node &node) {
  switch (node.kind) {
  case Node::Kind::Null:
    return "empty";
  case Node::Kind::List:
    return "a list";
  case Node::Kind::Map:
    return "a map";
  case Node::Kind::Scalar:
    break;
  }
  return node.quoted ? "the string \"" + brief(node.text) + "\""
                     : brief(node.text);
}

//===----------------------------------------------------------------------===//
// Before yaml-cpp
//===----------------------------------------------------------------------===//

namespace {
/// What the text is like before anything parses it.
struct Scan {
  std::string error; ///< empty where yaml-cpp may read it
  Location at;
  /// Brackets that are open at the end or close nothing: yaml-cpp reports
  /// them lines later.
  struct Bracket {
    char c;
    Location at;
  };
  std::vector<Bracket> open;
  std::optional<Bracket> stray;
};
} // namespace

static std::string hex(unsigned char c) {
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, "0x%02X", c);
  return buffer;
}

/// Follows the brackets. Quotes are not followed: they may be off in a few
/// strings with brackets in them, which only makes a YAML error's place worse.
static void scanBracket(Scan &scan, char c, Location at) {
  if (c == '[' || c == '{') {
    scan.open.push_back({c, at});
    if (scan.open.size() > maxDepth) {
      scan.error = "nesting is deeper than " + std::to_string(maxDepth) +
                   "; a spec needs 5 levels";
      scan.at = at;
    }
  } else if (c == ']' || c == '}') {
    if (!scan.open.empty() && scan.open.back().c == (c == ']' ? '[' : '{'))
      scan.open.pop_back();
    else if (!scan.stray)
      scan.stray = Scan::Bracket{c, at};
  }
}

static Scan scanText(std::string_view text) {
  Scan scan;
  Location at{1, 1};
  bool comment = false;
  char before = '\n';
  for (std::size_t i = 0; i < text.size() && scan.error.empty();) {
    char c = text[i];
    std::size_t length = utf8Length(text, i);
    bool lineEnd =
        c == '\n' || (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n');
    if (length == 0) {
      scan.error = "byte " + hex(c) + " is not valid UTF-8; save as UTF-8";
    } else if (c == '\0') {
      scan.error = "the file holds a NUL byte; a spec is plain text";
    } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\t' &&
                !lineEnd) ||
               c == 0x7F) {
      scan.error = "control character " + hex(c) + "; a spec is plain text";
    } else if (c == '#' &&
               (before == ' ' || before == '\t' || before == '\n')) {
      comment = true;
    } else if (!comment) {
      scanBracket(scan, c, at);
    }
    if (!scan.error.empty() && scan.at.line == 0)
      scan.at = at;
    at.column += length;
    if (c == '\n') {
      ++at.line;
      at.column = 1;
      comment = false;
    }
    before = c;
    i += std::max<std::size_t>(length, 1);
  }
  return scan;
}

//===----------------------------------------------------------------------===//
// yaml-cpp's events as a tree
//===----------------------------------------------------------------------===//

namespace {
/// Thrown out of yaml-cpp, so that it stops at once.
struct Refused {
  Location at;
  std::string message;
};

Location locate(const YAML::Mark &mark) {
  return {static_cast<unsigned>(mark.line + 1),
          static_cast<unsigned>(mark.column + 1)};
}

/// Builds the tree. yaml-cpp's own tree would lose duplicate keys and follow
/// aliases; its events come before it recurses, so depth ends here.
class TreeBuilder : public YAML::EventHandler {
public:
  Node root;

  void OnDocumentStart(const YAML::Mark &mark) override {
    if (documents++)
      throw Refused{locate(mark),
                    "a second document begins here; a spec is one document"};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark &mark, YAML::anchor_t anchor) override {
    add(mark, "", anchor, Node::Kind::Null);
  }
  void OnAlias(const YAML::Mark &mark, YAML::anchor_t) override {
    throw Refused{locate(mark),
                  "aliases (*) are not read; write the value out"};
  }
  void OnAnchor(const YAML::Mark &mark, const std::string &) override {
    throw Refused{locate(mark),
                  "anchors (&) are not read; write the value out"};
  }
  void OnScalar(const YAML::Mark &mark, const std::string &tag,
                YAML::anchor_t anchor, const std::string &value) override {
    Node &node = add(mark, tag, anchor, Node::Kind::Scalar);
    node.text = value;
    node.quoted = tag == "!";
  }
  void OnSequenceStart(const YAML::Mark &mark, const std::string &tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open.push_back(&add(mark, tag, anchor, Node::Kind::List));
  }
  void OnSequenceEnd() override { open.pop_back(); }
  void OnMapStart(const YAML::Mark &mark, const std::string &tag,
                  YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open.push_back(&add(mark, tag, anchor, Node::Kind::Map));
  }
  void OnMapEnd() override { open.pop_back(); }

private:
  Node &add(const YAML::Mark &mark, const std::string &tag,
            YAML::anchor_t anchor, Node::Kind kind) {
    if (anchor)
      throw Refused{locate(mark),
                    "anchors (&) are not read; write the value out"};
    if (!tag.empty() && tag != "?" && tag != "!")
      throw Refused{locate(mark), "tags (!) are not read; leave it out"};
    if (open.size() >= maxDepth)
      throw Refused{locate(mark), "nesting is deeper than " +
                                      std::to_string(maxDepth) +
                                      "; a spec needs 5 levels"};
    Node node;
    node.kind = kind;
    node.at = locate(mark);
    if (open.empty()) {
      root = std::move(node);
      return root;
    }
    // Pointers to open nodes stay: only the innermost one's items grow.
    open.back()->items.push_back(std::move(node));
    return open.back()->items.back();
  }

  std::vector<Node *> open;
  unsigned documents = 0;
};
} // namespace

/// What to say of text that is no YAML.
static Refused explain(const Scan &scan, const YAML::Exception &error) {
  if (scan.stray)
    return {scan.stray->at,
            std::string("this ") + scan.stray->c + " closes nothing"};
  if (!scan.open.empty()) {
    const Scan::Bracket &bracket = scan.open.back();
    return {bracket.at, std::string("this ") + bracket.c +
                            " is never closed; write " +
                            (bracket.c == '[' ? "]" : "}")};
  }
  Location at = error.mark.is_null() ? Location{1, 1} : locate(error.mark);
  // yaml-cpp's words for the commonest slips say what it looked for.
  auto says = [&](const char *words) {
    return error.msg.find(words) != std::string::npos;
  };
  if (says("end of map not found") || says("end of sequence not found"))
    return {at, "this is not YAML: the line's indentation fits none above it"};
  if (says("illegal map value"))
    return {at, "this is not YAML: a value stands here without a key of its "
                "own; a key and its value are written key: value"};
  if (says("referenced anchor"))
    return {at, "aliases (*) are not read; write the value out"};
  return {at, "this is not YAML: " + error.msg};
}

/// Moves a place behind the end of the text to its last line.
static Location within(Location at, std::string_view text) {
  unsigned lines = std::ranges::count(text, '\n');
  if (!text.empty() && text.back() != '\n')
    ++lines;
  if (at.line <= lines || lines == 0)
    return at;
  return {lines, 1};
}

std::optional<Node> kvc::spec::readDocument(std::string_view text,
                                            Diagnostics &diags) {
  if (text.size() > maxFileBytes) {
    diags.error({}, "the file is larger than 1 MiB, the most that a spec may "
                    "take");
    return std::nullopt;
  }
  Scan scan = scanText(text);
  if (!scan.error.empty()) {
    diags.error(scan.at, scan.error);
    return std::nullopt;
  }
  TreeBuilder builder;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    bool any = parser.HandleNextDocument(builder);
    // What follows is read too: text behind the document is an error.
    while (any && parser.HandleNextDocument(builder))
      ;
    if (any)
      return std::move(builder.root);
    diags.error({}, "the file is empty; a spec begins with kvc: 1");
  } catch (const Refused &refused) {
    diags.error(refused.at, refused.message);
  } catch (const YAML::Exception &error) {
    Refused refused = explain(scan, error);
    diags.error(within(refused.at, text), refused.message);
  }
  return std::nullopt;
}
