//===- PlayOperations.cpp - truncate, fork, save, load in random order ----===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Play.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kvc::harness {

/// Sequences that go on at a time, and snapshots that are kept.
static constexpr size_t mostBranches = 3, mostSaved = 2;

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

bool Play::truncate(Branch &branch, int64_t tokens) {
  const int64_t longest = branch.model().longest();
  const bool possible = tokens >= 0 && tokens <= longest;
  const bool goes = possible && branch.model().canTruncate(tokens);
  note(goes       ? Operation::Truncate
       : possible ? Operation::Gone
                  : Operation::BadCall);
  if (!check(branch, branch.both->truncate(tokens)))
    return false;
  if (!goes)
    return true;
  for (std::vector<TokenInput> &layer : branch.history)
    layer.resize(std::min(layer.size(), static_cast<size_t>(tokens)));
  branch.token = std::min(branch.token, tokens);
  turn(branch);
  return true;
}

bool Play::reset(Branch &branch) {
  note(Operation::Reset);
  for (std::vector<TokenInput> &layer : branch.history)
    layer.clear();
  branch.token = 0;
  turn(branch);
  return check(branch, branch.both->reset());
}

bool Play::fork(Branch &branch) {
  note(Operation::Fork);
  auto copy = std::make_unique<Branch>();
  copy->both = branch.both->fork();
  if (!check(branch, copy->both != nullptr))
    return false;
  copy->history = branch.history;
  copy->token = branch.token;
  turn(*copy);
  branches.push_back(std::move(copy));
  return true;
}

void Play::drop(size_t number) {
  before.join(branches[number]->both->worst());
  branches.erase(branches.begin() + static_cast<ptrdiff_t>(number));
  current = current < branches.size() ? current : 0;
}

bool Play::save(Branch &branch, const std::string &path) {
  note(Operation::Save);
  if (saved.size() == mostSaved)
    saved.erase(saved.begin());
  Saved &entry = saved.emplace_back();
  entry.history = branch.history;
  entry.token = branch.token;
  return check(branch, branch.both->save(entry.snapshot, path));
}

bool Play::load(Branch &branch, const Saved &from, const std::string &path) {
  note(Operation::Load);
  branch.history = from.history;
  branch.token = from.token;
  turn(branch);
  return check(branch, branch.both->load(from.snapshot, path));
}

/// Into a cache that was just made.
bool Play::loadFresh(const Saved &from, const std::string &path) {
  auto made = branch().both->fresh();
  if (!made)
    return missed(toString(made.takeError()));
  auto next = std::make_unique<Branch>();
  next->both = std::move(*made);
  branches.push_back(std::move(next));
  return load(*branches.back(), from, path);
}

/// One bit is another, or the end is missing, or a word is any other.
static std::vector<uint8_t> damage(Random &random, std::vector<uint8_t> bytes,
                                   std::string &what) {
  const auto size = static_cast<int64_t>(bytes.size());
  const int64_t at = random.below(size);
  switch (random.below(4)) {
  case 0:
    what = formatv("the first {0} of {1} bytes", at, size);
    bytes.resize(static_cast<size_t>(at));
    break;
  case 1: {
    what = formatv("a snapshot whose word at {0} of {1} is any", at, size);
    for (int64_t i = at; i < std::min(size, at + 8); ++i)
      bytes[i] += static_cast<uint8_t>(random.between(1, 255));
    break;
  }
  default: {
    const int64_t bit = random.below(8);
    what = formatv("a snapshot whose bit {0} of byte {1} of {2} is another",
                   bit, at, size);
    bytes[at] ^= static_cast<uint8_t>(1 << bit);
  }
  }
  return bytes;
}

bool Play::playDamaged(Branch &branch) {
  if (saved.empty() && !save(branch))
    return false;
  note(Operation::Damaged);
  std::string what;
  const std::vector<uint8_t> bytes =
      damage(random, saved.back().snapshot.bytes, what);
  return check(branch, branch.both->refusesSnapshot(bytes, what));
}

bool Play::playBadCalls(Branch &branch) {
  note(Operation::BadCall);
  return check(branch, branch.both->compareBadOperations());
}

