//===- Cursor.cpp - what of a spec is at a place of its text --------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Cursor.h"

#include "compiler/spec/Document.h"
#include "compiler/spec/Text.h"

#include <algorithm>
#include <string>

using namespace kvc::spec;

static constexpr std::string_view blanks = " \t";

static std::string_view withoutBlanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  return first < text.size() ? text.substr(first) : std::string_view();
}

static std::size_t lineBegin(std::string_view text, std::size_t at) {
  const std::size_t end = at ? text.rfind('\n', at - 1) : text.npos;
  return end == text.npos ? 0 : end + 1;
}

/// Where a line's characters end, before \n or \r\n.
static std::size_t lineEnd(std::string_view text, std::size_t at) {
  std::size_t end = std::min(text.find('\n', at), text.size());
  return end > at && text[end - 1] == '\r' ? end - 1 : end;
}

//===----------------------------------------------------------------------===//
// Brackets, strings and comments, as far as they can be told without a parser
//===----------------------------------------------------------------------===//

namespace {
/// Goes through a text by characters that are no part of a string or comment.
class Scan {
public:
  explicit Scan(std::string_view text) : text(text) {}

  std::string brackets; ///< open ones, the innermost last
  bool inComment = false, inString = false;

  /// Goes on to `end`, at most.
  void to(std::size_t end) {
    for (end = std::min(end, text.size()); i < end; ++i)
      step(text[i], i ? text[i - 1] : '\n');
  }

private:
  void step(char c, char before);

  std::string_view text;
  std::size_t i = 0;
  char quote = 0;
};
} // namespace

void Scan::step(char c, char before) {
  if (c == '\n') {
    inComment = inString = false;
    return;
  }
  if (inComment)
    return;
  if (inString) {
    inString = c != quote || (quote == '"' && before == '\\');
    return;
  }
  constexpr std::string_view openers = " \t\n[{,";
  const bool begins = openers.find(before) != openers.npos;
  if (c == '#' && begins && before != '[' && before != '{' && before != ',')
    inComment = true;
  else if ((c == '"' || c == '\'') && begins) {
    inString = true;
    quote = c;
  } else if (c == '[' || c == '{')
    brackets.push_back(c);
  else if ((c == ']' || c == '}') && !brackets.empty())
    brackets.pop_back();
}

//===----------------------------------------------------------------------===//
// Whether it is a spec
//===----------------------------------------------------------------------===//

/// Whether what begins here is the key kvc; `slips`: or would be, with a colon
/// or a space.
static bool beginsWithVersion(std::string_view text, bool slips) {
  const char quote = text.empty() ? 0 : text[0];
  const bool quoted = quote == '"' || quote == '\'';
  text.remove_prefix(quoted);
  const std::string_view name = keyOf(KeyId::Kvc).name;
  if (!text.starts_with(name))
    return false;
  text.remove_prefix(name.size());
  if (quoted) {
    if (!text.starts_with(quote))
      return false;
    text.remove_prefix(1);
  }
  const std::string_view rest = withoutBlanks(text);
  if (rest.starts_with(':') || !slips)
    return rest.starts_with(':');
  // kvc, kvc 1, kvc=1.
  return rest.empty() || rest[0] == '\n' || rest[0] == '\r' || rest[0] == '=' ||
         (rest.size() < text.size() && rest[0] >= '0' && rest[0] <= '9');
}

/// The same of a document that is one map in brackets, as JSON is.
static bool hasVersionInBrackets(std::string_view text) {
  Scan scan(text);
  bool entry = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (entry && scan.brackets == "{" && !scan.inComment && !scan.inString &&
        beginsWithVersion(text.substr(i), /*slips=*/false))
      return true;
    scan.to(i + 1);
    if (scan.inComment)
      continue;
    if (text[i] == '{' || text[i] == ',')
      entry = true;
    else if (std::string_view(" \t\r\n").find(text[i]) ==
             std::string_view::npos)
      entry = false;
  }
  return false;
}

