//===- NotYet.cpp - what the schema has and kvc lacks -----------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that refuses what is not generated yet, by the `notYet` column
// of the key table: when kvc learns something, its word leaves that column.
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Setting.h"
#include "compiler/spec/Text.h"

using namespace kvc::spec;
using namespace kvc::spec::form;

static bool isNotYet(const Setting &setting) {
  std::string_view notYet = setting.key->notYet;
  switch (setting.form) {
  case Word:
  case Choice:
  case Boolean:
    return contains(notYet, setting.text);
  case Number:
    return contains(notYet, "<number>");
  case Integer:
    return contains(notYet, "<number>") ||
           (contains(notYet, "<positive>") && setting.integer > 0);
  case Map:
    return contains(notYet, "<map>");
  default:
    return false;
  }
}

void kvc::spec::refuseNotYet(const Setting &root, Diagnostics &diags) {
  for (const Setting &setting : root.items) {
    // A list's items carry the list's key; they are looked at as maps.
    bool item = setting.key == root.key;
    bool scalar = setting.form != Map && setting.form != List;
    if (!item && (setting.valid || !scalar) && isNotYet(setting))
      diags.error(setting.at,
                  std::string(setting.key->name) + " " +
                      (setting.form == Map ? "as a map" : setting.text) +
                      " is not generated yet; generated now: " +
                      std::string(setting.key->now));
    refuseNotYet(setting, diags);
  }
}