/// The same tokens, cut otherwise and without detours, make the same snapshot.
bool Play::playAnew(Branch &branch) {
  note(Operation::Anew);
  std::vector<uint8_t> want, got;
  if (!check(branch, branch.both->snapshotBytes(want)))
    return false;
  auto fresh = branch.both->fresh();
  if (!fresh)
    return missed(toString(fresh.takeError()));
  const LibraryCache &cache = (*fresh)->cache();
  for (auto [number, inputs] : enumerate(branch.history)) {
    const auto layer = static_cast<int64_t>(number);
    const int64_t chunk = library.chunk(layer);
    for (size_t done = 0; done < inputs.size();) {
      int64_t count = random.oneIn(2) ? random.between(1, 9) : 200;
      count = std::min(count, static_cast<int64_t>(inputs.size() - done));
      if (chunk >= 0)
        count = std::min(count, chunk);
      const Tokens tokens =
          tokensOf((*fresh)->nextPosition(layer) + int64_t(done),
                   ArrayRef(inputs).slice(done, count), /*attends=*/false);
      if (append(library, cache, layer, tokens))
        return missed(Twine("append to a new cache fails: ") +
                      cache.lastError());
      done += static_cast<size_t>(count);
    }
  }
  if (harness::save(library, cache, got))
    return missed(Twine("save of a new cache fails: ") + cache.lastError());
  return got == want ||
         missed("the same tokens in a new cache make another snapshot");
}

//===----------------------------------------------------------------------===//
// Several caches in one call
//===----------------------------------------------------------------------===//

/// One layer of all sequences. `before` are the owners' lengths when this round
/// began.
bool Play::playTogether(int64_t layer, ArrayRef<int64_t> targets,
                        ArrayRef<std::vector<int64_t>> lengths) {
  std::vector<std::vector<TokenInput>> inputs(branches.size());
  std::vector<Comparison::Item> items;
  const bool owns = branch().model().stores(layer);
  // The reference computes every row.
  const bool attends = random.oneIn(stride);
  if (!owns && !attends)
    return true;
  for (auto [number, each] : enumerate(branches)) {
    const int64_t seen = each->model().store(layer).seen();
    Queries queries = {seen + 1, owns ? nextOf(*each, layer, targets[number])
                                      : seen - lengths[number][layer]};
    if (queries.count == 0)
      continue;
    int64_t behind = 0;
    if (!owns) {
      queries = chooseQueries(*each, layer, queries.count);
      behind = seen - queries.first - queries.count + 1;
    }
    if (behind > 0)
      noteBehind(*each, layer, queries);
    inputs[number] = inputsOf(*each, layer, queries.first - 1, queries.count);
    items.push_back({each->both.get(), inputs[number], behind});
  }
  if (items.empty())
    return true;
  note(Operation::Batch);
  const bool good = Comparison::chunks(layer, items, attends);
  for (auto [number, each] : enumerate(branches)) {
    keep(*each, layer, std::move(inputs[number]));
    if (!good)
      check(*each, each->both->miss().empty());
  }
  return good;
}

bool Play::playTogether() {
  std::vector<std::vector<int64_t>> lengths;
  std::vector<int64_t> targets;
  const reference::Reference &model = branch().model();
  for (const auto &each : branches) {
    std::vector<int64_t> &list = lengths.emplace_back();
    for (int64_t layer = 0; layer < model.layers(); ++layer)
      list.push_back(each->model().store(layer).seen());
    targets.push_back(each->token + chooseChunk(*each));
  }
  for (int64_t layer = 0; layer < model.layers(); ++layer)
    if (!playTogether(layer, targets, lengths) ||
        (random.oneIn(stride) && !playQueriesTogether(layer)))
      return false;
  for (auto [each, target] : zip(branches, targets))
    each->token = target;
  return true;
}

//===----------------------------------------------------------------------===//
// In a random order
//===----------------------------------------------------------------------===//

/// Mostly within rollback; else anywhere, or where nothing ever was.
bool Play::playTruncate(Branch &branch) {
  const reference::Reference &model = branch.model();
  const int64_t longest = model.longest();
  int64_t rollback = 0;
  for (int64_t layer = 0; layer < model.layers(); ++layer)
    rollback = std::max(rollback, model.policy(layer).getRollback());
  switch (random.below(8)) {
  case 0:
    return truncate(branch, random.oneIn(3)
                                ? -random.between(1, 5)
                                : longest + random.between(1, 1000));
  case 1:
  case 2:
    return truncate(branch, random.between(0, longest));
  case 3: {
    // Farther back than rollback, where something else allows it.
    int64_t tokens = random.between(0, longest);
    for (int i = 0; i < 20 && !model.canTruncate(tokens); ++i)
      tokens = random.between(0, longest);
    return truncate(branch, tokens);
  }
  default:
    return truncate(
        branch, longest - random.between(0, std::min(longest, rollback + 2)));
  }
}

/// A library writes what it saves to a file beside it first, which is as new.
Expected<TemporaryFile> Play::makeSnapshotFile() const {
  auto file = TemporaryFile::create("snapshot");
  if (file)
    file->add("." + Twine(library.process()) + "-0.tmp");
  return file;
}

