//===- Setting.h - what a spec writes, checked by the key table -*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tree of written keys and values. Form, range and names are right in what
// is `valid`; how keys go together is checked later. A key that was meant, but
// was written by another name or in another place, is there and not valid, so
// that nothing else is said of it.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_SPEC_SETTING_H
#define KVC_COMPILER_SPEC_SETTING_H

#include "compiler/spec/Document.h"
#include "compiler/spec/Keys.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kvc::spec {

struct Setting {
  const Key *key = nullptr;
  Location keyAt, at; ///< of the key and of its value
  bool valid = false;
  unsigned form = 0; ///< the form that the value has
  std::string text; ///< as written, for messages; a word's or identifier's text
  int64_t integer = 0, last = 0; ///< Integer, Choice; first and last of a Range
  double number = 0;             ///< Number, and Integer too
  bool boolean = false;
  bool unknown = false; ///< a map with a key that is none, meant for anything
  std::vector<Setting> items; ///< of a List, or the settings of a Map

  /// The setting of this key in a map, or null.
  const Setting *find(KeyId id) const;

  /// Like find, but null too where its value is not valid.
  const Setting *get(KeyId id) const;

  bool isWord(std::string_view word) const {
    return form == form::Word && text == word;
  }
};

/// Reads a whole document by the key table.
Setting readSettings(const Node &root, Diagnostics &diags);

/// Checks how the parts of a written value go together (precision, rope), in
/// the whole tree; what is wrong becomes invalid.
void checkParts(Setting &root, Diagnostics &diags);

} // namespace kvc::spec

#endif // KVC_COMPILER_SPEC_SETTING_H
