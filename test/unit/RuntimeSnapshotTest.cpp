//===- RuntimeSnapshotTest.cpp - saved, loaded, refused ---------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Snapshots of the model by hand, whose layers have different lengths: what was
// loaded goes on as the mirror does; what is damaged changes nothing.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTestMirror.h"
#include "RuntimeTestPlatform.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

using namespace kvc;
using namespace kvc::test;

namespace {

constexpr int32_t owners[] = {AllFloats, StreamCoded, Limited,
                              Narrow,    Sunk,        Remade};
constexpr int32_t all[] = {AllFloats, AllReader, StreamCoded, StreamReader,
                           Narrow,    Sunk,      Remade,      RemadeReader};

/// A stream of bytes; after `left` calls it takes or gives none. -1: no end.
struct Bytes {
  std::string bytes;
  size_t done = 0;
  int64_t left = -1;

  bool ends() { return left == 0 || (left > 0 && left-- == 0); }
  static int write(void *user, const void *from, size_t count) {
    Bytes &stream = *static_cast<Bytes *>(user);
    if (stream.ends())
      return 1;
    stream.bytes.append(static_cast<const char *>(from), count);
    return 0;
  }
  static size_t read(void *user, void *to, size_t count) {
    Bytes &stream = *static_cast<Bytes *>(user);
    if (stream.ends())
      return 0;
    count = std::min(count, stream.bytes.size() - stream.done);
    std::copy_n(stream.bytes.data() + stream.done, count,
                static_cast<char *>(to));
    stream.done += count;
    return count;
  }
};

std::string saved(const Cache &cache) {
  Bytes stream;
  CHECK_EQ(library().save_to(cache, Bytes::write, &stream), KVC_OK);
  return stream.bytes;
}

kvc_status load(const Cache &cache, const std::string &bytes) {
  Bytes stream{bytes};
  return library().load_from(cache, Bytes::read, &stream);
}

/// Layers have `length` tokens or a few fewer; one has room for five.
int64_t lengthOf(int32_t layer, int64_t length) {
  int64_t mine = std::max<int64_t>(0, length - layer % 3);
  return layer == Limited ? std::min<int64_t>(mine, 5) : mine;
}

void fillAll(const Cache &cache, int64_t length) {
  for (int32_t layer : owners)
    fill(cache, layer, 0, lengthOf(layer, length));
}

void goesOn(const Cache &cache, int64_t length) {
  for (int32_t layer : all) {
    int64_t from = lengthOf(ownerOf(layer), length);
    if (reads(layer))
      from += 6; // its owner was before it
    for (int64_t t = from; t < from + 6; ++t) {
      if (reads(layer) && t > from)
        break;
      Token token(reads(layer) ? t - 1 : t);
      kvc_step step =
          token.step(cache, layer, cache.first + (reads(layer) ? t - 1 : t));
      CHECK_EQ(decode(step), KVC_OK);
      checkOutput(token, layer, reads(layer) ? t : t + 1, cache.first);
      if (!reads(layer))
        checkRead(cache, layer, t + 1, 4);
    }
  }
}

void goesOnAsIfAlone() {
  for (int64_t length = 0; length < 40; ++length)
    for (int64_t first : {0, 300}) {
      Cache cache(first), fresh(first), used(first);
      fillAll(cache, length);
      const std::string bytes = saved(cache);
      fillAll(used, 40 - length);
      for (Cache *other : {&fresh, &used}) {
        CHECK_EQ(load(*other, bytes), KVC_OK);
        CHECK_EQ(other->error(), "");
        CHECK(saved(*other) == bytes);
        for (int32_t layer : owners) {
          CHECK_EQ(other->stats(layer).seen, lengthOf(layer, length));
          CHECK_EQ(other->stats(layer).used.rollback, 0);
          CHECK_EQ(other->stats(layer).stored, cache.stats(layer).stored);
        }
        for (int32_t layer : {AllReader, StreamReader, RemadeReader})
          CHECK_EQ(other->stats(layer).seen, lengthOf(ownerOf(layer), length));
        goesOn(*other, length);
      }
      goesOn(cache, length);
      CHECK(saved(cache) == saved(fresh));
      CHECK(saved(cache) == saved(used));
    }
  CHECK_EQ(missingPages, 0);
  CHECK_EQ(wrongPairs, 0);
}

/// Codes and rollback that a truncate leaves behind are not in it.
void tellsNothingOfThePast() {
  Cache one, two;
  fill(one, StreamCoded, 0, 21);
  fill(two, StreamCoded, 0, 21);
  for (int64_t t = 21; t < 24; ++t) {
    Token token(t + 500);
    CHECK_EQ(decode(token.step(two, StreamCoded, t)), KVC_OK);
  }
  CHECK_EQ(library().truncate(two, 21), KVC_OK);
  CHECK(saved(one) == saved(two));
  kvc_cache *fork = nullptr;
  CHECK_EQ(library().fork(two, nullptr, &fork), KVC_OK);
  Bytes stream;
  CHECK_EQ(library().save_to(fork, Bytes::write, &stream), KVC_OK);
  CHECK(stream.bytes == saved(one));
  // Loading leaves what the fork shares alone.
  Cache other;
  fill(other, StreamCoded, 0, 9);
  CHECK_EQ(load(two, saved(other)), KVC_OK);
  Bytes again;
  CHECK_EQ(library().save_to(fork, Bytes::write, &again), KVC_OK);
  CHECK(again.bytes == stream.bytes);
  library().destroy(fork);
}

/// A loaded cache goes back only where nothing that is needed is gone.
void goesBackAsFarAsItHolds() {
  Cache cache, loaded;
  fill(cache, StreamCoded, 0, 21);
  CHECK_EQ(load(loaded, saved(cache)), KVC_OK);
  CHECK_EQ(library().truncate(loaded, 20), KVC_GONE);
  CHECK_EQ(library().truncate(cache, 20), KVC_OK);
  fill(loaded, StreamCoded, 21, 22);
  CHECK_EQ(library().truncate(loaded, 20), KVC_GONE);
  CHECK_EQ(library().truncate(loaded, 21), KVC_OK);
  Cache floats, all;
  fill(floats, AllFloats, 0, 30);
  CHECK_EQ(load(all, saved(floats)), KVC_OK);
  CHECK_EQ(library().truncate(all, 7), KVC_OK);
  Token token(7);
  CHECK_EQ(decode(token.step(all, AllFloats, 7)), KVC_OK);
  checkOutput(token, AllFloats, 8, 0);
}

void refuses(const Cache &cache, const std::string &bytes, const char *why) {
  const std::string before = saved(cache);
  CHECK_EQ(load(cache, bytes), KVC_SNAPSHOT);
  const std::string text = cache.error();
  if (text.find(why) == std::string::npos)
    CHECK_EQ(text, why);
  CHECK(saved(cache) == before);
}

void refusesWhatIsWrong() {
  Cache cache, other(7);
  fillAll(cache, 14);
  const std::string bytes = saved(cache);
  fillAll(cache, 0);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    refuses(cache, damaged, "not loaded: ");
  }
  for (size_t length = 0; length < bytes.size(); ++length)
    refuses(cache, bytes.substr(0, length), "it ends, or cannot be read");
  refuses(cache, "", "it ends, or cannot be read, behind 0 bytes");
  refuses(cache, std::string(5000, 'x'), "this is no snapshot");
  refuses(other, bytes, "its first position is 0, and the cache's is 7");
  CHECK_EQ(load(cache, bytes + "more"), KVC_OK); // the stream goes on
  CHECK_EQ(library().load_from(nullptr, Bytes::read, nullptr),
           KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().load_from(cache, nullptr, nullptr), KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().save_to(cache, nullptr, nullptr), KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().save(cache, nullptr), KVC_INVALID_ARGUMENT);
  CHECK_EQ(library().load(cache, nullptr), KVC_INVALID_ARGUMENT);
}

