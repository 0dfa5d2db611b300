//===- Schema.cpp - kvc schema --------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parser's table of keys as JSON Schema: what editors check and complete a
// spec by. It says what each key may be, not what keys say together.
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Commands.h"
#include "compiler/files/OutputFile.h"
#include "compiler/harness/Files.h"
#include "compiler/spec/Keys.h"
#include "llvm/Support/JSON.h"

#include <cmath>
#include <optional>

using namespace llvm;
using namespace kvc::spec;

namespace kvc::driver {

static StringRef text(std::string_view words) {
  return StringRef(words.data(), words.size());
}

static SmallVector<StringRef> split(std::string_view words) {
  SmallVector<StringRef> result;
  text(words).split(result, ' ', -1, /*KeepEmpty=*/false);
  return result;
}

/// Whole numbers without a point.
static json::Value number(double value) {
  if (value == std::trunc(value) && std::abs(value) < 0x1p53)
    return static_cast<int64_t>(value);
  return value;
}

/// What a map of this section is called among the schema's definitions.
static StringRef definitionOf(Section section) {
  switch (section) {
  case Section::Root:
    return "";
  case Section::Model:
    return "model";
  case Section::Cache:
    return "cache";
  case Section::Layer:
    return "layer";
  case Section::Precision:
    return "precision";
  case Section::Rope:
    return "rope";
  case Section::Scaling:
    return "scaling";
  case Section::Alibi:
    return "alibi";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static json::Array wordsOf(const Key &key) {
  json::Array words;
  for (StringRef word : split(key.words))
    words.push_back(word);
  return words;
}

static json::Array valuesOf(const Key &key, unsigned forms);

/// One of `forms` alone.
static json::Object valueOf(const Key &key, unsigned form) {
  switch (form) {
  case form::Integer:
    return json::Object{{"type", "integer"},
                        {"minimum", number(key.min)},
                        {"maximum", number(key.max)}};
  case form::Number: {
    json::Object value{{"type", "number"},
                       {"minimum", number(key.min)},
                       {"maximum", number(key.max)}};
    if (key.min < 0 && key.tiny > 0)
      value["not"] = json::Object{{"exclusiveMinimum", -key.tiny},
                                  {"exclusiveMaximum", key.tiny}};
    return value;
  }
  case form::Boolean:
    return json::Object{{"type", "boolean"}};
  case form::Word:
    return json::Object{{"enum", wordsOf(key)}};
  case form::Choice: {
    json::Array choices;
    for (StringRef word : split(key.words)) {
      int64_t choice = 0;
      word.getAsInteger(10, choice);
      choices.push_back(choice);
    }
    return json::Object{{"enum", std::move(choices)}};
  }
  case form::Identifier:
    return json::Object{{"type", "string"},
                        {"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"},
                        {"maxLength", number(key.max)}};
  case form::Range:
    return json::Object{{"type", "string"},
                        {"pattern", "^(0|[1-9][0-9]*)\\.\\.(0|[1-9][0-9]*)$"}};
  case form::List: {
    json::Array items = valuesOf(key, key.items);
    json::Object item = items.size() == 1
                            ? std::move(*items.front().getAsObject())
                            : json::Object{{"anyOf", std::move(items)}};
    const bool ofMaps = key.items == form::Map;
    return json::Object{{"type", "array"},
                        {"minItems", ofMaps ? 0 : 1},
                        {"maxItems", number(ofMaps ? key.max : maxItems)},
                        {"items", std::move(item)}};
  }
  case form::Map:
    return json::Object{{"$ref", ("#/$defs/" + definitionOf(key.map)).str()}};
  }
  return {};
}

static json::Array valuesOf(const Key &key, unsigned forms) {
  json::Array values;
  for (unsigned form = form::Integer; form <= form::Map; form *= 2)
    if (forms & form)
      values.push_back(valueOf(key, form));
  return values;
}

/// The default as a value, where it is one and no words about other keys.
static std::optional<json::Value> defaultOf(const Key &key) {
  StringRef fallback = text(key.fallback);
  int64_t integer = 0;
  if ((key.forms & form::Word) && is_contained(split(key.words), fallback))
    return json::Value(fallback);
  if ((key.forms & form::Boolean) &&
      (fallback == "true" || fallback == "false"))
    return json::Value(fallback == "true");
  if ((key.forms & (form::Integer | form::Number)) &&
      !fallback.getAsInteger(10, integer))
    return json::Value(integer);
  return std::nullopt;
}

static json::Object property(const Key &key) {
  json::Array values = valuesOf(key, key.forms);
  json::Object property = values.size() == 1
                              ? std::move(*values.front().getAsObject())
                              : json::Object{{"anyOf", std::move(values)}};
  std::string description = text(key.doc).str();
  if (auto value = defaultOf(key))
    property["default"] = std::move(*value);
  else if (!key.fallback.empty())
    description += "; default: " + text(key.fallback).str();
  property["description"] = std::move(description);
  if (!key.example.empty())
    property["$comment"] = ("such as " + text(key.example)).str();
  return property;
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// Keys that some scaling types alone take: what `type` allows and needs.
static json::Array conditions(Section section) {
  const Key &type = keyOf(KeyId::ScalingType);
  json::Array result;
  if (section != type.section)
    return result;
  for (StringRef word : split(type.words)) {
    json::Object refused;
    json::Array required;
    for (const Key *key : keysIn(section)) {
      if (key->with.empty())
        continue;
      if (!is_contained(split(key->with), word))
        refused[text(key->name)] = false;
      else if (key->required)
        required.push_back(text(key->name));
    }
    json::Object is{{text(type.name), json::Object{{"const", word}}}};
    result.push_back(json::Object{
        {"if", json::Object{{"properties", std::move(is)},
                            {"required", json::Array{text(type.name)}}}},
        {"then", json::Object{{"properties", std::move(refused)},
                              {"required", std::move(required)}}}});
  }
  return result;
}

/// The members of a map's schema.
static void writeMap(json::OStream &os, Section section) {
  os.attribute("type", "object");
  os.attribute("additionalProperties", false);
  json::Array required;
  os.attributeObject("properties", [&] {
    for (const Key *key : keysIn(section)) {
      os.attribute(text(key->name), property(*key));
      // A key that each layer may have for itself may be in `layers` alone.
      if (key->required && !perLayer(*key) && key->with.empty())
        required.push_back(text(key->name));
    }
  });
  if (!required.empty())
    os.attribute("required", std::move(required));
  if (json::Array rules = conditions(section); !rules.empty())
    os.attribute("allOf", std::move(rules));
}

static void printSchema(raw_ostream &stream) {
  json::OStream os(stream, /*IndentSize=*/2);
  os.object([&] {
    os.attribute("$schema", "https://json-schema.org/draft/2020-12/schema");
    // Tells the schema from others wherever it lies; its version is a spec's.
    os.attribute("$id", "urn:kvc:spec:" + text(keyOf(KeyId::Kvc).words).str());
    os.attribute("title", "a spec of kvc");
    os.attribute("description",
                 "What each key may be; kvc check says too what is wrong with "
                 "keys together.");
    writeMap(os, Section::Root);
    os.attributeObject("$defs", [&] {
      for (Section section :
           {Section::Model, Section::Cache, Section::Layer, Section::Precision,
            Section::Rope, Section::Scaling, Section::Alibi})
        os.attributeObject(definitionOf(section),
                           [&] { writeMap(os, section); });
    });
  });
  stream << "\n";
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static ExitCode runSchema(const Arguments &arguments) {
  if (!arguments.operands().empty())
    return fail(
        harness::userError("kvc schema takes no file; see kvc schema --help"));
  if (Error error = writeWhole(arguments.get("-o", "-"), printSchema))
    return fail(std::move(error));
  return Good;
}

static const Flag schemaFlags[] = {
    {"-o", "FILE", "where to; - is standard output", "-"},
};

const Command schemaCommand = {
    "schema",
    "[-o FILE]",
    "print the JSON Schema of a spec, for editors",
    "Draft 2020-12. For a language server of YAML, in a spec's first line:\n"
    "  # yaml-language-server: $schema=spec.schema.json\n"
    "It is installed as share/kvc/spec.schema.json.\n",
    schemaFlags,
    runSchema,
    "kvc schema -o kvc.schema.json"};

} // namespace kvc::driver