/// Whether a text has the key where a line may begin with it.
static bool hasVersionInLines(std::string_view text) {
  std::size_t indent = text.npos;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::string_view rest = text.substr(begin);
    std::string_view line = rest.substr(0, rest.find('\n'));
    begin += line.size() + 1;
    if (line.starts_with("---"))
      line.remove_prefix(3);
    const std::string_view words = withoutBlanks(line);
    if (words.empty() || words[0] == '#' || words[0] == '\r' || line[0] == '%')
      continue;
    if (indent == text.npos) {
      if (words[0] == '{')
        return hasVersionInBrackets(rest);
      indent = line.size() - words.size();
    }
    // Keys of the outermost map begin where its first one does.
    if (line.size() - words.size() == indent &&
        beginsWithVersion(words, /*slips=*/true))
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

static bool isMark(char c) {
  return std::string_view(",[]{}").find(c) != std::string_view::npos;
}

Extent kvc::spec::tokenAt(std::string_view text, std::size_t begin) {
  begin = std::min(begin, text.size());
  const std::size_t lineStop = lineEnd(text, begin);
  const std::string_view line = text.substr(begin, lineStop - begin);
  if (line.empty())
    return {begin, begin};
  auto blankAt = [&](std::size_t i) {
    return i >= line.size() || blanks.find(line[i]) != blanks.npos;
  };
  auto ends = [&](std::size_t i) {
    if (i >= line.size() || isMark(line[i]))
      return true;
    if (line[i] == ':')
      return blankAt(i + 1) || isMark(line[i + 1]);
    return line[i] == '#' && blankAt(i - 1);
  };
  std::size_t end = 1;
  if (line[0] == '"' || line[0] == '\'') {
    const std::size_t close = line.find(line[0], 1);
    end = close == line.npos ? line.size() : close + 1;
  } else if (!isMark(line[0]) && line[0] != ':' && !blankAt(0)) {
    while (!ends(end))
      ++end;
    while (blankAt(end - 1))
      --end;
  }
  return {begin, begin + end};
}

//===----------------------------------------------------------------------===//
// The tree, with the key table
//===----------------------------------------------------------------------===//

namespace {
/// A place in the tree: a name or a value of a map, or an item of a list.
struct Spot {
  const Node *map = nullptr; ///< the map that it is in; null of an item
  const Node *node = nullptr;
  Section section = Section::Root; ///< of the map, or of an item that is one
  const Key *key = nullptr; ///< whose name, value or list it is; null: unknown
  const Node *name = nullptr; ///< of a value: its key
  bool isName = false;
};
} // namespace

/// Calls `found` for each name, value and item until it says true. The tree's
/// depth is limited by who made it.
template <typename Found>
static bool walk(const Node &node, Section section, const Key *key,
                 const Found &found) {
  if (node.kind == Node::Kind::List) {
    for (const Node &item : node.items)
      if (found(Spot{.node = &item, .section = section, .key = key}) ||
          walk(item, section, nullptr, found))
        return true;
    return false;
  }
  if (node.kind != Node::Kind::Map)
    return false;
  for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
    const Node &name = node.items[i], &value = node.items[i + 1];
    const Key *written = findKey(section, name.text);
    Spot spot{.map = &node,
              .node = &name,
              .section = section,
              .key = written,
              .isName = true};
    if (found(spot))
      return true;
    spot.node = &value;
    spot.name = &name;
    spot.isName = false;
    // Of what an unknown key has in it nothing is known.
    if (written && (found(spot) || walk(value, written->map, written, found)))
      return true;
  }
  return false;
}

static std::optional<Node> treeOf(std::string_view text) {
  Diagnostics unsaid;
  return readDocument(text, unsaid);
}

bool kvc::spec::isMeantAsSpec(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF"))
    text.remove_prefix(3);
  if (hasVersionInLines(text))
    return true;
  // YAML has more ways to write a key; large files of others are not parsed.
  if (text.find(keyOf(KeyId::Kvc).name) == text.npos &&
      text.find('\\') == text.npos)
    return false;
  const std::optional<Node> root = treeOf(text);
  if (!root || root->kind != Node::Kind::Map)
    return false;
  for (std::size_t i = 0; i < root->items.size(); i += 2)
    if (root->items[i].text == keyOf(KeyId::Kvc).name)
      return true;
  return false;
}

