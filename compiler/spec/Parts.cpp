//===- Parts.cpp - how the parts of one value go together -------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks that need no other key than the one whose value they look at; each
// written value is checked once, however many layers take it.
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Setting.h"
#include "compiler/spec/Text.h"

using namespace kvc::spec;

namespace {
class Parts {
public:
  explicit Parts(Diagnostics &diags) : diags(diags) {}

  void check(Setting &setting);

private:
  void precision(Setting &setting);
  void wholeColumn(Setting &setting, const Setting &group);
  void rope(Setting &setting);
  void scaling(Setting &setting, const Setting &rope);
  void scalingOrder(Setting &scaling, KeyId low, KeyId high);

  void fail(Setting &setting, Location at, std::string message) {
    diags.error(at, std::move(message));
    setting.valid = false;
  }
  Diagnostics &diags;
};
} // namespace

static std::string name(const Setting &setting) {
  return std::string(setting.key->name);
}

/// `group: all`, one scale a channel over all stored tokens.
void Parts::wholeColumn(Setting &setting, const Setting &group) {
  const Setting *per = setting.get(KeyId::Per);
  if (per && per->isWord("token"))
    return fail(setting, group.at,
                "group is all with per: token; leave group out: a scale then "
                "spans all channels of the head");
  if (const Setting *residual = setting.get(KeyId::Residual);
      residual && residual->integer > 0)
    fail(setting, residual->keyAt,
         "residual is " + residual->text +
             " with group: all, which codes every token at once; leave "
             "residual out");
  if (const Setting *flush = setting.find(KeyId::Flush))
    fail(setting, flush->keyAt,
         "flush is " + flush->text +
             " with group: all, which codes all tokens anew at each step; "
             "leave flush out");
}

void Parts::precision(Setting &setting) {
  const Setting *group = setting.get(KeyId::Group);
  if (group && group->isWord("all"))
    return wholeColumn(setting, *group);
  const Setting *per = setting.get(KeyId::Per);
  const Setting *flush = setting.get(KeyId::Flush);
  constexpr int64_t most = 4096;
  if (per && per->isWord("channel") && group && group->valid &&
      group->integer > most)
    return fail(setting, group->at,
                "group is " + group->text +
                    " tokens; with per: channel it is at most 4096, since a "
                    "page holds whole groups; write group: 4096 or less");
  if (!per || !per->isWord("channel") || !flush ||
      (setting.find(KeyId::Group) && !group))
    return;
  int64_t size = group ? group->integer : 32;
  int64_t below = flush->integer / size * size;
  if (below == flush->integer)
    return;
  std::string remedy = "flush: " + std::to_string(below + size);
  if (below > 0)
    remedy = "flush: " + std::to_string(below) + " or " + remedy;
  fail(setting, flush->at,
       "flush is " + flush->text + ", which is not a multiple of group " +
           std::to_string(size) + (group ? "" : " (the default)") + "; write " +
           remedy);
}

/// `low` is not above `high`, defaults included. Where they are equal, nothing
/// lies between what is kept and what is scaled.
void Parts::scalingOrder(Setting &scaling, KeyId lowId, KeyId highId) {
  const Setting *low = scaling.find(lowId), *high = scaling.find(highId);
  if ((low && !low->valid) || (high && !high->valid) || (!low && !high))
    return;
  double defaultLow = 1, defaultHigh = highId == KeyId::High ? 4 : 32;
  double lowValue = low ? low->number : defaultLow;
  double highValue = high ? high->number : defaultHigh;
  if (lowValue <= highValue)
    return;
  std::string lowName(keyOf(lowId).name), highName(keyOf(highId).name);
  fail(scaling, high ? high->at : low->at,
       highName + " is " + numberText(highValue) + ", which is below " +
           lowName + " " + numberText(lowValue) + "; write " + highName + ": " +
           numberText(lowValue) + " or more");
}

void Parts::scaling(Setting &setting, const Setting &rope) {
  const Setting *type = setting.get(KeyId::ScalingType);
  if (!type)
    return;
  for (const Setting &item : setting.items)
    if (!item.key->with.empty() && !contains(item.key->with, type->text))
      fail(setting, item.keyAt,
           name(item) + " is not a key of scaling type " + type->text +
               "; it goes with " + joinWords(item.key->with, "and") +
               "; leave it out");
  const Key &original = keyOf(KeyId::OriginalContext);
  if (contains(original.with, type->text) &&
      !setting.find(KeyId::OriginalContext))
    fail(setting, setting.keyAt,
         "scaling type " + type->text + " lacks the key original_context, " +
             std::string(original.doc));
  if (type->text == "llama3")
    scalingOrder(setting, KeyId::Low, KeyId::High);
  if (type->text == "yarn")
    scalingOrder(setting, KeyId::BetaSlow, KeyId::BetaFast);
  const Setting *theta = rope.get(KeyId::Theta);
  if (type->text == "yarn" && theta && theta->number <= 1)
    fail(setting, theta->at,
         "theta is " + theta->text +
             ", and yarn takes its logarithm; write a theta above 1");
}

void Parts::rope(Setting &setting) {
  const Setting *dims = setting.get(KeyId::Dims);
  if (dims && dims->integer % 2)
    fail(setting, dims->at,
         "dims is " + dims->text +
             ", which is odd; channels are rotated in pairs: write dims: " +
             std::to_string(dims->integer > 2 ? dims->integer - 1 : 2));
  for (Setting &item : setting.items)
    if (item.key->id == KeyId::Scaling) {
      bool was = item.valid;
      scaling(item, setting);
      setting.valid &= item.valid || !was;
    }
}

void Parts::check(Setting &setting) {
  for (Setting &item : setting.items)
    check(item);
  if (!setting.key)
    return;
  switch (setting.key->id) {
  case KeyId::Keys:
  case KeyId::Values:
    if (setting.form == form::Map)
      precision(setting);
    break;
  case KeyId::Rope:
    if (setting.form == form::Map)
      rope(setting);
    break;
  case KeyId::Name:
    if (setting.valid && setting.text == "kvc")
      fail(setting, setting.at,
           "name is kvc, and kvc_library() is taken: every shared library "
           "exports it besides its own; write another name");
    break;
  default:
    break;
  }
}

void kvc::spec::checkParts(Setting &root, Diagnostics &diags) {
  Parts(diags).check(root);
}
