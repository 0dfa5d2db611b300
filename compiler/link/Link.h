//===- Link.h - lld in process ----------------------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_LINK_LINK_H
#define KVC_COMPILER_LINK_LINK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace kvc {

/// Links the object file `object`, ELF or Mach-O of arm64, to a shared library,
/// which is written to `os`. `name` is what the library calls itself: its
/// soname, or @rpath/`name`. The same input gives the same bytes. May be called
/// from several threads; lld runs in one at a time.
///
/// lld resets all command line options of the process to their defaults.
llvm::Error linkShared(llvm::StringRef object, llvm::StringRef name,
                       llvm::raw_ostream &os);

/// Writes to `os` the archive whose one member, called `member`, is `object`.
/// The same input gives the same bytes: no date, no owner.
llvm::Error archiveObject(llvm::StringRef object, llvm::StringRef member,
                          llvm::raw_ostream &os);

} // namespace kvc

#endif // KVC_COMPILER_LINK_LINK_H
