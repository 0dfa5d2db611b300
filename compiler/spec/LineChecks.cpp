//===- LineChecks.cpp - lines that no spec has ------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block line is items' dashes, a key with its colon, and a value; a value is
// a word, a string within the line, or brackets, which may go over lines. No
// word of a spec has a space in it, so two words show what is missing between.
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Keys.h"
#include "compiler/spec/Text.h"
#include "compiler/spec/TextChecks.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace kvc::spec;

namespace {
class Lines {
public:
  Lines(std::string_view text, Diagnostics &diags) : text(text), diags(diags) {}
  bool run();

private:
  /// What an entry between brackets has so far.
  enum class Entry { Begins, NeedsValue, Ends };
  struct Bracket {
    char c;
    Location at;
    Entry entry;
  };
  /// How the check goes on behind a token.
  enum class Next { Here, Line, Never };

  Next block();
  Next value(bool isKeys);
  Next bracketed();
  Next bracket();
  Next close();
  Next plainBetweenBrackets();
  Next afterValue();
  bool quoted();
  void key(std::string_view words, std::size_t at);
  void withoutValue(std::string_view words, std::size_t at);
  void missingComma(std::size_t at);

  /// The rest of the line, from where a value may begin, is empty or a comment.
  bool atEnd();
  /// The line reads as one that is not between brackets.
  bool isBlockLine() const;
  char here(std::size_t ahead = 0) const {
    return i + ahead < line.size() ? line[i + ahead] : '\n';
  }
  bool blank(std::size_t at) const {
    return at >= line.size() || line[at] == ' ' || line[at] == '\t';
  }
  Location place(std::size_t byte) const {
    return {number, static_cast<unsigned>(byte + 1)};
  }
  void fail(Location at, std::string message) {
    found.push_back({0, at, std::move(message)});
  }

  std::string_view text, line;
  Diagnostics &diags;
  std::vector<Diagnostic> found;
  std::size_t i = 0; ///< in the line
  unsigned number = 0;
  std::vector<Bracket> open;
  /// Lines between brackets begin behind this column, that of what the
  /// brackets belong to; one that does not may show that they stay open.
  std::size_t least = 0;
  /// Where the last block line's key or item begins, and whether its value is
  /// in that line.
  std::size_t column = 0;
  bool complete = false;
  bool begun = false; ///< a block line was read
};
} // namespace

/// What begins something that a spec has no use for.
static bool isForeign(char c) {
  return std::string_view("&*!|>%@`").find(c) != std::string_view::npos;
}

static std::string_view trimmed(std::string_view words) {
  while (!words.empty() && (words.back() == ' ' || words.back() == '\t'))
    words.remove_suffix(1);
  return words;
}

static bool isKeyName(std::string_view word) {
  return std::ranges::any_of(keyTable(),
                             [&](const Key &key) { return key.name == word; });
}

bool Lines::atEnd() {
  while (i < line.size() && blank(i))
    ++i;
  return i == line.size() || line[i] == '#';
}

bool Lines::isBlockLine() const {
  const std::string_view rest = line.substr(i);
  const std::size_t colon = rest.find(':');
  const bool dash = here() == '-' && blank(i + 1);
  const bool key = colon < rest.size() && blank(i + colon + 1) &&
                   rest.find_first_of(" ,[]{}\"'") > colon;
  auto count = [&](char c) { return std::ranges::count(rest, c); };
  return (dash || key) && count(']') <= count('[') && count('}') <= count('{');
}

