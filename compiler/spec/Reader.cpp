//===- Reader.cpp - a document read by the key table ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Setting.h"
#include "compiler/spec/Text.h"
#include "compiler/spec/Values.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
// Maps and lists
//===----------------------------------------------------------------------===//

namespace {
class Reader {
public:
  explicit Reader(Diagnostics &diags) : diags(diags) {}

  /// The whole document.
  void read(Setting &setting, const Node &root);

private:
  Setting read(const Key &key, Location keyAt, const Node &value,
               unsigned forms);
  void readMap(Setting &setting, Section section, const std::string &where,
               const Node &node);
  bool readList(Setting &setting, const Node &value);
  void addElsewhere(Setting &root) const;
  /// Says which required keys the maps in a setting lack; false where one does.
  bool require(Setting &setting, Section section, const std::string &where);

  Diagnostics &diags;
  /// Keys that were meant, where another section's keys are written.
  std::vector<std::pair<const Key *, Location>> elsewhere;
};

/// What to say of a key that a section does not have.
struct Unknown {
  std::string message;
  const Key *meant = nullptr; ///< where that is known
};
} // namespace

/// What a map is called in a message: a precision by the plane it is of.
static std::string placeName(const Key &key) {
  return std::string(key.map == Section::Precision ? key.name
                                                   : sectionName(key.map));
}

static std::string belongs(const Key &key) {
  return "it belongs " + (key.section == Section::Root
                              ? std::string("at the top level")
                              : "in " + std::string(sectionName(key.section)));
}

/// Whether a value has a form that the key takes.
static bool fits(const Key &key, const Node &value) {
  Setting setting;
  setting.key = &key;
  setting.text = value.text;
  return value.kind == Node::Kind::Map    ? key.forms & Map
         : value.kind == Node::Kind::List ? key.forms & List
                                          : readScalar(setting, key.forms);
}

/// The key of this name anywhere; of two, the one that the value is for.
static const Key *anyKey(std::string_view name, const Node &value) {
  const Key *found = nullptr;
  for (const Key &key : keyTable())
    if (key.name == name && (!found || fits(key, value)))
      found = &key;
  return found;
}

static Unknown unknownKey(Section section, const std::string &where,
                          const std::string &name, const Node &value) {
  if (const OtherName other = otherKey(name); !other.text.empty())
    return {brief(name) + " " + other.text, other.key};
  const std::string what =
      "unknown key " + (name.empty() ? "\"\"" : brief(name)) + " in " + where;
  std::vector<std::string_view> names, all;
  for (const Key *key : keysIn(section))
    names.push_back(key->name);
  if (std::string_view near = nearest(name, names); !near.empty())
    return {what + "; did you mean " + std::string(near) + "?",
            findKey(section, near)};
  for (const Key &key : keyTable())
    all.push_back(key.name);
  const std::string_view near = nearest(name, all);
  const Key *key = near.empty() ? nullptr : anyKey(near, value);
  if (key && near == name && section == Section::Layer &&
      key->layering == Layering::Spec)
    return {what + ": it is the same for all layers; write it in " +
                std::string(sectionName(key->section)),
            key};
  if (key)
    return {what + "; " +
                (near == name ? std::string()
                              : "did you mean " + std::string(near) + "? ") +
                belongs(*key),
            key};
  return {what + "; its keys are " +
          join(std::vector<std::string>(names.begin(), names.end()), "and")};
}

/// A key that was meant and is not right, about which all is said.
static Setting wrong(const Key &key, Location at) {
  Setting setting;
  setting.key = &key;
  setting.keyAt = setting.at = at;
  return setting;
}

