//===- PlatformFiles.cpp - files of POSIX platforms -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C library's streams and POSIX: none of these functions is variadic, as
// open() is, whose arguments platforms pass in different ways.
//
//===----------------------------------------------------------------------===//

#include "runtime/Platform.h"

extern "C" {
void *fopen(const char *path, const char *mode);
size_t fread(void *bytes, size_t size, size_t count, void *stream);
size_t fwrite(const void *bytes, size_t size, size_t count, void *stream);
int fseek(void *stream, long offset, int whence);
long ftell(void *stream);
int fflush(void *stream);
int fileno(void *stream) noexcept;
int fsync(int descriptor);
int fclose(void *stream);
int ferror(void *stream) noexcept;
void *fdopen(int descriptor, const char *mode) noexcept;
int close(int descriptor);
int mkstemp(char *name);
// mode_t has 32 bits on Linux, 16 on Darwin; an argument is a register.
int fchmod(int descriptor, unsigned mode) noexcept;
// ssize_t is a long on both.
long readlink(const char *path, char *target, size_t room) noexcept;
int rename(const char *from, const char *to) noexcept;
int unlink(const char *path) noexcept;
char *strerror(int error) noexcept;
}

namespace kvc::runtime {

bool File::openToRead(const char *path) {
  handle = fopen(path, "rb");
  return handle;
}

bool File::create(char *name) {
  const int descriptor = mkstemp(name);
  if (descriptor < 0)
    return false;
  handle = fdopen(descriptor, "wb");
  if (handle)
    return true;
  unlink(name);
  ::close(descriptor);
  return false;
}

int64_t File::size() {
  constexpr int fromStart = 0, fromEnd = 2;
  if (fseek(handle, 0, fromEnd) != 0)
    return -1;
  int64_t bytes = ftell(handle);
  return fseek(handle, 0, fromStart) == 0 ? bytes : -1;
}

size_t File::read(void *bytes, size_t count) {
  return fread(bytes, 1, count, handle);
}

bool File::readFailed() { return ferror(handle) != 0; }

bool File::write(const void *bytes, size_t count) {
  return fwrite(bytes, 1, count, handle) == count;
}

bool File::sync() { return fflush(handle) == 0 && fsync(fileno(handle)) == 0; }

bool File::setMode(uint32_t mode) { return fchmod(fileno(handle), mode) == 0; }

bool File::close() { return fclose(handle) == 0; }

bool renameFile(const char *from, const char *to) {
  return rename(from, to) == 0;
}

void removeFile(const char *path) { unlink(path); }

int64_t readLink(const char *path, char *target, size_t room) {
  return readlink(path, target, room);
}

bool syncFolder(const char *path) {
  constexpr int64_t inputOutput = 5; // EIO, on Linux and on Darwin
  void *folder = fopen(path, "rb");
  if (!folder)
    return true;
  const bool lost = fsync(fileno(folder)) != 0 && fileError() == inputOutput;
  fclose(folder);
  return !lost;
}

const char *fileErrorText(int64_t error) {
  return strerror(static_cast<int>(error));
}

// The numbers are the same on Linux and on Darwin.

bool isMissing(int64_t error) {
  constexpr int64_t noEntry = 2; // ENOENT
  return error == noEntry;
}

bool isNoLink(int64_t error) {
  constexpr int64_t invalid = 22; // EINVAL
  return error == invalid;
}

} // namespace kvc::runtime
