//===- Reader.cpp - a document read by the key table ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Setting.h"
#include "compiler/spec/Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>

using namespace kvc::spec;
using namespace kvc::spec::form;

const Setting *Setting::find(KeyId id) const {
  for (const Setting &item : items)
    if (item.key && item.key->id == id)
      return &item;
  return nullptr;
}

const Setting *Setting::get(KeyId id) const {
  const Setting *item = find(id);
  return item && item->valid ? item : nullptr;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// A decimal whole number; digits that no int64 holds are clamped, as every
/// range ends far below.
static std::optional<int64_t> parseInteger(std::string_view text) {
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
static std::optional<double> parseNumber(std::string_view text) {
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

/// Reads a plain scalar as one of `forms`; false where it is none of them.
static bool readScalar(Setting &setting, unsigned forms) {
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

/// The forms that are strings: what may be quoted, and has to be in JSON.
static constexpr unsigned strings = Word | Identifier | Range;

static std::string sentence(const Setting &setting, const Node &value,
                            unsigned forms) {
  const Key &key = *setting.key;
  std::string what(key.name);
  std::string wanted = forms == key.forms ? expected(key) : expectedItem(key);
  if (value.kind == Node::Kind::Null)
    return what + " has no value; write " + wanted;
  if (value.kind == Node::Kind::Scalar) {
    if (std::string_view why = plannedFeature(value.text); !why.empty())
      return (key.id == KeyId::ScalingType ? "scaling type " : what + ": ") +
             brief(value.text) + " is not generated yet: " + std::string(why);
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

//===----------------------------------------------------------------------===//
// Maps and lists
//===----------------------------------------------------------------------===//

namespace {
class Reader {
public:
  explicit Reader(Diagnostics &diags) : diags(diags) {}

  /// Reads a map's keys into `items`; false where one of them is wrong.
  bool readMap(std::vector<Setting> &items, Section section,
               const std::string &where, const Node &node);
  /// Says which required keys a map lacks.
  bool require(const std::vector<Setting> &items, Section section,
               const std::string &where, Location at);

private:
  Setting read(const Key &key, Location keyAt, const Node &value,
               unsigned forms);
  bool readList(Setting &setting, const Node &value);
  std::string unknown(Section section, const std::string &where,
                      const std::string &name);

  Diagnostics &diags;
};
} // namespace

/// What a map is called in a message: a precision by the plane it is of.
static std::string placeName(const Key &key) {
  return std::string(key.map == Section::Precision ? key.name
                                                   : sectionName(key.map));
}

std::string Reader::unknown(Section section, const std::string &where,
                            const std::string &name) {
  if (std::string_view why = plannedFeature(name); !why.empty())
    return brief(name) + " is not generated yet: " + std::string(why);
  std::string what =
      "unknown key " + (name.empty() ? "\"\"" : brief(name)) + " in " + where;
  std::vector<std::string_view> names;
  for (const Key *key : keysIn(section))
    names.push_back(key->name);
  if (std::string_view near = nearest(name, names); !near.empty())
    return what + "; did you mean " + std::string(near) + "?";
  for (const Key &key : keyTable())
    if (key.name == name && key.section != section) {
      if (section == Section::Layer && key.layering == Layering::Spec)
        return what + ": it is the same for all layers; write it in " +
               std::string(sectionName(key.section));
      return what + "; it belongs " +
             (key.section == Section::Root
                  ? "at the top level"
                  : "in " + std::string(sectionName(key.section)));
    }
  return what + "; its keys are " +
         join(std::vector<std::string>(names.begin(), names.end()), "and");
}

bool Reader::readMap(std::vector<Setting> &items, Section section,
                     const std::string &where, const Node &node) {
  std::map<std::string, Location> seen;
  bool valid = true;
  auto fail = [&](Location at, std::string message) {
    diags.error(at, std::move(message));
    valid = false;
  };
  items.reserve(node.items.size() / 2);
  for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
    const Node &name = node.items[i];
    if (name.kind != Node::Kind::Scalar) {
      fail(name.at, "a key is " + shown(name) + "; keys are plain words");
      continue;
    }
    auto [first, fresh] = seen.emplace(name.text, name.at);
    if (!fresh) {
      fail(name.at, "key " + brief(name.text) +
                        " is written twice; it was "
                        "first written in line " +
                        std::to_string(first->second.line));
      continue;
    }
    const Key *key = findKey(section, name.text);
    if (!key) {
      fail(name.at, unknown(section, where, name.text));
      continue;
    }
    items.push_back(read(*key, name.at, node.items[i + 1], key->forms));
    valid &= items.back().valid;
  }
  return valid;
}

bool Reader::require(const std::vector<Setting> &items, Section section,
                     const std::string &where, Location at) {
  bool valid = true;
  for (const Key *key : keysIn(section)) {
    // What a layer may have of its own is required of each layer, later.
    if (!key->required || perLayer(*key))
      continue;
    bool found = false;
    for (const Setting &item : items)
      found |= item.key == key;
    // What a scaling type needs is known once its type is.
    if (found || !key->with.empty())
      continue;
    diags.error(at, where + " lacks the key " + std::string(key->name) + ", " +
                        std::string(key->doc) + "; write " +
                        std::string(key->name) + ": " + expected(*key));
    valid = false;
  }
  return valid;
}

bool Reader::readList(Setting &setting, const Node &value) {
  const Key &key = *setting.key;
  bool valid = true;
  double most = key.items == Map ? key.max : maxItems;
  if (double(value.items.size()) > most) {
    diags.error(value.at, std::string(key.name) + " has " +
                              std::to_string(value.items.size()) +
                              " items; the most is " + numberText(most));
    return false;
  }
  if (value.items.empty() && key.items != Map) {
    diags.error(value.at, std::string(key.name) + " is an empty list; write " +
                              expected(key));
    return false;
  }
  setting.items.reserve(value.items.size());
  for (const Node &item : value.items) {
    setting.items.push_back(read(key, item.at, item, key.items));
    valid &= setting.items.back().valid;
  }
  return valid;
}

Setting Reader::read(const Key &key, Location keyAt, const Node &value,
                     unsigned forms) {
  Setting setting;
  setting.key = &key;
  setting.keyAt = keyAt;
  setting.at = value.kind == Node::Kind::Null ? keyAt : value.at;
  if (value.kind == Node::Kind::Map && (forms & Map)) {
    setting.form = Map;
    setting.text = "a map";
    setting.valid = readMap(setting.items, key.map, placeName(key), value);
    setting.valid &= require(setting.items, key.map, placeName(key), keyAt);
    return setting;
  }
  if (value.kind == Node::Kind::List && (forms & List)) {
    setting.form = List;
    setting.text = "a list";
    setting.valid = readList(setting, value);
    return setting;
  }
  setting.text = value.text;
  setting.valid = value.kind == Node::Kind::Scalar &&
                  readScalar(setting, value.quoted ? forms & strings : forms);
  if (!setting.valid)
    diags.error(setting.at, sentence(setting, value, forms));
  return setting;
}

Setting kvc::spec::readSettings(const Node &root, Diagnostics &diags) {
  Setting setting;
  setting.at = root.at;
  if (root.kind != Node::Kind::Map) {
    diags.error(root.at, "the spec is " + shown(root) +
                             "; it is a map that begins with kvc: 1");
    return setting;
  }
  setting.form = Map;
  Reader reader(diags);
  setting.valid =
      reader.readMap(setting.items, Section::Root, "the spec", root);
  setting.valid &=
      reader.require(setting.items, Section::Root, "the spec", root.at);
  return setting;
}