void Reader::readMap(Setting &setting, Section section,
                     const std::string &where, const Node &node) {
  std::map<std::string, Location> seen;
  std::vector<Setting> guesses;
  setting.form = Map;
  setting.valid = true;
  auto fail = [&](Location at, std::string message) {
    diags.error(at, std::move(message));
    setting.valid = false;
  };
  setting.items.reserve(node.items.size() / 2);
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
    if (const Key *key = findKey(section, name.text)) {
      setting.items.push_back(
          read(*key, name.at, node.items[i + 1], key->forms));
      setting.valid &= setting.items.back().valid;
      continue;
    }
    const Unknown unknown =
        unknownKey(section, where, name.text, node.items[i + 1]);
    fail(name.at, unknown.message);
    if (!unknown.meant)
      setting.unknown = true;
    else if (findKey(section, unknown.meant->name) == unknown.meant)
      guesses.push_back(wrong(*unknown.meant, name.at));
    else
      elsewhere.emplace_back(unknown.meant, name.at);
  }
  for (Setting &guess : guesses)
    if (!setting.find(guess.key->id))
      setting.items.push_back(std::move(guess));
}

/// Puts keys of model and cache that are written elsewhere where they belong.
void Reader::addElsewhere(Setting &root) const {
  auto add = [](Setting &map, const Key &key, Location at) {
    if (map.form == Map && !map.find(key.id))
      map.items.push_back(wrong(key, at));
  };
  for (const auto &[key, at] : elsewhere) {
    if (key->section == Section::Root)
      add(root, *key, at);
    if (key->section != Section::Model && key->section != Section::Cache)
      continue;
    const KeyId home =
        key->section == Section::Model ? KeyId::Model : KeyId::Cache;
    add(root, keyOf(home), at);
    for (Setting &map : root.items)
      if (map.key->id == home)
        add(map, *key, at);
  }
}

bool Reader::require(Setting &setting, Section section,
                     const std::string &where) {
  bool valid = true;
  for (Setting &item : setting.items) {
    if (item.form == Map)
      item.valid &= require(item, item.key->map, placeName(*item.key));
    else if (item.form == List)
      item.valid &= require(item, section, where);
    valid &= item.valid;
  }
  // Another method may need nothing of what these do.
  const Setting *method = setting.find(KeyId::ScalingType);
  if (setting.form != Map || (method && !method->valid))
    return valid;
  for (const Key *key : keysIn(section)) {
    // What a layer may have of its own is required of each layer, later; what
    // a scaling type needs is known once its type is.
    if (!key->required || perLayer(*key) || !key->with.empty() ||
        setting.find(key->id))
      continue;
    valid = false;
    if (std::ranges::none_of(elsewhere, [&](const auto &written) {
          return written.first == key;
        }))
      diags.error(setting.keyAt,
                  where + " lacks the key " + std::string(key->name) + ", " +
                      std::string(key->doc) + "; write " +
                      std::string(key->name) + ": " + expected(*key));
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
    setting.text = "a map";
    readMap(setting, key.map, placeName(key), value);
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
    diags.error(setting.at, refusal(setting, value, forms));
  // The number of layers is written in model.
  if (!setting.valid && key.id == KeyId::Layers && (forms & List) &&
      parseInteger(value.text))
    elsewhere.emplace_back(&keyOf(KeyId::ModelLayers), setting.at);
  return setting;
}

/// Whether the document is of this version: of another one nothing can be said
/// but that.
static bool isThisVersion(const Node &root, Diagnostics &diags) {
  const Key &key = keyOf(KeyId::Kvc);
  for (std::size_t i = 0; i + 1 < root.items.size(); i += 2) {
    const Node &value = root.items[i + 1];
    if (root.items[i].text != key.name || value.quoted ||
        !parseInteger(value.text) || contains(key.words, value.text))
      continue;
    Setting setting = wrong(key, root.items[i].at);
    setting.text = value.text;
    diags.error(value.at, refusal(setting, value, key.forms));
    return false;
  }
  return true;
}

void Reader::read(Setting &setting, const Node &root) {
  readMap(setting, Section::Root, "the spec", root);
  addElsewhere(setting);
  setting.valid &= require(setting, Section::Root, "the spec");
}

Setting kvc::spec::readSettings(const Node &root, Diagnostics &diags) {
  Setting setting;
  setting.keyAt = setting.at = root.at;
  if (root.kind != Node::Kind::Map) {
    diags.error(root.at, "the spec is " + shown(root) +
                             "; it is a map that begins with kvc: 1");
    return setting;
  }
  if (isThisVersion(root, diags))
    Reader(diags).read(setting, root);
  return setting;
}
