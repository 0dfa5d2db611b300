//===- Keys.cpp - questions to the table of keys ----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Keys.h"

#include "compiler/spec/Text.h"

using namespace kvc::spec;
using namespace kvc::spec::form;

const Key &kvc::spec::keyOf(KeyId id) {
  return keyTable()[static_cast<std::size_t>(id)];
}

std::vector<const Key *> kvc::spec::keysIn(Section section) {
  std::vector<const Key *> result;
  for (const Key &key : keyTable())
    if (key.section == section)
      result.push_back(&key);
  if (section == Section::Layer)
    for (const Key &key : keyTable())
      if (key.section != Section::Layer && perLayer(key))
        result.push_back(&key);
  return result;
}

const Key *kvc::spec::findKey(Section section, std::string_view name) {
  for (const Key *key : keysIn(section))
    if (key->name == name)
      return key;
  return nullptr;
}

std::string_view kvc::spec::sectionName(Section section) {
  switch (section) {
  case Section::Root:
    return "the spec";
  case Section::Model:
    return "model";
  case Section::Cache:
    return "cache";
  case Section::Layer:
    return "an entry of layers";
  case Section::Precision:
    return "a precision";
  case Section::Rope:
    return "rope";
  case Section::Scaling:
    return "scaling";
  case Section::Alibi:
    return "alibi";
  }
  return {};
}

/// A bound in words: all that are not small whole numbers have an exponent.
static std::string between(double min, double max) {
  return " from " + numberText(min) + " to " + numberText(max);
}

static std::string describe(const Key &key, unsigned forms) {
  std::vector<std::string> ways;
  if (forms & Integer)
    ways.push_back("a whole number" + between(key.min, key.max));
  if (forms & Number)
    ways.push_back(
        "a number" + between(key.min, key.max) +
        (key.min < 0 && key.tiny > 0
             ? " that is at least " + numberText(key.tiny) + " away from 0"
             : ""));
  if (forms & Boolean)
    ways.emplace_back("true or false");
  if (forms & (Word | Choice))
    for (std::string_view word : split(key.words))
      ways.emplace_back(word);
  if (forms & Identifier)
    ways.push_back("a C identifier of at most " + numberText(key.max) +
                   " letters, digits and _");
  if (forms & Range)
    ways.emplace_back("a range such as 0..7");
  if (forms & List)
    ways.push_back("a list such as " +
                   (key.items & Map ? "[" + std::string(key.example) + "]"
                                    : std::string(key.example)));
  if (forms & Map)
    ways.push_back("a map such as " + std::string(key.example));
  return join(ways);
}

std::string kvc::spec::expected(const Key &key) {
  return describe(key, key.forms);
}

std::string kvc::spec::expectedItem(const Key &key) {
  return describe(key, key.items);
}
