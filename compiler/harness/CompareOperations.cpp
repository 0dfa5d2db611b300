//===- CompareOperations.cpp - truncate, fork, save, load, reset ----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"

#include "compiler/harness/Crash.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace kvc::harness {

bool Comparison::compareStatus(const char *function, kvc_status got,
                               kvc_status want) {
  const StringRef why = actual.lastError();
  if (got != want)
    return missed(formatv("{0} gives {1}, it should be {2}: {3}", function,
                          library->status_name(got), library->status_name(want),
                          why));
  if (want == KVC_OK && !why.empty())
    return missed(
        formatv("{0} succeeds and leaves an error text: {1}", function, why));
  if (want != KVC_OK && why.empty())
    return missed(Twine(function) + " leaves no error text");
  return true;
}

bool Comparison::compareAll() {
  for (int64_t layer = 0; layer < expected->layers(); ++layer)
    if (!compareStored(layer))
      return false;
  return true;
}

bool Comparison::snapshotBytes(std::vector<uint8_t> &bytes) {
  return compareStatus("save_to", harness::save(library, actual, bytes),
                       KVC_OK);
}

bool Comparison::compareUnchanged(const std::vector<uint8_t> &before,
                                  StringRef what) {
  std::vector<uint8_t> after;
  if (!snapshotBytes(after))
    return false;
  if (after != before)
    return missed(what + " is refused, and changes what a snapshot has");
  for (int64_t layer = 0; layer < expected->layers(); ++layer)
    if (!compareStats(layer))
      return false;
  return true;
}

bool Comparison::truncate(int64_t tokens) {
  const kvc_status wanted = tokens < 0 || tokens > expected->longest()
                                ? KVC_INVALID_ARGUMENT
                            : expected->canTruncate(tokens) ? KVC_OK
                                                            : KVC_GONE;
  std::vector<uint8_t> before;
  if (wanted != KVC_OK && !snapshotBytes(before))
    return false;
  const std::string call =
      formatv("truncate to {0} of {1} tokens", tokens, expected->longest());
  if (!compareStatus(call.c_str(), harness::truncate(library, actual, tokens),
                     wanted))
    return false;
  if (wanted != KVC_OK)
    return compareUnchanged(before, call);
  for (int64_t layer = 0; layer < expected->layers(); ++layer)
    held[layer].truncate(tokens);
  expected->truncate(tokens);
  return compareAll();
}

bool Comparison::reset() {
  if (!compareStatus("reset", harness::reset(library, actual), KVC_OK))
    return false;
  for (HeldPages &pages : held)
    pages.reset();
  expected->reset();
  family = std::make_shared<char>();
  return compareAll();
}

std::unique_ptr<Comparison> Comparison::fork() {
  std::optional<LibraryCache> made;
  if (!compareStatus("fork", harness::fork(library, actual, made), KVC_OK))
    return nullptr;
  std::vector<HeldPages> pages;
  for (HeldPages &layer : held) {
    layer.loosen();
    pages.push_back(layer.fork());
  }
  std::unique_ptr<Comparison> copy(new Comparison(
      library, sinks, std::move(*made), expected->fork(), std::move(pages)));
  copy->empty = empty;
  copy->isRandom = isRandom;
  copy->family = family;
  if (!copy->compareAll()) {
    missed("a fork: " + copy->miss());
    return nullptr;
  }
  return compareAll() ? std::move(copy) : nullptr;
}

Expected<std::unique_ptr<Comparison>> Comparison::fresh() const {
  const int64_t first = expected->store(0).firstPosition();
  auto cache = library.create(first, sinks);
  if (!cache)
    return cache.takeError();
  std::unique_ptr<reference::Reference> model = expected->fork();
  model->reset();
  std::unique_ptr<Comparison> other(new Comparison(
      library, sinks, std::move(*cache), std::move(model), empty));
  other->isRandom = isRandom;
  return other;
}

bool Comparison::save(Snapshot &snapshot, const std::string &path) {
  if (!snapshotBytes(snapshot.bytes))
    return false;
  snapshot.state = expected->fork();
  if (!path.empty()) {
    const kvc_status status =
        LibraryCall("save").run(library->save, actual.get(), path.c_str());
    if (!compareStatus("save", status, KVC_OK))
      return false;
    auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
    if (!file || StringRef((*file)->getBuffer()) !=
                     toStringRef(ArrayRef(snapshot.bytes)))
      return missed("save writes other bytes than save_to");
    // It was not there before.
    const auto mode = sys::fs::getPermissions(path);
    if (!mode || (*mode & sys::fs::perms::all_all) !=
                     (sys::fs::perms::owner_read | sys::fs::perms::owner_write))
      return missed("save makes a file that others than its owner can read");
  }
  for (int64_t layer = 0; layer < expected->layers(); ++layer)
    if (!compareStats(layer))
      return false;
  return true;
}

