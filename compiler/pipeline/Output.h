//===- Output.h - files that are written whole or not at all ----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_PIPELINE_OUTPUT_H
#define KVC_COMPILER_PIPELINE_OUTPUT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace kvc {

/// Each writes to a temporary file beside `path` and renames it, so that a
/// failure leaves what was there; "-" is standard output. False with `error`.
bool writeFile(llvm::StringRef path,
               llvm::function_ref<void(llvm::raw_ostream &)> write,
               std::string &error);

using BinaryWriter =
    llvm::function_ref<bool(llvm::raw_pwrite_stream &, std::string &)>;
bool writeBinary(llvm::StringRef path, BinaryWriter write, std::string &error);

/// Links the object file that `write` makes to the shared library `path`, with
/// `header` (where it is not empty) beside it: path with suffix .h.
bool writeShared(llvm::StringRef path, llvm::StringRef header,
                 BinaryWriter write, std::string &error);

/// The same for a static library: an archive of that one object file.
bool writeStatic(llvm::StringRef path, llvm::StringRef header,
                 BinaryWriter write, std::string &error);

} // namespace kvc

#endif // KVC_COMPILER_PIPELINE_OUTPUT_H