void failsAsAWhole() {
  Cache cache, target;
  fillAll(cache, 23);
  fillAll(target, 6);
  const std::string bytes = saved(cache), before = saved(target);
  int64_t live = liveBlocks, failed = 0;
  for (int64_t blocks = 0;; ++blocks) {
    Bytes in{bytes};
    blocksLeft = blocks;
    kvc_status status = library().load_from(target, Bytes::read, &in);
    blocksLeft = -1;
    if (status == KVC_OK)
      break;
    CHECK_EQ(status, KVC_OUT_OF_MEMORY);
    CHECK_EQ(liveBlocks, live);
    CHECK(saved(target) == before);
    ++failed;
  }
  CHECK(failed > 30);
  CHECK(saved(target) == bytes);
  for (int64_t blocks = 0;; ++blocks) {
    Bytes out;
    blocksLeft = blocks;
    kvc_status status = library().save_to(cache, Bytes::write, &out);
    blocksLeft = -1;
    if (status == KVC_OK)
      break;
    CHECK_EQ(status, KVC_OUT_OF_MEMORY);
  }
  Bytes none;
  none.left = 0;
  CHECK_EQ(library().save_to(cache, Bytes::write, &none), KVC_IO);
  CHECK_EQ(cache.error(), "the snapshot cannot be written beyond 0 bytes");
  for (int64_t calls = 0;; ++calls) {
    Bytes in{bytes};
    in.left = calls;
    if (library().load_from(cache, Bytes::read, &in) == KVC_OK)
      break;
    CHECK(saved(cache) == bytes);
  }
}

