//===- Text.cpp - untrusted text, shown and measured ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

using namespace kvc::spec;

static unsigned char byteAt(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

std::size_t kvc::spec::utf8Length(std::string_view text, std::size_t at) {
  unsigned char lead = byteAt(text, at);
  std::size_t length = lead < 0x80   ? 1
                       : lead < 0xC2 ? 0
                       : lead < 0xE0 ? 2
                       : lead < 0xF0 ? 3
                       : lead < 0xF5 ? 4
                                     : 0;
  if (length == 0 || at + length > text.size())
    return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byteAt(text, at + i) & 0xC0) != 0x80)
      return 0;
  if (length < 3)
    return length;
  // Overlong forms, surrogates and what lies beyond U+10FFFF.
  unsigned char second = byteAt(text, at + 1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second >= 0x90))
    return 0;
  return length;
}

std::string kvc::spec::printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = utf8Length(text, i);
    unsigned char c = byteAt(text, i);
    bool control = length == 1 ? (c < 0x20 && c != '\t') || c == 0x7F
                               : length == 2 && c == 0xC2 &&
                                     byteAt(text, i + 1) < 0xA0; // C1
    if (length == 0 || control)
      result.append(std::max<std::size_t>(length, 1), '?');
    else
      result.append(text.substr(i, length));
    i += std::max<std::size_t>(length, 1);
  }
  return result;
}

std::string kvc::spec::brief(std::string_view text) {
  constexpr std::size_t most = 60;
  std::size_t cut = std::min(most, text.size());
  while (cut < text.size() && cut > 0 && (byteAt(text, cut) & 0xC0) == 0x80)
    --cut;
  std::string result = printable(text.substr(0, cut));
  std::ranges::replace(result, '\t', ' ');
  return cut < text.size() ? result + "..." : result;
}

std::vector<std::string_view> kvc::spec::split(std::string_view words) {
  std::vector<std::string_view> result;
  while (!words.empty()) {
    std::size_t end = words.find(' ');
    if (end != 0)
      result.push_back(words.substr(0, end));
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  }
  return result;
}

bool kvc::spec::contains(std::string_view words, std::string_view word) {
  std::vector<std::string_view> all = split(words);
  return std::ranges::find(all, word) != all.end();
}

std::string kvc::spec::join(const std::vector<std::string> &items,
                            std::string_view last) {
  std::string result;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0)
      result += i + 1 == items.size() ? " " + std::string(last) + " " : ", ";
    result += items[i];
  }
  return result;
}

std::string kvc::spec::joinWords(std::string_view words,
                                 std::string_view last) {
  std::vector<std::string_view> all = split(words);
  return join(std::vector<std::string>(all.begin(), all.end()), last);
}

/// Edits that turn `a` into `b`: insert, delete, replace, swap of neighbours.
static std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(
      a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

/// Lower case, with `-` as `_`: neither is what a slip is about.
static std::string folded(std::string_view word) {
  std::string result(word);
  for (char &c : result)
    c = c == '-' ? '_' : c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return result;
}

std::string_view
kvc::spec::nearest(std::string_view word,
                   const std::vector<std::string_view> &names) {
  if (word.empty() || word.size() > 40)
    return {};
  std::string_view best;
  std::size_t bestDistance = 0;
  for (std::string_view name : names) {
    std::size_t d = distance(folded(word), name);
    // A third of the letters may be wrong; more is another word.
    if (d * 3 <= std::max(name.size(), std::size_t{3}) &&
        (best.empty() || d < bestDistance)) {
      best = name;
      bestDistance = d;
    }
  }
  return best;
}

std::string kvc::spec::numberText(double value) {
  char buffer[64];
  // Whole numbers read better without an exponent; all these are exact.
  bool whole = value == std::trunc(value) && std::abs(value) < 1e15;
  auto result = whole ? std::to_chars(buffer, buffer + sizeof buffer,
                                      static_cast<int64_t>(value))
                      : std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}