/// Into a cache of now, which may have any other tokens, or into a new one.
bool Play::playLoad(Branch &branch) {
  std::optional<TemporaryFile> file;
  std::string path;
  if (saved.empty() || random.oneIn(3)) {
    if (random.oneIn(2)) {
      auto made = makeSnapshotFile();
      if (!made)
        return missed(toString(made.takeError()));
      file.emplace(std::move(*made));
      path = file->path();
    }
    if (!save(branch, path))
      return false;
  }
  const Saved &from =
      path.empty() ? saved[random.below(int64_t(saved.size()))] : saved.back();
  if (branches.size() < mostBranches && random.oneIn(3))
    return loadFresh(from, path);
  return load(*branches[random.below(int64_t(branches.size()))], from, path);
}

bool Play::playOperation() {
  const int64_t chosen = random.below(100);
  if (chosen < 30)
    return playTruncate(branch());
  if (chosen < 45) {
    if (branches.size() == mostBranches)
      drop(random.below(int64_t(branches.size())));
    return fork(branch());
  }
  if (chosen < 55) {
    if (branches.size() > 1)
      drop(random.below(int64_t(branches.size())));
    return true;
  }
  if (chosen < 63)
    return save(branch());
  if (chosen < 78)
    return playLoad(branch());
  if (chosen < 86)
    return playDamaged(branch());
  if (chosen < 94)
    return playAnew(branch());
  if (chosen < 97)
    return playBadCalls(branch());
  return reset(branch());
}

std::string Play::runOperations() {
  operates = true;
  const int64_t budget = length + length / 2;
  int64_t owners = 0;
  for (int64_t layer = 0; layer < branch().model().layers(); ++layer)
    owners += branch().model().stores(layer);
  // Where there is room for no token, only operations make some.
  for (int idle = 0; taken < budget * owners && idle < 12;) {
    current = random.below(int64_t(branches.size()));
    const bool full = branch().token >= length;
    idle += full;
    if ((full || random.oneIn(4)) && !playOperation())
      return text;
    const int64_t count = chooseChunk(branch());
    if (count <= 0)
      continue;
    if (branches.size() > 1 && random.oneIn(3)) {
      if (!playTogether())
        return text;
    } else if (!playChunk(branch(), count)) {
      return text;
    }
  }
  for (const auto &each : branches)
    if (!check(*each, each->both->compareAll()))
      return text;
  return playAnew(branch()) ? "" : text;
}

//===----------------------------------------------------------------------===//
// In an order that is always the same
//===----------------------------------------------------------------------===//

/// On to `tokens`, as far as contexts allow.
bool Play::grow(Branch &branch, int64_t tokens) {
  while (branch.token < std::min(tokens, length))
    if (!playChunk(branch,
                   std::min(chooseChunk(branch), tokens - branch.token)))
      return false;
  return true;
}

/// Back to the longest length that is there, then to where one is gone; other
/// tokens come.
bool Play::backAndOn(Branch &branch) {
  int64_t there = branch.model().longest() - 1;
  while (there > 0 && !branch.model().canTruncate(there))
    --there;
  if (!truncate(branch, there) || !playAnew(branch) || !grow(branch, length))
    return false;
  for (int64_t tokens = branch.model().longest(); tokens >= 0; --tokens)
    if (!branch.model().canTruncate(tokens))
      return truncate(branch, tokens);
  return true;
}

/// Saved in one cache, loaded into a new one, by way of a file, and into one
/// that has other tokens; damaged ones are refused.
bool Play::throughSnapshots(Branch &branch) {
  auto file = makeSnapshotFile();
  if (!file)
    return missed(toString(file.takeError()));
  const std::string &path = file->path();
  if (!save(branch, path) || !loadFresh(saved.back(), path))
    return false;
  for (int i = 0; i < 20; ++i)
    if (!playDamaged(branch))
      return false;
  return truncate(branch, branch.model().longest() - 1) &&
         grow(branch, length) && load(branch, saved.back()) &&
         grow(*branches.back(), length);
}

std::string Play::runEachOperation() {
  operates = true;
  const auto all = [&] {
    // Before anything is evicted, and after.
    if (!grow(branch(), std::max<int64_t>(2, length / 4)) ||
        !backAndOn(branch()) || !backAndOn(branch()) || !fork(branch()))
      return false;
    for (const auto &each : branches) {
      const int64_t longest = each->model().longest();
      if (each->model().canTruncate(longest - 1) &&
          !truncate(*each, longest - 1))
        return false;
    }
    return playTogether() && playAnew(*branches[1]) &&
           throughSnapshots(*branches[0]) && playBadCalls(*branches[1]);
  };
  if (!all())
    return text;
  // The first goes, what it was shared with goes on.
  drop(0);
  if (!grow(branch(), length) ||
      !check(branch(), branch().both->compareAll()) || !reset(branch()) ||
      !grow(branch(), std::min<int64_t>(length, 40)) || !playAnew(branch()))
    return text;
  return "";
}

} // namespace kvc::harness
