//===- Document.cpp - untrusted YAML text as a plain tree -------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Document.h"

#include "compiler/spec/Text.h"
#include "compiler/spec/TextChecks.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
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
static Refused explain(const YAML::Exception &error) {
  Location at = error.mark.is_null() ? Location{1, 1} : locate(error.mark);
  // yaml-cpp's words for the commonest slips say what it looked for.
  auto says = [&](const char *words) {
    return error.msg.find(words) != std::string::npos;
  };
  if (says("end of map not found") || says("end of sequence not found"))
    return {at, "this is not YAML: the line's indentation fits none above it"};
  if (says("end of map flow not found"))
    return {at, "this is not YAML: a comma or } is missing before this"};
  if (says("end of sequence flow not found"))
    return {at, "this is not YAML: a comma or ] is missing before this"};
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
  if (!checkCharacters(text, diags) || !checkLines(text, diags))
    return std::nullopt;
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
    Refused refused = explain(error);
    diags.error(within(refused.at, text), refused.message);
  }
  return std::nullopt;
}
