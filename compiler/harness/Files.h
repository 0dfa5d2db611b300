//===- Files.h - writing files whole or not at all --------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_FILES_H
#define KVC_COMPILER_HARNESS_FILES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace kvc::harness {

/// Whatever is wrong with what the user gave: exit code 1.
llvm::Error userError(const llvm::Twine &text);

/// Writes `path` by way of a file beside it that takes its name at the end, so
/// that a reader sees the old file or the new one. "-" is standard output.
llvm::Error
writeAtomically(llvm::StringRef path,
                llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_FILES_H
