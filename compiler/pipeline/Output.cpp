//===- Output.cpp - files of object code and libraries --------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Output.h"
#include "compiler/files/OutputFile.h"
#include "compiler/files/TemporaryFile.h"
#include "compiler/link/Link.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Path.h"

using llvm::Error;

namespace kvc {

static Error errorOf(const std::string &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

using Bytes = llvm::SmallVector<char, 0>;

static Error makeBytes(BinaryWriter write, Bytes &bytes) {
  llvm::raw_svector_ostream os(bytes);
  std::string error;
  return write(os, error) ? Error::success() : errorOf(error);
}

Error writeBinary(llvm::StringRef path, BinaryWriter write) {
  Bytes bytes;
  if (Error error = makeBytes(write, bytes))
    return error;
  return writeWhole(path, [&](llvm::raw_ostream &os) {
    os.write(bytes.data(), bytes.size());
  });
}

using LibraryMaker = llvm::function_ref<Error(llvm::raw_ostream &)>;

/// Neither the library, as `make` writes it, nor its header takes its name
/// before both are there.
static Error writeLibrary(llvm::StringRef path, llvm::StringRef header,
                          bool executable, LibraryMaker make) {
  if (path == "-")
    return errorOf("a library goes to a file, not to standard output");
  auto library = OutputFile::create(path, executable);
  if (!library)
    return library.takeError();
  std::optional<OutputFile> text;
  if (!header.empty() && !library->isStream()) {
    llvm::SmallString<128> beside(path);
    llvm::sys::path::replace_extension(beside, "h");
    auto created = OutputFile::create(beside);
    if (!created)
      return created.takeError();
    text.emplace(std::move(*created));
    text->os() << header;
    if (Error error = text->close())
      return error;
  }
  if (Error error = make(library->os()))
    return error;
  if (Error error = library->close())
    return error;
  if (text)
    if (Error error = text->keep())
      return error;
  return library->keep();
}

Error writeShared(llvm::StringRef path, llvm::StringRef header,
                  BinaryWriter write) {
  auto link = [&](llvm::raw_ostream &os) -> Error {
    auto object = TemporaryFile::create("o");
    if (!object)
      return object.takeError();
    if (Error error = writeBinary(object->path(), write))
      return error;
    return linkShared(object->path(), llvm::sys::path::filename(path), os);
  };
  return writeLibrary(path, header, /*executable=*/true, link);
}

Error writeStatic(llvm::StringRef path, llvm::StringRef header,
                  BinaryWriter write) {
  const std::string member = (llvm::sys::path::stem(path) + ".o").str();
  auto archive = [&](llvm::raw_ostream &os) -> Error {
    Bytes object;
    if (Error error = makeBytes(write, object))
      return error;
    return archiveObject({object.data(), object.size()}, member, os);
  };
  return writeLibrary(path, header, /*executable=*/false, archive);
}

} // namespace kvc
