//===- Resolve.cpp - which written value each layer takes -------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Resolve.h"

#include <algorithm>
#include <set>

using namespace kvc::spec;

namespace {
class Resolver {
public:
  Resolver(const Setting &root, Diagnostics &diags) : diags(diags) {
    result.root = &root;
  }
  Resolution run();

private:
  void countLayers();
  void layBase(KeyId section);
  void layEntry(const Setting &entry);
  bool markLayers(const Setting &at, std::vector<bool> &named);
  void lay(Overlay overlay);
  void checkShares();
  bool checkShare(std::size_t layer, const Setting &share);

  std::set<const Setting *> told; ///< shares whose mistake is reported

  Diagnostics &diags;
  Resolution result;
};
} // namespace

void Resolver::countLayers() {
  const Setting *model = result.root->find(KeyId::Model);
  const Setting *layers = model ? model->get(KeyId::ModelLayers) : nullptr;
  // Without a number the base sections are still checked, as one layer.
  result.complete = layers != nullptr;
  std::size_t count = layers ? layers->integer : 1;
  result.won.resize(count, Winners{});
  result.at.resize(count, model ? model->keyAt : result.root->at);
}

void Resolver::lay(Overlay overlay) {
  for (const Setting &setting : overlay.map->items) {
    if (!perLayer(*setting.key))
      continue;
    for (std::size_t layer : overlay.layers)
      result.won[layer][static_cast<std::size_t>(setting.key->id)] = &setting;
  }
  result.overlays.push_back(std::move(overlay));
}

void Resolver::layBase(KeyId section) {
  const Setting *map = result.root->find(section);
  if (!map || map->form != form::Map)
    return;
  Overlay base{map, false, {}};
  for (std::size_t layer = 0; layer < result.won.size(); ++layer)
    base.layers.push_back(layer);
  lay(std::move(base));
}

/// Marks the layers that an `at` names; false where one of them is none.
bool Resolver::markLayers(const Setting &at, std::vector<bool> &named) {
  if (at.form == form::List) {
    bool valid = true;
    for (const Setting &item : at.items)
      valid &= item.valid && markLayers(item, named);
    return valid;
  }
  auto count = static_cast<int64_t>(named.size());
  if (at.last >= count) {
    diags.error(at.at, "at is " + at.text + ", but the last layer is " +
                           std::to_string(count - 1) + ": model has " +
                           std::to_string(count) +
                           (count == 1 ? " layer" : " layers") +
                           ", counted from 0");
    return false;
  }
  // A word at a time: a list may name all layers many times.
  std::fill(named.begin() + at.integer, named.begin() + at.last + 1, true);
  return true;
}

void Resolver::layEntry(const Setting &entry) {
  const Setting *at = entry.find(KeyId::At);
  std::vector<bool> named(result.won.size());
  // In a list with a slip in it the other items are still looked at.
  bool readable = at && (at->valid || at->form == form::List);
  if (!readable || !markLayers(*at, named)) {
    result.complete = false;
    return;
  }
  if (entry.items.size() == 1 && entry.valid)
    diags.error(entry.at, "the entry names layers and says nothing of them; "
                          "write a key beside at, or leave the entry out");
  Overlay overlay{&entry, true, {}};
  for (std::size_t layer = 0; layer < named.size(); ++layer)
    if (named[layer]) {
      overlay.layers.push_back(layer);
      result.at[layer] = entry.at;
    }
  lay(std::move(overlay));
}

/// Whether the layer may read the owner that it names.
bool Resolver::checkShare(std::size_t layer, const Setting &share) {
  auto reader = static_cast<int64_t>(layer);
  if (share.integer >= reader) {
    std::string who = "layer " + std::to_string(reader);
    diags.error(
        share.at,
        "share is " + share.text + ", but " + who +
            (share.integer == reader ? " cannot read itself"
                                     : " comes before layer " + share.text) +
            "; a layer reads an earlier one" +
            (reader == 0 ? ", and layer 0 has none"
                         : ", such as share: " + std::to_string(reader - 1)));
    return false;
  }
  int64_t owner = share.integer;
  const Setting *next = result.winner(owner, KeyId::Share);
  if (!next)
    return true;
  if (!next->valid || told.count(next))
    return false; // the mistake is there
  while (next && next->valid && next->integer < owner) {
    owner = next->integer;
    next = result.winner(owner, KeyId::Share);
  }
  diags.error(share.at, "share is " + share.text + ", but layer " + share.text +
                            " stores nothing: it reads layer " +
                            std::to_string(owner) +
                            " itself; write share: " + std::to_string(owner));
  return false;
}

void Resolver::checkShares() {
  for (std::size_t layer = 0; layer < result.won.size(); ++layer) {
    const Setting *share = result.winner(layer, KeyId::Share);
    if (!share)
      continue;
    // One mistake a written value, not one a layer.
    bool wrong = !share->valid || told.count(share);
    if (!wrong && !checkShare(layer, *share)) {
      told.insert(share);
      wrong = true;
    }
    result.complete &= !wrong;
  }
}

Resolution Resolver::run() {
  countLayers();
  bool known = result.complete;
  layBase(KeyId::Model);
  layBase(KeyId::Cache);
  const Setting *entries = result.root->find(KeyId::Layers);
  if (entries && entries->form != form::List)
    result.complete = false;
  if (entries && known)
    for (const Setting &entry : entries->items) {
      if (entry.form == form::Map)
        layEntry(entry);
      else
        result.complete = false;
    }
  checkShares();
  return std::move(result);
}

Resolution kvc::spec::resolve(const Setting &root, Diagnostics &diags) {
  return Resolver(root, diags).run();
}
