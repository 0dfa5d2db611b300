//===- Files.h - what is wrong with files that a user gave ------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_FILES_H
#define KVC_COMPILER_HARNESS_FILES_H

#include "llvm/Support/Error.h"

namespace kvc::harness {

/// Whatever is wrong with what the user gave: exit code 1.
llvm::Error userError(const llvm::Twine &text);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_FILES_H
