//===- PlatformFiles.cpp - files of POSIX platforms -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C library's streams: none of these functions is variadic, as open() is,
// whose arguments platforms pass in different ways.
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
int rename(const char *from, const char *to) noexcept;
int unlink(const char *path) noexcept;
int getpid() noexcept;
char *strerror(int error) noexcept;
}

namespace kvc::runtime {

bool File::openToRead(const char *path) {
  handle = fopen(path, "rb");
  return handle;
}

bool File::create(const char *path) {
  handle = fopen(path, "wbx");
  return handle;
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

bool File::write(const void *bytes, size_t count) {
  return fwrite(bytes, 1, count, handle) == count;
}

bool File::sync() { return fflush(handle) == 0 && fsync(fileno(handle)) == 0; }

bool File::close() { return fclose(handle) == 0; }

bool renameFile(const char *from, const char *to) {
  return rename(from, to) == 0;
}

void removeFile(const char *path) { unlink(path); }

int64_t processNumber() { return getpid(); }

const char *fileErrorText(int64_t error) {
  return strerror(static_cast<int>(error));
}

bool isFileThere(int64_t error) {
  constexpr int64_t exists = 17; // EEXIST, on Linux and on Darwin
  return error == exists;
}

} // namespace kvc::runtime
