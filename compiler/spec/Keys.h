//===- Keys.h - the table of all keys of a spec -----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every key of the schema is one row here: where it stands, what forms its
// value takes, its range and default, whether a layer may have its own and
// whether a reader inherits it, and what of it kvc generates so far. The
// parser, its messages, the JSON Schema and docs/spec.md follow this table.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_SPEC_KEYS_H
#define KVC_COMPILER_SPEC_KEYS_H

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvc::spec {

/// A map of the schema. `Layer` is an entry of `layers`: it takes, besides its
/// own keys, every key of Model and Cache that may differ between layers.
enum class Section {
  Root,
  Model,
  Cache,
  Layer,
  Precision,
  Rope,
  Scaling,
  Alibi
};

/// The keys, in the order of the table.
enum class KeyId {
  Kvc,
  Name,
  Model,
  Cache,
  Layers,
  ModelLayers,
  Heads,
  KvHeads,
  HeadDim,
  ValueDim,
  Io,
  Scale,
  Softcap,
  LearnedSinks,
  Alibi,
  Rope,
  Keys,
  Values,
  ResidualType,
  Sink,
  SinkType,
  Window,
  Context,
  Positions,
  Rollback,
  Arithmetic,
  At,
  Share,
  Bits,
  Per,
  Group,
  Residual,
  Flush,
  Scales,
  Theta,
  Dims,
  Pairing,
  Scaling,
  ScalingType,
  Factor,
  Low,
  High,
  OriginalContext,
  BetaFast,
  BetaSlow,
  AttentionFactor,
  Truncate,
  Slopes,
};
inline constexpr std::size_t numKeys =
    static_cast<std::size_t>(KeyId::Slopes) + 1;

/// What a value may look like; a key's forms are a set of these.
namespace form {
enum : unsigned {
  Integer = 1,     ///< a whole number in [min, max]
  Number = 2,      ///< a finite number in [min, max], |x| ≥ tiny
  Boolean = 4,     ///< true or false
  Word = 8,        ///< one of `words`
  Choice = 16,     ///< a whole number that is one of `words`
  Identifier = 32, ///< a C identifier
  Range = 64,      ///< first..last, whole numbers, inclusive
  List = 128,      ///< of `items`
  Map = 256,       ///< with the keys of `map`
};
} // namespace form

/// Who has a value of their own.
enum class Layering {
  Spec,      ///< one for the whole spec
  Own,       ///< a layer may override it; a reader has its own
  Inherited, ///< a layer may override it; a reader has its owner's
  Part,      ///< part of another key's value, which is replaced as a whole
};

/// Items of a list of scalars: as many slopes as a layer may have heads.
inline constexpr double maxItems = 65536;

struct Key {
  KeyId id;
  Section section;
  std::string_view name;
  unsigned forms = 0;
  std::string_view words = {}; ///< of Word and Choice, separated by spaces
  Section map = Section::Root; ///< of Map, and of a List of maps
  unsigned items = 0;          ///< forms of a List's items
  double min = 0, max = 0;     ///< of Integer, Number and Range, inclusive
  double tiny = 0;             ///< smallest magnitude of Number
  bool required = false;
  std::string_view fallback =
      {}; ///< the default, in words; empty: there is none
  Layering layering = Layering::Part;
  std::string_view with = {}; ///< scaling types that take this key; empty: all
  std::string_view example = {}; ///< a value, where a form alone would not help
  std::string_view doc = {};     ///< one line
};

/// All rows; the row of KeyId k is at index k.
std::span<const Key> keyTable();

const Key &keyOf(KeyId id);

/// Whether a layer may have its own value.
inline bool perLayer(const Key &key) {
  return key.layering == Layering::Own || key.layering == Layering::Inherited;
}

/// The keys that a map of this section takes.
std::vector<const Key *> keysIn(Section section);

/// The key of this name in this section, or null.
const Key *findKey(Section section, std::string_view name);

/// What a section is called in a message: "cache", "an entry of layers".
std::string_view sectionName(Section section);

/// What a value of this key should be: "a whole number from 1 to 65536".
std::string expected(const Key &key);
std::string expectedItem(const Key &key);

/// A name that model configs or other engines have for something.
struct OtherName {
  std::string text;         ///< goes on from the name; empty: it is none
  const Key *key = nullptr; ///< what a spec has in its place
};
OtherName otherKey(std::string_view name);
OtherName otherValue(KeyId key, std::string_view word);

} // namespace kvc::spec

#endif // KVC_COMPILER_SPEC_KEYS_H