std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void writesFiles() {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("kvc-snapshot-" + std::to_string(getpid()));
  fs::create_directory(folder);
  const std::string path = folder / "cache.kv";
  auto files = [&] {
    return std::distance(fs::directory_iterator(folder), {});
  };
  Cache cache, loaded;
  fillAll(cache, 17);
  CHECK_EQ(library().save(cache, path.c_str()), KVC_OK);
  CHECK(contentOf(path) == saved(cache));
  CHECK_EQ(files(), 1);
  CHECK_EQ(library().load(loaded, path.c_str()), KVC_OK);
  CHECK(saved(loaded) == saved(cache));
  // Another in its place.
  fillAll(loaded, 0);
  fill(loaded, AllFloats, 17, 20);
  CHECK_EQ(library().save(loaded, path.c_str()), KVC_OK);
  CHECK_EQ(files(), 1);
  const std::string bytes = contentOf(path);
  // A name that another one left behind is not taken.
  const std::string left = path + "." + std::to_string(getpid()) + "-0.tmp";
  std::ofstream(left) << "left";
  CHECK_EQ(library().save(loaded, path.c_str()), KVC_OK);
  CHECK_EQ(contentOf(left), "left");
  CHECK(contentOf(path) == bytes);
  fs::remove(left);
  // Too long or too short.
  std::ofstream(path, std::ios::app) << "more";
  CHECK_EQ(library().load(cache, path.c_str()), KVC_SNAPSHOT);
  CHECK(cache.error().find(" bytes, and what its header tells of takes ") !=
        std::string::npos);
  // No place to write, and none to read.
  const std::string nowhere = folder / "none" / "cache.kv";
  CHECK_EQ(library().save(cache, nowhere.c_str()), KVC_IO);
  CHECK_EQ(cache.error(),
           "cannot write " + nowhere + ": No such file or directory");
  CHECK_EQ(library().load(cache, nowhere.c_str()), KVC_IO);
  CHECK_EQ(cache.error(),
           "cannot read " + nowhere + ": No such file or directory");
  CHECK_EQ(library().load(cache, folder.c_str()), KVC_SNAPSHOT);
  // A folder that is not empty keeps its name.
  CHECK_EQ(library().save(cache, folder.c_str()), KVC_IO);
  CHECK(fs::is_directory(folder));
  fs::remove_all(folder);
  CHECK(std::none_of(fs::directory_iterator(folder.parent_path()), {},
                     [&](const fs::directory_entry &entry) {
                       return entry.path().string().starts_with(
                           folder.string());
                     }));
}

} // namespace

int main() {
  int64_t before = liveBlocks;
  goesOnAsIfAlone();
  tellsNothingOfThePast();
  goesBackAsFarAsItHolds();
  refusesWhatIsWrong();
  failsAsAWhole();
  writesFiles();
  CHECK_EQ(liveBlocks, before);
  return kvc::test::checkResult();
}
