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

namespace {
struct Planned {
  std::string_view names; ///< as users and other tools write them
  std::string_view text;
};
} // namespace

static constexpr Planned planned[] = {
    {"fp8 f8 fp8_e4m3 fp8_e5m2 f8e4m3 f8e5m2 e4m3 e5m2",
     "kvc keeps f32, f16, bf16 and codes of 8, 4 or 2 bits"},
    {"hadamard rotate_codes code_rotation quarot",
     "codes are made of the values as they are, without a Hadamard rotation"},
    {"dynamic dynamic_ntk",
     "dynamic ntk changes keys that are stored; ntk with a fixed factor does "
     "not"},
    {"longrope su", "longrope changes its frequencies at a length; scaling is "
                    "one of linear, ntk, llama3 and yarn"},
    {"mrope m_rope mrope_section mrope_interleaved position_ids",
     "a token's position is its index in the sequence, without M-RoPE or "
     "other explicit positions"},
    {"mla kv_lora_rank q_lora_rank qk_rope_head_dim qk_nope_head_dim latent",
     "MLA's latent keys and values have no kernel; every head has its own"},
    {"tree tree_mask tree_masks tree_attention mask attention_mask",
     "a token attends to all stored tokens up to itself, without tree masks"},
    {"chunked chunked_attention attention_chunk_size chunk chunk_size",
     "a layer attends to all tokens or to a window, not to chunks"},
    {"bidirectional bidirectional_spans causal prefix_lm spans",
     "attention is causal, without bidirectional spans"},
};

std::string_view kvc::spec::plannedFeature(std::string_view word) {
  std::string folded(word);
  for (char &c : folded)
    c = c == '-' || c == ' ' ? '_' : c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  for (const Planned &row : planned)
    if (contains(row.names, folded))
      return row.text;
  return {};
}
