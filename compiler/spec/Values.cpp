//===- Values.cpp - scalars of a spec, and what is wrong with one ---------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Values.h"

#include "compiler/spec/Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace kvc::spec;
using namespace kvc::spec::form;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

std::optional<int64_t> kvc::spec::parseInteger(std::string_view text) {
  std::string_view digits = text;
  bool negative = !digits.empty() && digits.front() == '-';
  if (negative)
    digits.remove_prefix(1);
  if (digits.empty() ||
      digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  // 010 is 8 to some readers of YAML and 10 to others.
  if (digits.size() > 1 && digits.front() == '0')
    return std::nullopt;
  int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec !=
      std::errc{})
    return negative ? INT64_MIN : INT64_MAX;
  return value;
}

/// Whether `text` is a decimal number as std::from_chars takes it: no sign but
/// a minus, no hexadecimal digits, no words.
static bool isDecimal(std::string_view text) {
  auto takeDigits = [&] {
    const std::size_t all =
        std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(all);
    return all;
  };
  auto take = [&](std::string_view any) {
    const bool is =
        !text.empty() && any.find(text.front()) != std::string_view::npos;
    text.remove_prefix(is);
    return is;
  };
  take("-");
  std::size_t digits = takeDigits();
  if (take("."))
    digits += takeDigits();
  if (digits == 0)
    return false;
  if (take("eE")) {
    take("+-");
    if (takeDigits() == 0)
      return false;
  }
  return text.empty();
}

// macOS has std::from_chars of floating point from version 26 on. strtod goes
// by the locale, which nobody sets here: it is C's.
std::optional<double> kvc::spec::parseNumber(std::string_view text) {
  if (!isDecimal(text))
    return std::nullopt;
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  const std::string_view digits = text.substr(0, text.find_first_of("eE"));
  const bool vanished =
      value == 0 && digits.find_first_of("123456789") != std::string_view::npos;
  if (!std::isfinite(value) || vanished)
    return std::nullopt;
  return value;
}

static bool isIdentifier(std::string_view text) {
  // Booleans to other readers of YAML, and keywords of C.
  if (text == "true" || text == "false")
    return false;
  auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (text.empty() || !letter(text.front()))
    return false;
  return std::ranges::all_of(
      text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

static bool inRange(const Key &key, double value) {
  return value >= key.min && value <= key.max;
}

bool kvc::spec::readScalar(Setting &setting, unsigned forms) {
  const Key &key = *setting.key;
  std::string_view text = setting.text;
  auto is = [&](unsigned form) {
    setting.form = form;
    return true;
  };
  if ((forms & (Word | Choice)) && contains(key.words, text)) {
    if (auto value = parseInteger(text))
      setting.integer = *value;
    return is(forms & Word ? Word : Choice);
  }
  if ((forms & Boolean) && (text == "true" || text == "false")) {
    setting.boolean = text == "true";
    return is(Boolean);
  }
  if (auto value = parseInteger(text);
      value && (forms & Integer) && inRange(key, double(*value))) {
    setting.integer = setting.last = *value;
    setting.number = double(*value);
    return is(Integer);
  }
  if (auto value = parseNumber(text); value && (forms & Number) &&
                                      inRange(key, *value) &&
                                      std::abs(*value) >= key.tiny) {
    setting.number = *value;
    return is(Number);
  }
  if (std::size_t dots = text.find("..");
      (forms & Range) && dots < text.size()) {
    auto first = parseInteger(text.substr(0, dots));
    auto last = parseInteger(text.substr(dots + 2));
    if (first && last && inRange(key, double(*first)) &&
        inRange(key, double(*last)) && *first <= *last) {
      setting.integer = *first;
      setting.last = *last;
      return is(Range);
    }
  }
  return (forms & Identifier) && isIdentifier(text) &&
         double(text.size()) <= key.max && is(Identifier);
}

//===----------------------------------------------------------------------===//
// What is wrong with a value
//===----------------------------------------------------------------------===//

/// What to add where a scalar is nearly right; empty where nothing is known.
static std::string hint(const Setting &setting, unsigned forms) {
  const Key &key = *setting.key;
  std::string_view text = setting.text;
  auto number = parseNumber(text);
  if ((forms & Integer) && number && !parseInteger(text)) {
    if (*number == std::trunc(*number) && inRange(key, *number))
      return "; as digits alone: " + numberText(*number);
    return " (not a whole number)";
  }
  if (text.find('#') != std::string_view::npos)
    return "; a comment has a space before its #";
  if (text.find("//") != std::string_view::npos)
    return "; a comment begins with #";
  if (key.id == KeyId::Layers && (forms & List) && parseInteger(text))
    return "; the number of layers is written in model";
  std::string lower;
  for (char c : text)
    lower += c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  if ((forms & (Number | Integer)) && (lower.find("inf") != std::string::npos ||
                                       lower.find("nan") != std::string::npos))
    return " (finite numbers only)";
  if ((forms & Boolean) && contains("yes on y 1", lower))
    return "; did you mean true?";
  if ((forms & Boolean) && contains("no off n 0 none", lower))
    return "; did you mean false?";
  if (std::size_t dots = text.find("..");
      (forms & Range) && dots < text.size()) {
    auto first = parseInteger(text.substr(0, dots));
    auto last = parseInteger(text.substr(dots + 2));
    if (first && last && *first > *last)
      return "; a range goes up: " + std::to_string(*last) + ".." +
             std::to_string(*first);
  }
  if (forms & Word && !number)
    if (std::string_view near = nearest(text, split(key.words)); !near.empty())
      return "; did you mean " + std::string(near) + "?";
  return {};
}

std::string kvc::spec::refusal(const Setting &setting, const Node &value,
                               unsigned forms) {
  const Key &key = *setting.key;
  std::string what(key.name);
  std::string wanted = forms == key.forms ? expected(key) : expectedItem(key);
  if (value.kind == Node::Kind::Null)
    return what + " has no value; write " + wanted;
  if (value.kind == Node::Kind::Scalar) {
    if (const OtherName other = otherValue(key.id, value.text);
        !other.text.empty())
      return (key.id == KeyId::ScalingType ? "scaling type " : what + ": ") +
             brief(value.text) + " " + other.text;
    // A string that would be right without its quotes.
    Setting plain = setting;
    if (value.quoted && readScalar(plain, forms))
      return what + " is " + shown(value) +
             "; write it without quotes: " + brief(value.text);
  }
  if (key.id == KeyId::Kvc)
    return what + " is " + shown(value) +
           ", but this compiler reads version 1 of the schema; write kvc: 1";
  return what + " is " + shown(value) + "; write " + wanted +
         (value.kind == Node::Kind::Scalar
              ? hint(setting, value.quoted ? forms & strings : forms)
              : "");
}
