//===- SnapshotFile.cpp - snapshots in files --------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is written under another name and renamed when it is whole, so that
// whoever looks finds the old one or the new one.
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
    return static_cast<Target *>(user)->file.read(bytes, count);
  }
};

kvc_status cannot(kvc_cache &cache, const char *what, const char *path,
                  int64_t error) {
  cache.error[0] = '\0';
  beginError(cache) << "cannot " << what << " " << path << ": "
                    << fileErrorText(error);
  return KVC_IO;
}

/// Names tried for the file that is written.
constexpr int64_t mostNames = 100;

/// <path>.<process>-<n>.tmp, the first that there is not; `name` has room.
bool createBeside(const char *path, char *name, int64_t room, Target &target) {
  for (int64_t n = 0; n < mostNames; ++n) {
    Text(name, room) << path << "." << processNumber() << "-" << n << ".tmp";
    if (target.file.create(name))
      return true;
    target.error = fileError();
    if (!isFileThere(target.error))
      return false;
  }
  return false;
}

kvc_status saveAs(kvc_cache &cache, const char *path, char *name,
                  int64_t room) {
  Target target;
  if (!createBeside(path, name, room, target))
    return cannot(cache, "write", path, target.error);
  kvc_status status = saveTo(&cache, Target::write, &target);
  if (status == KVC_OK && !target.file.sync()) {
    target.error = fileError();
    status = KVC_IO;
  }
  if (!target.file.close() && status == KVC_OK) {
    target.error = fileError();
    status = KVC_IO;
  }
  if (status == KVC_OK && !renameFile(name, path)) {
    target.error = fileError();
    status = KVC_IO;
  }
  if (status == KVC_OK)
    return KVC_OK;
  removeFile(name);
  return status == KVC_IO ? cannot(cache, "write", path, target.error) : status;
}

kvc_status checkPath(kvc_cache *cache, const char *path) {
  if (!cache)
    return KVC_INVALID_ARGUMENT;
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
  int64_t room = lengthOf(path) + 64;
  char *name =
      static_cast<char *>(cache->memory.table(static_cast<size_t>(room), 1));
  if (!name) {
    beginError(*cache) << "no memory for a file's name";
    return KVC_OUT_OF_MEMORY;
  }
  kvc_status status = saveAs(*cache, path, name, room);
  cache->memory.give(name);
  return status;
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
  return status;
}

} // namespace kvc::runtime
