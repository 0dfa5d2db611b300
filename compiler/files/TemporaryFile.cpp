//===- TemporaryFile.cpp - files that nobody keeps ------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/files/TemporaryFile.h"

#include "compiler/files/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <unistd.h>

using namespace llvm;

namespace kvc {

ErrorOr<TemporaryFile> TemporaryFile::create(const Twine &model, unsigned mode,
                                             int &descriptor) {
  std::error_code code;
  for (int tries = 0; tries < 128; ++tries) {
    SmallString<128> path;
    sys::fs::createUniquePath(model, path, /*MakeAbsolute=*/false);
    // Registered before it is there: a signal may come at any time.
    sys::RemoveFileOnSignal(path);
    code = sys::fs::openFile(path, descriptor, sys::fs::CD_CreateNew,
                             sys::fs::FA_Write, sys::fs::OF_None, mode);
    if (!code) {
      TemporaryFile file;
      file.names.push_back(path.str().str());
      return file;
    }
    sys::DontRemoveFileOnSignal(path);
    if (code != std::errc::file_exists)
      break;
  }
  return code;
}

Expected<TemporaryFile> TemporaryFile::create(StringRef suffix) {
  SmallString<128> model;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, model);
  sys::path::append(model,
                    "kvc-%%%%%%" + Twine(suffix.empty() ? "" : ".") + suffix);
  int descriptor = -1;
  auto file =
      create(model, sys::fs::owner_read | sys::fs::owner_write, descriptor);
  if (!file)
    return make_error<OutputError>("cannot make a temporary file in '" +
                                       sys::path::parent_path(model) +
                                       "': " + file.getError().message(),
                                   file.getError());
  ::close(descriptor);
  return std::move(*file);
}

void TemporaryFile::release() {
  for (const std::string &name : names)
    sys::DontRemoveFileOnSignal(name);
  names.clear();
}

void TemporaryFile::add(const Twine &suffix) {
  names.push_back((path() + suffix).str());
  sys::RemoveFileOnSignal(names.back());
}

TemporaryFile::~TemporaryFile() {
  // What cannot be removed stays, as in any folder for such.
  for (const std::string &name : names) {
    (void)sys::fs::remove(name);
    sys::DontRemoveFileOnSignal(name);
  }
}

} // namespace kvc
