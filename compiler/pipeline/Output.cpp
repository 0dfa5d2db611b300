//===- Output.cpp - files that are written whole or not at all ------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Output.h"
#include "compiler/link/Link.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

namespace kvc {

/// A name beside `path` that nobody has; the file is made.
static bool makeTemporary(llvm::StringRef path, llvm::SmallString<128> &name,
                          std::string &error) {
  int descriptor;
  if (auto code =
          llvm::sys::fs::createUniqueFile(path + ".%%%%%%", descriptor, name)) {
    error = (path + ": " + code.message()).str();
    return false;
  }
  if (auto code = llvm::sys::Process::SafelyCloseFileDescriptor(descriptor)) {
    error = (path + ": " + code.message()).str();
    return false;
  }
  return true;
}

static bool rename(llvm::StringRef from, llvm::StringRef to,
                   std::string &error) {
  auto code = llvm::sys::fs::rename(from, to);
  if (code)
    error = (to + ": " + code.message()).str();
  return !code;
}

bool writeBinary(llvm::StringRef path, BinaryWriter write, std::string &error) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  if (!write(os, error))
    return false;
  return writeFile(
      path,
      [&](llvm::raw_ostream &file) {
        file << llvm::StringRef(bytes.data(), bytes.size());
      },
      error);
}

bool writeFile(llvm::StringRef path,
               llvm::function_ref<void(llvm::raw_ostream &)> write,
               std::string &error) {
  llvm::Error failure =
      llvm::writeToOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
        write(os);
        return llvm::Error::success();
      });
  if (!failure)
    return true;
  error = (path + ": " + llvm::toString(std::move(failure))).str();
  return false;
}

/// A library at `path` that `make` writes to the temporary name it is given,
/// and its header beside it.
static bool writeLibrary(llvm::StringRef path, llvm::StringRef header,
                         llvm::function_ref<bool(llvm::StringRef)> make,
                         std::string &error) {
  if (path == "-") {
    error = "a library goes to a file, not to standard output";
    return false;
  }
  llvm::SmallString<128> library, text;
  if (!makeTemporary(path, library, error))
    return false;
  llvm::FileRemover removeLibrary(library);
  if (!make(library))
    return false;
  if (!header.empty()) {
    llvm::SmallString<128> beside(path);
    llvm::sys::path::replace_extension(beside, "h");
    if (!makeTemporary(beside, text, error))
      return false;
    llvm::FileRemover removeHeader(text);
    if (!writeFile(
            text, [&](llvm::raw_ostream &os) { os << header; }, error) ||
        !rename(text, beside, error))
      return false;
    removeHeader.releaseFile();
  }
  if (!rename(library, path, error))
    return false;
  removeLibrary.releaseFile();
  return true;
}

bool writeShared(llvm::StringRef path, llvm::StringRef header,
                 BinaryWriter write, std::string &error) {
  auto link = [&](llvm::StringRef library) {
    llvm::SmallString<128> object;
    if (!makeTemporary(path, object, error))
      return false;
    llvm::FileRemover removeObject(object);
    return writeBinary(object, write, error) &&
           linkShared(object, library, llvm::sys::path::filename(path), error);
  };
  return writeLibrary(path, header, link, error);
}

bool writeStatic(llvm::StringRef path, llvm::StringRef header,
                 BinaryWriter write, std::string &error) {
  const std::string member = (llvm::sys::path::stem(path) + ".o").str();
  auto archive = [&](llvm::StringRef library) {
    return writeBinary(
        library,
        [&](llvm::raw_pwrite_stream &os, std::string &error) {
          llvm::SmallVector<char, 0> object;
          llvm::raw_svector_ostream objectStream(object);
          return write(objectStream, error) &&
                 archiveObject({object.data(), object.size()}, member, os,
                               error);
        },
        error);
  };
  return writeLibrary(path, header, archive, error);
}

} // namespace kvc
