//===- Output.h - files of object code and libraries ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_PIPELINE_OUTPUT_H
#define KVC_COMPILER_PIPELINE_OUTPUT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace kvc {

// All as OutputFile does: a failure leaves what was there.

/// False with `error`.
using BinaryWriter =
    llvm::function_ref<bool(llvm::raw_pwrite_stream &, std::string &)>;
llvm::Error writeBinary(llvm::StringRef path, BinaryWriter write);

/// Links the object file that `write` makes to the shared library `path`, with
/// `header` (where it is not empty) beside it: path with suffix .h. A stream
/// has nothing beside it.
llvm::Error writeShared(llvm::StringRef path, llvm::StringRef header,
                        BinaryWriter write);

/// The same for a static library: an archive of that one object file.
llvm::Error writeStatic(llvm::StringRef path, llvm::StringRef header,
                        BinaryWriter write);

} // namespace kvc

#endif // KVC_COMPILER_PIPELINE_OUTPUT_H
