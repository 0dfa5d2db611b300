//===- SnapshotFile.cpp - snapshots in files --------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is written under another name and renamed when it is whole, so that
// whoever looks finds the old one or the new one. What a conversation was can
// be told from its cache: a new file is its owner's alone.
//
//===----------------------------------------------------------------------===//

#include "runtime/Platform.h"
#include "runtime/Snapshot.h"

namespace kvc::runtime {

namespace {

/// A file, and why it failed.
struct Target {
  File file;
  int64_t error = 0;

  static int write(void *user, const void *bytes, size_t count) {
    Target &target = *static_cast<Target *>(user);
    if (target.file.write(bytes, count))
      return 0;
    target.error = fileError();
    return 1;
  }
  static size_t read(void *user, void *bytes, size_t count) {
    Target &target = *static_cast<Target *>(user);
    const size_t got = target.file.read(bytes, count);
    if (got < count && target.file.readFailed())
      target.error = fileError();
    return got;
  }
};

struct Path {
  const char *path;
};

/// An error's text has room for a path's end and the reason.
Text &operator<<(Text &text, const Path &path) {
  constexpr int64_t most = 120;
  const int64_t length = lengthOf(path.path);
  if (length > most)
    text << "..." << path.path + (length - most);
  else
    text << path.path;
  return text;
}

kvc_status cannot(kvc_cache &cache, const char *what, const char *path,
                  const char *why) {
  cache.error[0] = '\0';
  Text text = beginError(cache);
  text << "cannot " << what << " " << Path{path} << ": " << why;
  return KVC_IO;
}

kvc_status cannot(kvc_cache &cache, const char *what, const char *path,
                  int64_t error) {
  return cannot(cache, what, path, fileErrorText(error));
}

/// Bytes of the folder in front of a name, with its last slash.
int64_t folderOf(const char *path) {
  int64_t length = 0;
  for (int64_t i = 0; path[i]; ++i)
    if (path[i] == '/')
      length = i + 1;
  return length;
}

/// One file that takes the place of another.
class Replacement {
public:
  Replacement(kvc_cache &cache, const char *path)
      : cache(cache), path(path), room(lengthOf(path) + 2 * mostLink) {}
  kvc_status run();

private:
  /// As long as any file system's names of links.
  static constexpr int64_t mostLink = 4096;
  static constexpr int64_t mostLinks = 40; // as many as Linux follows

  kvc_status fails(const char *why) {
    return cannot(cache, "write", path, why);
  }
  kvc_status fails(int64_t error) {
    return cannot(cache, "write", path, error);
  }
  kvc_status lookAt();
  kvc_status followLinks();
  kvc_status write();
  kvc_status finish(Target &target);
  kvc_status syncNames();

  kvc_cache &cache;
  const char *path; ///< as the caller has it
  int64_t room;     ///< of each of the two
  char *name;       ///< of the file, behind links
  char *other;      ///< what a link says; the new file's name
  FileState old = {};
  bool isNew = false;
};

/// What there is now.
kvc_status Replacement::lookAt() {
  if (!describeFile(path, old)) {
    const int64_t error = fileError();
    isNew = isMissing(error);
    return isNew ? KVC_OK : fails(error);
  }
  if (old.kind == FileState::Folder)
    return fails("it is a folder");
  if (old.kind == FileState::Other)
    return fails("it is no file that another can take the place of; save_to "
                 "writes to streams");
  return KVC_OK;
}

/// The file that `path` means, be it there or not.
kvc_status Replacement::followLinks() {
  Text(name, room) << path;
  for (int64_t links = 0; links < mostLinks; ++links) {
    const int64_t length = readLink(name, other, mostLink);
    if (length < 0) {
      const int64_t error = fileError();
      return isNoLink(error) || isMissing(error) ? KVC_OK : fails(error);
    }
    const int64_t folder = other[0] == '/' ? 0 : folderOf(name);
    if (length == mostLink || folder + length >= room)
      return fails("the name that it links to is too long");
    __builtin_memcpy(name + folder, other, static_cast<size_t>(length));
    name[folder + length] = '\0';
  }
  return fails("too many links");
}

/// On its device, by its name.
kvc_status Replacement::finish(Target &target) {
  if ((!isNew && !target.file.setMode(old.mode)) || !target.file.sync())
    target.error = fileError();
  if (!target.file.close() && !target.error)
    target.error = fileError();
  if (!target.error && !renameFile(other, name))
    target.error = fileError();
  return target.error ? KVC_IO : KVC_OK;
}

/// The new name is on its device too.
kvc_status Replacement::syncNames() {
  const int64_t folder = folderOf(name);
  name[folder] = '\0';
  if (syncFolder(folder ? name : "."))
    return KVC_OK;
  cache.error[0] = '\0';
  Text text = beginError(cache);
  text << Path{path} << " is written, but its folder cannot be synced: "
       << fileErrorText(fileError());
  return KVC_IO;
}

kvc_status Replacement::write() {
  const int64_t folder = folderOf(name);
  __builtin_memcpy(other, name, static_cast<size_t>(folder));
  // As long for any name of a file: that may be as long as names can be.
  Text(other + folder, room - folder) << ".kvc-XXXXXX";
  Target target;
  if (!target.file.create(other))
    return fails(fileError());
  kvc_status status = saveTo(&cache, Target::write, &target);
  if (status == KVC_OK)
    status = finish(target);
  else
    target.file.close();
  if (status == KVC_OK)
    return syncNames();
  removeFile(other);
  return status == KVC_IO ? fails(target.error) : status;
}

kvc_status Replacement::run() {
  if (kvc_status status = lookAt())
    return status;
  name =
      static_cast<char *>(cache.memory.table(static_cast<size_t>(2 * room), 1));
  if (!name) {
    beginError(cache) << "no memory for a file's name";
    return KVC_OUT_OF_MEMORY;
  }
  other = name + room;
  kvc_status status = followLinks();
  if (status == KVC_OK)
    status = write();
  cache.memory.give(name);
  return status;
}

kvc_status checkPath(kvc_cache *cache, const char *path) {
  if (!cache)
    return refuseNull("cache");
  cache->error[0] = '\0';
  if (path)
    return KVC_OK;
  beginError(*cache) << "path is null";
  return KVC_INVALID_ARGUMENT;
}

} // namespace

kvc_status saveFile(kvc_cache *cache, const char *path) {
  if (kvc_status status = checkPath(cache, path))
    return status;
  return Replacement(*cache, path).run();
}

kvc_status loadFile(kvc_cache *cache, const char *path) {
  if (kvc_status status = checkPath(cache, path))
    return status;
  Target target;
  if (!target.file.openToRead(path))
    return cannot(*cache, "read", path, fileError());
  // What has no size may still be read.
  kvc_status status =
      loadSized(*cache, Target::read, &target, target.file.size());
  target.file.close();
  // A folder opens, and then cannot be read.
  return target.error ? cannot(*cache, "read", path, target.error) : status;
}

} // namespace kvc::runtime