bool Comparison::load(const Snapshot &snapshot, const std::string &path) {
  const kvc_status status =
      path.empty()
          ? harness::load(library, actual, snapshot.bytes)
          : LibraryCall("load").run(library->load, actual.get(), path.c_str());
  if (!compareStatus("load", status, KVC_OK))
    return false;
  expected = snapshot.state->load();
  for (int64_t layer = 0; layer < expected->layers(); ++layer)
    held[layer].load(expected->store(layer).seen());
  family = std::make_shared<char>();
  if (!compareAll())
    return false;
  std::vector<uint8_t> again;
  if (!snapshotBytes(again))
    return false;
  return again == snapshot.bytes ||
         missed("a snapshot of what was loaded has other bytes");
}

bool Comparison::refusesSnapshot(ArrayRef<uint8_t> bytes, StringRef what) {
  std::vector<uint8_t> before;
  return snapshotBytes(before) &&
         compareStatus(("load of " + what).str().c_str(),
                       harness::load(library, actual, bytes), KVC_SNAPSHOT) &&
         compareUnchanged(before, ("load of " + what).str());
}

bool Comparison::compareRefusal(const char *what, kvc_status want,
                                function_ref<kvc_status()> asked) {
  // A text of before would pass for one of this call's.
  kvc_stats stats = {};
  stats.size = sizeof stats;
  if (!compareStatus("stats",
                     LibraryCall("stats").run(library->stats, actual.get(),
                                              int32_t(0), &stats),
                     KVC_OK))
    return false;
  LibraryCall call(what);
  return compareStatus(what, call.run(asked), want);
}

bool Comparison::compareBadOperations() {
  std::vector<uint8_t> before;
  if (!snapshotBytes(before))
    return false;
  const int64_t longest = expected->longest();
  kvc_cache *const cache = actual.get();
  const kvc_library_table &table = *library;
  for (int64_t tokens : {int64_t{-1}, longest + 1, INT64_MIN, INT64_MAX})
    if (!compareRefusal("truncate to a length that never was",
                        KVC_INVALID_ARGUMENT,
                        [&] { return table.truncate(cache, tokens); }))
      return false;
  const kvc_write refuses = [](void *, const void *, size_t) { return 1; };
  const kvc_read ends = [](void *, void *, size_t) { return size_t{0}; };
  const char *const nowhere = "/nonexistent-folder/snapshot";
  kvc_options odd = {};
  odd.size = sizeof odd;
  odd.first_position = 1;
  kvc_cache *made = nullptr;
  kvc_stats sizeless = {};
  const bool good =
      compareRefusal("fork to nowhere", KVC_INVALID_ARGUMENT,
                     [&] { return table.fork(cache, nullptr, nullptr); }) &&
      compareRefusal("fork with another first position", KVC_INVALID_ARGUMENT,
                     [&] { return table.fork(cache, &odd, &made); }) &&
      compareRefusal("save without a path", KVC_INVALID_ARGUMENT,
                     [&] { return table.save(cache, nullptr); }) &&
      compareRefusal("save into a folder that is not there", KVC_IO,
                     [&] { return table.save(cache, nowhere); }) &&
      compareRefusal("load without a path", KVC_INVALID_ARGUMENT,
                     [&] { return table.load(cache, nullptr); }) &&
      compareRefusal("load of a file that is not there", KVC_IO,
                     [&] { return table.load(cache, nowhere); }) &&
      compareRefusal("save in the place of a folder", KVC_IO,
                     [&] { return table.save(cache, "/"); }) &&
      compareRefusal("load of a folder", KVC_IO,
                     [&] { return table.load(cache, "/"); }) &&
      compareRefusal("stats without a size", KVC_INVALID_ARGUMENT,
                     [&] { return table.stats(cache, 0, &sizeless); }) &&
      compareRefusal("save_to without a function", KVC_INVALID_ARGUMENT,
                     [&] { return table.save_to(cache, nullptr, nullptr); }) &&
      compareRefusal("save_to that cannot be written", KVC_IO,
                     [&] { return table.save_to(cache, refuses, nullptr); }) &&
      compareRefusal(
          "load_from without a function", KVC_INVALID_ARGUMENT,
          [&] { return table.load_from(cache, nullptr, nullptr); }) &&
      compareRefusal("load_from of nothing", KVC_SNAPSHOT,
                     [&] { return table.load_from(cache, ends, nullptr); });
  if (!good)
    return false;
  if (made)
    return missed("a fork that is refused gives a cache");
  return compareUnchanged(before, "a bad call");
}

} // namespace kvc::harness
