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
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
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

namespace fs = std::filesystem;

fs::path makeFolder() {
  const fs::path folder =
      fs::temp_directory_path() / ("kvc-snapshot-" + std::to_string(getpid()));
  fs::create_directory(folder);
  return folder;
}

/// st_mode of what a path names itself; -1: nothing.
int modeOf(const fs::path &path) {
  struct stat about;
  return lstat(path.c_str(), &about) == 0 ? static_cast<int>(about.st_mode)
                                          : -1;
}

std::string temporaryNameIn(const fs::path &folder) {
  for (const fs::directory_entry &entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(".kvc-"))
      return entry.path();
  return "";
}

/// What fsync() is called with: the new file and its mode then; the folder,
/// when the new file has its name.
struct Synced {
  fs::path folder;
  int files = 0, folders = 0;
  int fileMode = 0;
  bool wasNamed = false;
  bool fails = false; ///< of a folder
} synced;

/// Who may read it, what may stand in its place, and how long its name is.
void keepsFilesPrivate() {
  const fs::path folder = makeFolder();
  const fs::path path = folder / "cache.kv";
  Cache cache;
  fillAll(cache, 5);
  const std::string bytes = saved(cache);
  auto saves = [&](const fs::path &to) {
    CHECK_EQ(library().save(cache, to.c_str()), KVC_OK);
    CHECK(contentOf(to) == bytes);
    CHECK_EQ(temporaryNameIn(folder), "");
  };
  const mode_t mask = umask(0);
  saves(path);
  CHECK_EQ(modeOf(path), S_IFREG | 0600);
  saves(path);
  CHECK_EQ(modeOf(path), S_IFREG | 0600);
  for (int mode : {0400, 0640, 0644, 0777}) {
    chmod(path.c_str(), static_cast<mode_t>(mode));
    saves(path);
    CHECK_EQ(modeOf(path), S_IFREG | mode);
  }
  umask(mask);

  // What a killed process left behind is in nobody's way.
  for (int n = 0; n < 120; ++n)
    std::ofstream(path.string() + "." + std::to_string(getpid()) + "-" +
                  std::to_string(n) + ".tmp")
        << "left";
  saves(path);
  for (size_t length = 240; length <= 255; ++length)
    saves(folder / std::string(length, 'n'));
  const fs::path tooLong = folder / std::string(256, 'n');
  CHECK_EQ(library().save(cache, tooLong.c_str()), KVC_IO);
  CHECK_EQ(cache.error(),
           "cannot write ..." + std::string(120, 'n') + ": File name too long");

  // What is no file stays what it is.
  const fs::path fifo = folder / "fifo", device = folder / "null";
  mkfifo(fifo.c_str(), 0644);
  fs::create_symlink("/dev/null", device);
  for (const fs::path &special : {fifo, device, fs::path("/dev/null")}) {
    const int before = modeOf(special);
    CHECK_EQ(library().save(cache, special.c_str()), KVC_IO);
    CHECK_EQ(cache.error(), "cannot write " + special.string() +
                                ": it is no file that another can take the "
                                "place of; save_to writes to streams");
    CHECK_EQ(modeOf(special), before);
  }

  // A link stays one: to a file, to one that there is not yet, of another link.
  const fs::path inner = folder / "inner";
  fs::create_directory(inner);
  fs::create_symlink("inner/file", folder / "relative");
  fs::create_symlink(folder / "relative", folder / "absolute");
  fs::create_symlink("../absolute", inner / "back");
  for (const char *link : {"relative", "absolute", "inner/back"}) {
    saves(folder / link);
    CHECK_EQ(modeOf(folder / link) & S_IFMT, S_IFLNK);
    CHECK_EQ(modeOf(inner / "file"), S_IFREG | 0600);
    CHECK_EQ(temporaryNameIn(inner), "");
    fs::remove(inner / "file");
  }
  fs::create_symlink("loop", folder / "loop");
  CHECK_EQ(library().save(cache, (folder / "loop").c_str()), KVC_IO);

  // The device has the bytes before they have the name, and then the name.
  synced = {folder};
  saves(folder / "new");
  CHECK_EQ(synced.files, 1);
  CHECK_EQ(synced.fileMode, S_IFREG | 0600);
  CHECK_EQ(synced.folders, 1);
  CHECK(synced.wasNamed);
  synced = {folder};
  synced.fails = true;
  CHECK_EQ(library().save(cache, (folder / "new").c_str()), KVC_IO);
  CHECK_EQ(cache.error(), (folder / "new").string() +
                              " is written, but its folder cannot be synced: "
                              "Input/output error");
  CHECK(contentOf(folder / "new") == bytes);
  synced = {};

  // A name without a folder; and one that ends as a folder's.
  const fs::path here = fs::current_path();
  fs::current_path(inner);
  saves("plain");
  CHECK_EQ(library().save(cache, ""), KVC_IO);
  CHECK_EQ(library().save(cache, "none/"), KVC_IO);
  CHECK_EQ(std::distance(fs::directory_iterator("."), {}), 2);
  fs::current_path(here);
  fs::remove_all(folder);
}

void writesFiles() {
  const fs::path folder = makeFolder();
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
  // A folder is none to read, and keeps its name.
  CHECK_EQ(library().load(cache, folder.c_str()), KVC_IO);
  CHECK_EQ(cache.error(),
           "cannot read " + folder.string() + ": Is a directory");
  CHECK_EQ(library().save(cache, folder.c_str()), KVC_IO);
  CHECK_EQ(cache.error(),
           "cannot write " + folder.string() + ": it is a folder");
  CHECK_EQ(files(), 1);
  fs::remove_all(folder);
}

} // namespace

/// In the place of the C library's.
extern "C" int fsync(int descriptor) {
  struct stat about;
  fstat(descriptor, &about);
  if (S_ISREG(about.st_mode)) {
    ++synced.files;
    synced.fileMode = static_cast<int>(about.st_mode);
    return fdatasync(descriptor);
  }
  ++synced.folders;
  synced.wasNamed = synced.files == 1 && modeOf(synced.folder / "new") != -1;
  if (!synced.fails)
    return 0;
  errno = EIO;
  return -1;
}

int main() {
  int64_t before = liveBlocks;
  goesOnAsIfAlone();
  tellsNothingOfThePast();
  goesBackAsFarAsItHolds();
  refusesWhatIsWrong();
  failsAsAWhole();
  keepsFilesPrivate();
  writesFiles();
  CHECK_EQ(liveBlocks, before);
  return kvc::test::checkResult();
}
