//===- OutputFile.cpp - files that are written whole or not at all --------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/files/OutputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include <filesystem>
#include <unistd.h>

using namespace llvm;

namespace kvc {

char OutputError::ID;

static Error cannotWrite(const Twine &what, const Twine &reason) {
  return make_error<OutputError>("cannot write " + what + ": " + reason,
                                 inconvertibleErrorCode());
}

Error OutputFile::failure(const Twine &reason) const {
  return cannotWrite("'" + named + "'", reason);
}

//===----------------------------------------------------------------------===//
// What a path names
//===----------------------------------------------------------------------===//

namespace {
/// Behind all symbolic links, and whether that is written through.
struct Place {
  std::string path;
  bool stream = false;
  std::optional<int> descriptor; ///< of the process itself: /dev/stdout
  std::optional<sys::fs::perms> permissions; ///< of a file that is there
};
} // namespace

/// N where `path` is /dev/fd/N, by any of its names. What lies behind it may be
/// a regular file, and is still written to where this process is in it.
static std::optional<int> descriptorOf(StringRef path) {
  StringRef folder = sys::path::parent_path(path);
  int number = 0;
  const bool isOwn = folder == "/dev/fd" || folder == "/proc/self/fd" ||
                     folder == "/proc/thread-self/fd";
  if (!isOwn || sys::path::filename(path).getAsInteger(10, number))
    return std::nullopt;
  return number;
}

static Expected<Place> placeOf(StringRef named) {
  Place place;
  place.path = named.str();
  std::error_code none;
  // As many as Linux follows.
  for (int links = 0;; ++links) {
    place.descriptor = descriptorOf(place.path);
    if (place.descriptor) {
      place.stream = true;
      return place;
    }
    auto next = std::filesystem::read_symlink(place.path, none);
    if (none)
      break;
    if (links == 40)
      return cannotWrite("'" + named + "'", "too many symbolic links");
    SmallString<128> path;
    if (next.is_relative())
      path = sys::path::parent_path(place.path);
    sys::path::append(path, next.string());
    place.path = path.str().str();
  }
  sys::fs::file_status status;
  if (sys::fs::status(place.path, status))
    return place;
  if (sys::fs::is_directory(status))
    return cannotWrite("'" + named + "'", "it is a folder");
  place.stream = !sys::fs::is_regular_file(status);
  place.permissions = status.permissions();
  return place;
}

Error OutputFile::check(StringRef path) {
  if (path == "-")
    return Error::success();
  auto place = placeOf(path);
  if (!place)
    return place.takeError();
  if (place->stream)
    return Error::success();
  SmallString<128> folder(sys::path::parent_path(place->path));
  if (folder.empty())
    folder = ".";
  if (!sys::fs::is_directory(folder))
    return cannotWrite("'" + path + "'", "'" + folder + "' is no folder");
  if (!sys::fs::can_write(folder))
    return cannotWrite("'" + path + "'",
                       "no permission to write to '" + folder + "'");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// OutputFile
//===----------------------------------------------------------------------===//

/// Neither cut nor begun anew: that is for whoever opened it first.
static Expected<int> openStream(const Place &place) {
  if (place.descriptor) {
    const int copy = ::dup(*place.descriptor);
    if (copy < 0)
      return errorCodeToError(errnoAsErrorCode());
    return copy;
  }
  int descriptor = -1;
  if (auto code = sys::fs::openFileForWrite(
          place.path, descriptor, sys::fs::CD_OpenExisting, sys::fs::OF_Append))
    return errorCodeToError(code);
  return descriptor;
}

Expected<OutputFile> OutputFile::create(StringRef path, bool executable) {
  OutputFile output;
  output.named = path.str();
  if (path == "-")
    return output;
  if (Error error = check(path))
    return error;
  auto place = placeOf(path);
  if (!place)
    return place.takeError();
  output.target = place->path;
  if (place->descriptor == STDOUT_FILENO)
    return output;
  if (place->stream) {
    auto descriptor = openStream(*place);
    if (!descriptor)
      return output.failure(toString(descriptor.takeError()));
    output.stream =
        std::make_unique<raw_fd_ostream>(*descriptor, /*shouldClose=*/true);
    return output;
  }
  output.before = place->permissions;
  const unsigned mode = sys::fs::all_read | sys::fs::all_write |
                        (executable ? sys::fs::all_exe : 0);
  int descriptor = -1;
  auto beside =
      TemporaryFile::create(output.target + ".%%%%%%.tmp", mode, descriptor);
  if (!beside)
    return output.failure(beside.getError().message());
  output.file.emplace(std::move(*beside));
  output.stream =
      std::make_unique<raw_fd_ostream>(descriptor, /*shouldClose=*/true);
  return output;
}

OutputFile::~OutputFile() {
  // What was given up may have errors that nobody looks at.
  consumeError(stream ? close() : Error::success());
}

raw_fd_ostream &OutputFile::os() { return stream ? *stream : outs(); }

Error OutputFile::close() {
  if (!stream)
    return flushStandardOutput();
  stream->close();
  const std::error_code code = stream->error();
  stream->clear_error();
  stream.reset();
  if (code)
    return failure(code.message());
  if (file && before)
    if (auto code = sys::fs::setPermissions(file->path(), *before))
      return failure(code.message());
  return Error::success();
}

Error OutputFile::keep() {
  if (!file)
    return Error::success();
  if (auto code = sys::fs::rename(file->path(), target))
    return failure(code.message());
  file->release();
  return Error::success();
}

//===----------------------------------------------------------------------===//
// At once
//===----------------------------------------------------------------------===//

Error writeWhole(StringRef path, function_ref<void(raw_ostream &)> write) {
  auto output = OutputFile::create(path);
  if (!output)
    return output.takeError();
  write(output->os());
  if (Error error = output->close())
    return error;
  return output->keep();
}

Error flushStandardOutput() {
  outs().flush();
  if (!outs().has_error())
    return Error::success();
  const std::string reason = outs().error().message();
  outs().clear_error();
  return cannotWrite("to standard output", reason);
}

} // namespace kvc