/// A key as it stands before its colon: heads:8 and heads = 8 are none.
void Lines::key(std::string_view words, std::size_t at) {
  const std::size_t mark = words.find_first_of(":=");
  if (mark == std::string_view::npos)
    return;
  const std::string_view name = trimmed(words.substr(0, mark));
  std::string_view rest = words.substr(mark + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string remedy =
      rest.empty() || name.empty()
          ? ""
          : "; write " + brief(name) + ": " + brief(rest);
  if (words[mark] == ':')
    fail(place(at), brief(words) + " has no space behind its colon" + remedy);
  else
    fail(place(at), "a key and its value are written key: value" + remedy);
}

/// Words that stand where a key and a value are due.
void Lines::withoutValue(std::string_view words, std::size_t at) {
  if (words.starts_with("//"))
    return fail(place(at), "a comment begins with #");
  if (words.find_first_of(":=") != std::string_view::npos)
    return key(words, at);
  const std::size_t space = words.find_first_of(" \t");
  if (space == std::string_view::npos)
    return fail(place(at), brief(words) + " has no value; a key and its value "
                                          "are written key: value");
  const std::string_view name = words.substr(0, space);
  std::string_view rest = words.substr(space);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  fail(place(at), "a key and its value are written key: value" +
                      (isKeyName(name)
                           ? "; write " + std::string(name) + ": " + brief(rest)
                           : std::string()));
}

void Lines::missingComma(std::size_t at) {
  fail(place(at), std::string("a comma or ") +
                      (open.back().c == '[' ? "]" : "}") +
                      " is missing before this");
}

/// Goes behind a quoted string; false where it does not end in the line.
bool Lines::quoted() {
  const std::size_t begin = i;
  const char quote = line[i++];
  while (i < line.size()) {
    const bool escaped =
        quote == '"' ? line[i] == '\\' : line[i] == quote && here(1) == quote;
    if (!escaped && line[i] == quote) {
      ++i;
      return true;
    }
    i += escaped ? 2 : 1;
  }
  i = line.size();
  fail(place(begin), std::string("this ") + quote +
                         " is not closed in its line; write another " + quote +
                         " where the string ends");
  return false;
}

//===----------------------------------------------------------------------===//
// Between brackets
//===----------------------------------------------------------------------===//

Lines::Next Lines::close() {
  const Bracket last = open.back();
  if ((last.c == '[') != (line[i] == ']')) {
    fail(place(i), std::string("this ") + line[i] + " does not close the " +
                       last.c + " of line " + std::to_string(last.at.line) +
                       ", column " + std::to_string(last.at.column) +
                       "; write " + (last.c == '[' ? "]" : "}"));
    return Next::Never;
  }
  ++i;
  open.pop_back();
  if (!open.empty())
    open.back().entry = Entry::Ends;
  return Next::Here;
}

Lines::Next Lines::plainBetweenBrackets() {
  Bracket &in = open.back();
  const std::size_t begin = i;
  auto ends = [&](std::size_t at) {
    constexpr std::string_view marks = ",[]{}";
    if (at >= line.size() || marks.find(line[at]) != std::string_view::npos)
      return true;
    if (line[at] == '#')
      return at > 0 && blank(at - 1);
    return line[at] == ':' && (blank(at + 1) || marks.find(line[at + 1]) !=
                                                    std::string_view::npos);
  };
  while (!ends(i))
    ++i;
  const std::string_view words = trimmed(line.substr(begin, i - begin));
  const std::size_t space = words.find_first_of(" \t");
  const bool isKey = here() == ':';
  if (in.entry == Entry::Ends) {
    missingComma(begin);
  } else if (in.entry == Entry::NeedsValue) {
    if (const std::size_t mark = words.find(';');
        mark != std::string_view::npos)
      fail(place(begin + mark), "entries are separated by commas; write , for "
                                "this ;");
    else if (isKey && space != std::string_view::npos)
      missingComma(begin + words.find_last_of(" \t") + 1);
    else if (isKey)
      return Next::Never;
  } else if (in.c == '{' && isKey) {
    key(words, begin);
  } else if (in.c == '{' &&
             (space != std::string_view::npos ||
              words.find_first_of(":=") != std::string_view::npos)) {
    withoutValue(words, begin);
  }
  // Behind a comma that is missing the entry is a new one.
  in.entry = Entry::Ends;
  return Next::Here;
}

/// One token between brackets.
Lines::Next Lines::bracket() {
  const char c = line[i];
  Bracket &in = open.back();
  if (c == ']' || c == '}')
    return close();
  if (c == ',') {
    in.entry = Entry::Begins;
    ++i;
    return Next::Here;
  }
  if (c == ':' && (blank(i + 1) || in.entry == Entry::Ends)) {
    in.entry = Entry::NeedsValue;
    ++i;
    return Next::Here;
  }
  if (isForeign(c) || (c == '?' && blank(i + 1)))
    return Next::Never;
  if (c != '[' && c != '{' && c != '"' && c != '\'')
    return plainBetweenBrackets();
  if (in.entry == Entry::Ends)
    missingComma(i);
  in.entry = Entry::Ends;
  if (c == '[' || c == '{') {
    open.push_back({c, place(i++), Entry::Begins});
    return Next::Here;
  }
  return quoted() ? Next::Here : Next::Never;
}

/// The line from a place between brackets on, to behind the last of them.
Lines::Next Lines::bracketed() {
  while (!open.empty()) {
    if (atEnd())
      return Next::Line;
    if (Next next = bracket(); next != Next::Here)
      return next;
  }
  return afterValue();
}

//===----------------------------------------------------------------------===//
// Block lines
//===----------------------------------------------------------------------===//

/// What follows a string or brackets in its line.
Lines::Next Lines::afterValue() {
  if (atEnd())
    return Next::Line;
  if (here() == ':' && blank(i + 1))
    return Next::Here;
  if (here() == ']' || here() == '}')
    fail(place(i), std::string("this ") + here() + " closes nothing");
  else
    fail(place(i), "the value ends before this; is a quote missing, or one too "
                   "many?");
  return Next::Line;
}

/// A value, or what may turn out a key: Here is behind it, at its colon.
Lines::Next Lines::value(bool isKeys) {
  const char c = line[i];
  if (isForeign(c) || (c == '?' && blank(i + 1)))
    return Next::Never;
  if (c == '"' || c == '\'')
    return quoted() ? afterValue() : Next::Line;
  if (c == '[' || c == '{') {
    open.push_back({c, place(i++), Entry::Begins});
    return bracketed();
  }
  if (c == ']' || c == '}') {
    fail(place(i), std::string("this ") + c + " closes nothing");
    return Next::Line;
  }
  // A word, to its colon where it may be a key.
  auto ends = [&] {
    return (line[i] == '#' && blank(i - 1)) ||
           (isKeys && line[i] == ':' && blank(i + 1));
  };
  while (i < line.size() && !ends())
    ++i;
  return here() == ':' ? Next::Here : Next::Line;
}

Lines::Next Lines::block() {
  if (line.starts_with("---") || line.starts_with("...") || line[0] == '%')
    return Next::Never;
  // A value may stand alone in the line below its key or dash.
  bool mayBeValue = !complete && number > 1;
  const std::string_view indent = line.substr(0, i);
  // JSON may begin behind any blanks.
  const bool json = !begun && (here() == '{' || here() == '[');
  begun = true;
  if (const std::size_t tab = indent.find('\t'); tab < indent.size() && !json)
    fail(place(tab), "a tab indents this line; YAML indents by spaces alone");
  least = 0;
  while (here() == '-' && blank(i + 1)) {
    least = ++i;
    mayBeValue = true;
    if (atEnd()) {
      column = i;
      complete = false;
      return Next::Line;
    }
  }
  if (here() == '-' &&
      std::string_view("{[\"'").find(here(1)) != std::string_view::npos) {
    fail(place(i++), "this dash has no space behind it; an item of a list is "
                     "written - item");
    least = i;
  }
  const std::size_t begin = i;
  const bool tabbed = indent.find('\t') != std::string_view::npos;
  const bool deeper = !tabbed && complete && indent.size() > column;
  if (deeper)
    fail(place(begin), "this line begins deeper than the one above, which has "
                       "its value already; begin it in column " +
                           std::to_string(column + 1));
  // A tab's width is anyone's.
  column = tabbed ? column : begin;
  complete = !tabbed;
  Next next = value(/*isKeys=*/true);
  const std::string_view words = trimmed(line.substr(begin, i - begin));
  const bool plain =
      std::string_view("\"'[{]}").find(line[begin]) == std::string_view::npos;
  if (next != Next::Here) {
    if (next == Next::Line && plain && !deeper) {
      if (mayBeValue)
        key(words, begin); // No value of a spec has a colon or = in it.
      else
        withoutValue(words, begin);
    }
    return next;
  }
  if (plain)
    key(words, begin);
  ++i;
  least = begin + 1;
  if (atEnd()) {
    complete = false;
    return Next::Line;
  }
  next = value(/*isKeys=*/false);
  return next == Next::Here ? Next::Never : next;
}

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

bool Lines::run() {
  // A file of another kind has slips in every line.
  constexpr std::size_t most = 20;
  std::string stays = "is never closed";
  Next next = Next::Line;
  for (std::string_view rest = text;
       !rest.empty() && next != Next::Never && found.size() < most;) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    ++number;
    i = 0;
    if (atEnd())
      continue;
    if (!open.empty() && i < least && isBlockLine()) {
      stays = "is not closed before line " + std::to_string(number);
      break;
    }
    next = open.empty() ? block() : bracketed();
  }
  if (!open.empty() && next != Next::Never && found.size() < most) {
    // What is odd behind an open bracket comes of it.
    const Bracket last = open.back();
    std::erase_if(found, [&](const Diagnostic &slip) {
      return std::pair(slip.at.line, slip.at.column) >
             std::pair(last.at.line, last.at.column);
    });
    fail(last.at, std::string("this ") + last.c + " " + stays + "; write " +
                      (last.c == '[' ? "]" : "}"));
  }
  for (Diagnostic &slip : found)
    diags.error(slip.at, std::move(slip.message));
  return found.empty();
}

bool kvc::spec::checkLines(std::string_view text, Diagnostics &diags) {
  return Lines(text, diags).run();
}
