//===- Characters.cpp - characters that no spec needs -----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Document.h"
#include "compiler/spec/Text.h"
#include "compiler/spec/TextChecks.h"

#include <algorithm>
#include <cstdio>
#include <string>

using namespace kvc::spec;

namespace {
/// Characters that word processors and keyboards give for one of ASCII.
struct Lookalike {
  char32_t first, last;
  const char *name;
  const char *plain; ///< what to write; empty: nothing
};
} // namespace

static constexpr Lookalike lookalikes[] = {
    {0x00A0, 0x00A0, "a no-break space", "a plain space"},
    {0x00AB, 0x00AB, "a quotation mark", "\""},
    {0x00AD, 0x00AD, "a soft hyphen", ""},
    {0x00BB, 0x00BB, "a quotation mark", "\""},
    {0x061C, 0x061C, "a mark of direction", ""},
    {0x1680, 0x1680, "an odd space", "a plain space"},
    {0x180E, 0x180E, "an odd space", "a plain space"},
    {0x2000, 0x200A, "an odd space", "a plain space"},
    {0x200B, 0x200D, "a character of no width", ""},
    {0x200E, 0x200F, "a mark of direction", ""},
    {0x2010, 0x2015, "a dash that is not ASCII's", "-"},
    {0x2018, 0x201B, "a curly quote", "'"},
    {0x201C, 0x201F, "a curly quote", "\""},
    {0x2024, 0x2024, "a leader dot", "."},
    {0x2025, 0x2026, "an ellipsis", ".."},
    {0x2028, 0x2029, "a line separator", "a plain line end"},
    {0x202A, 0x202E, "a mark of direction", ""},
    {0x202F, 0x202F, "a narrow no-break space", "a plain space"},
    {0x2032, 0x2032, "a prime", "'"},
    {0x2033, 0x2033, "a prime", "\""},
    {0x2039, 0x203A, "a quotation mark", "'"},
    {0x205F, 0x205F, "an odd space", "a plain space"},
    {0x2060, 0x2064, "a character of no width", ""},
    {0x2066, 0x206F, "a mark of direction", ""},
    {0x2212, 0x2212, "a minus sign that is not ASCII's", "-"},
    {0x2236, 0x2236, "a ratio sign", ":"},
    {0x3000, 0x3000, "an ideographic space", "a plain space"},
    {0x3001, 0x3001, "an ideographic comma", ","},
    {0x3002, 0x3002, "an ideographic full stop", "."},
    {0x3010, 0x3010, "a bracket that is not ASCII's", "["},
    {0x3011, 0x3011, "a bracket that is not ASCII's", "]"},
    {0xA789, 0xA789, "a colon that is not ASCII's", ":"},
    {0xFE55, 0xFE55, "a colon that is not ASCII's", ":"},
    {0xFEFF, 0xFEFF, "a byte order mark, which only begins a file", ""},
};

static char32_t decode(std::string_view character) {
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned char>(character[i]);
  };
  if (character.size() == 1)
    return byte(0);
  char32_t point = byte(0) & (0xFF >> (character.size() + 1));
  for (std::size_t i = 1; i < character.size(); ++i)
    point = point << 6 | (byte(i) & 0x3F);
  return point;
}

static std::string hex(const char *format, unsigned value) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

static std::string refusal(const char *name, char32_t point,
                           std::string_view plain) {
  return std::string("this is ") + name + " (" + hex("U+%04X", point) + "); " +
         (plain.empty() ? "leave it out" : "write " + std::string(plain));
}

/// What is wrong with a character; empty where nothing is. The next one tells
/// whether a carriage return ends a line.
static std::string wrong(std::string_view character, char next) {
  const char32_t point = decode(character);
  if (point == 0)
    return "the file holds a NUL byte; a spec is plain text";
  if (point == '\t' || point == '\n' || (point == '\r' && next == '\n'))
    return {};
  if (point < 0x20 || (point >= 0x7F && point < 0xA0))
    return "control character " + hex("0x%02X", point) +
           "; a spec is plain text";
  if (point > 0xFF00 && point <= 0xFF5E)
    return refusal("a full-width character", point,
                   std::string(1, static_cast<char>(point - 0xFEE0)));
  for (const Lookalike &row : lookalikes)
    if (point >= row.first && point <= row.last)
      return refusal(row.name, point, row.plain);
  return {};
}

bool kvc::spec::checkCharacters(std::string_view text, Diagnostics &diags) {
  // A file of another kind has them in every line.
  constexpr unsigned most = 20;
  unsigned found = 0;
  std::size_t depth = 0;
  Location at{1, 1};
  bool comment = false, told = false;
  char before = '\n';
  auto refuse = [&](std::string message) {
    diags.error(at, std::move(message));
    told = true;
    return ++found == most;
  };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::size_t length = utf8Length(text, i);
    if (length == 0) {
      diags.error(at, "byte " + hex("0x%02X", static_cast<unsigned char>(c)) +
                          " is not valid UTF-8; save as UTF-8");
      return false;
    }
    if (c == '#' && (before == ' ' || before == '\t' || before == '\n'))
      comment = true;
    // Any letters may stand in a comment, but nothing that acts on terminals.
    std::string message =
        wrong(text.substr(i, length), i + 1 < text.size() ? text[i + 1] : 0);
    const bool harmless =
        comment && length > 1 && decode(text.substr(i, length)) >= 0xA0;
    if (!message.empty() && !harmless && !told && refuse(std::move(message)))
      return false;
    // Quotes are not followed: no string of a spec has brackets.
    if (!comment && (c == '[' || c == '{') && ++depth > maxDepth) {
      refuse("nesting is deeper than " + std::to_string(maxDepth) +
             "; a spec needs 5 levels");
      return false;
    }
    if (!comment && (c == ']' || c == '}') && depth > 0)
      --depth;
    at.column += length;
    if (c == '\n') {
      ++at.line;
      at.column = 1;
      comment = told = false;
    }
    before = c;
    i += length;
  }
  return found == 0;
}
