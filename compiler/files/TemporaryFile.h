//===- TemporaryFile.h - files that nobody keeps ----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_FILES_TEMPORARYFILE_H
#define KVC_COMPILER_FILES_TEMPORARYFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/ErrorOr.h"

#include <string>
#include <vector>

namespace kvc {

/// An empty file of the system's folder for such (TMPDIR). It is removed with
/// this object, and where a signal ends the tool. A folder would not be: LLVM
/// removes files alone.
class TemporaryFile {
public:
  /// kvc-<something>.<suffix>, or kvc-<something>
  static llvm::Expected<TemporaryFile> create(llvm::StringRef suffix);
  /// `model` with random digits for each %, open for writing as `descriptor`.
  static llvm::ErrorOr<TemporaryFile> create(const llvm::Twine &model,
                                             unsigned mode, int &descriptor);
  TemporaryFile(TemporaryFile &&other) : names(std::move(other.names)) {
    other.names.clear();
  }
  TemporaryFile &operator=(TemporaryFile &&other) {
    std::swap(names, other.names);
    return *this;
  }
  ~TemporaryFile();

  const std::string &path() const { return names.front(); }
  /// Whoever writes to it may leave <path><suffix> beside it: this goes too.
  void add(const llvm::Twine &suffix);
  /// It is another file now, which stays.
  void release();

private:
  TemporaryFile() = default;
  std::vector<std::string> names;
};

} // namespace kvc

#endif // KVC_COMPILER_FILES_TEMPORARYFILE_H
