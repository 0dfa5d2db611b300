//===- OutputFile.h - files that are written whole or not at all *- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever a command writes goes through here. A file is written beside its
// place and takes its name when all of it is there: a reader sees the old one
// or the new one, and a failure or a signal leaves the old one and nothing
// beside it. What is no regular file (a device, a pipe) is written through.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_FILES_OUTPUTFILE_H
#define KVC_COMPILER_FILES_OUTPUTFILE_H

#include "compiler/files/TemporaryFile.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>

namespace kvc {

/// A disk that is full, a folder that is not there: nobody's fault but the
/// user's to put right.
class OutputError : public llvm::ErrorInfo<OutputError, llvm::StringError> {
public:
  using ErrorInfo::ErrorInfo;
  static char ID; // NOLINT(readability-identifier-naming): LLVM's name
};

/// A file that is on its way. Unless keep() succeeds, nothing of it stays.
class OutputFile {
public:
  /// "-" is standard output. Where `path` is a symbolic link, what it points to
  /// is written. An older file's permissions are kept. All errors name `path`
  /// and the reason.
  static llvm::Expected<OutputFile> create(llvm::StringRef path,
                                           bool executable = false);
  /// An error where create() is to fail, for a command that first works long.
  static llvm::Error check(llvm::StringRef path);

  OutputFile(OutputFile &&) = default;
  ~OutputFile();

  llvm::raw_fd_ostream &os();
  /// Whether it is written through: nothing lies beside it then.
  bool isStream() const { return !file; }

  /// Ends writing. What a full disk makes fail has failed then.
  llvm::Error close();
  /// Gives the file its name, after close().
  llvm::Error keep();

private:
  OutputFile() = default;
  llvm::Error failure(const llvm::Twine &reason) const;

  std::string named;                            ///< as it was asked for
  std::string target;                           ///< without symbolic links
  std::optional<llvm::sys::fs::perms> before;   ///< of an older file
  std::optional<TemporaryFile> file;            ///< none: it is written through
  std::unique_ptr<llvm::raw_fd_ostream> stream; ///< null: standard output
};

/// The bytes that `write` gives become the file `path`.
llvm::Error writeWhole(llvm::StringRef path,
                       llvm::function_ref<void(llvm::raw_ostream &)> write);

/// Says whether all that was printed has arrived.
llvm::Error flushStandardOutput();

} // namespace kvc

#endif // KVC_COMPILER_FILES_OUTPUTFILE_H