std::optional<WrittenKey> kvc::spec::writtenKeyAt(std::string_view text,
                                                  std::size_t at) {
  at = std::min(at, text.size());
  const std::size_t begin = lineBegin(text, at);
  const std::optional<Node> root = treeOf(text);
  if (!root)
    return std::nullopt;
  const auto line =
      1 + static_cast<unsigned>(std::count(
              text.begin(), text.begin() + std::ptrdiff_t(at), '\n'));
  std::optional<WrittenKey> result;
  walk(*root, Section::Root, nullptr, [&](const Spot &spot) {
    if (!spot.isName || !spot.key || spot.node->at.line != line)
      return false;
    const Extent name = tokenAt(text, begin + spot.node->at.column - 1);
    if (at < name.begin || at > name.end)
      return false;
    result = {spot.key, name};
    return true;
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// No key and no value has this name.
static constexpr std::string_view placeholder = "kvc_choices_are_asked_for";

static bool isWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/// The keys that a map lacks; `map` is null where it has none yet.
static std::vector<const Key *> lackingKeys(Section section, const Node *map) {
  std::vector<std::string_view> written;
  std::string_view method;
  if (map)
    for (std::size_t i = 0; i + 1 < map->items.size(); i += 2) {
      written.push_back(map->items[i].text);
      if (written.back() == keyOf(KeyId::ScalingType).name)
        method = map->items[i + 1].text;
    }
  std::vector<const Key *> keys = keysIn(section);
  std::erase_if(keys, [&](const Key *key) {
    return std::ranges::find(written, key->name) != written.end() ||
           (!key->with.empty() && !method.empty() &&
            !contains(key->with, method));
  });
  return keys;
}

/// What the placeholder stands for in a text; false where it is nowhere.
static bool findChoices(const std::string &text, Choices &choices) {
  const std::optional<Node> root = treeOf(text);
  if (!root)
    return false;
  // A document that has nothing else yet.
  if (root->text == placeholder) {
    choices.names = lackingKeys(Section::Root, nullptr);
    return true;
  }
  return walk(*root, Section::Root, nullptr, [&](const Spot &spot) {
    if (spot.node->text != placeholder)
      return false;
    if (spot.isName) {
      choices.names = lackingKeys(spot.section, spot.map);
      return true;
    }
    choices.inItem = !spot.map;
    choices.inLine = spot.name && spot.name->at.line == spot.node->at.line;
    if (!spot.key)
      return true;
    // In the line below its key, or behind a dash, a value may be a map.
    const unsigned forms = choices.inItem ? spot.key->items : spot.key->forms;
    if ((forms & form::Map) && !choices.inLine)
      choices.names = lackingKeys(spot.key->map, nullptr);
    choices.valueOf = spot.key;
    return true;
  });
}

std::optional<Choices> kvc::spec::choicesAt(std::string_view text,
                                            std::size_t at) {
  if (text.size() > maxFileBytes)
    return std::nullopt;
  at = std::min(at, text.size());
  Scan scan(text);
  scan.to(at);
  if (scan.inComment || scan.inString)
    return std::nullopt;
  Choices choices;
  std::size_t &begin = choices.word.begin, &end = choices.word.end;
  begin = end = at;
  while (begin > 0 && isWordCharacter(text[begin - 1]))
    --begin;
  while (end < text.size() && isWordCharacter(text[end]))
    ++end;
  const std::string before(text.substr(0, begin)), word(placeholder);
  const std::string after(text.substr(end));
  choices.hasColon = withoutBlanks(after).starts_with(':');
  // Where the rest of the text has slips, it is left out.
  std::string closed;
  for (char c : scan.brackets)
    closed.insert(closed.begin(), c == '[' ? ']' : '}');
  for (const std::string &rest : {after, closed})
    // A value; or a key, whose value is not written yet.
    for (const char *value : {"", ": 0"})
      if (findChoices(before + word + value + rest, choices))
        return choices;
  return std::nullopt;
}
