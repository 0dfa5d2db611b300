//===- Files.cpp - writing files whole or not at all ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Files.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace kvc::harness {

Error userError(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), text);
}

Error writeAtomically(StringRef path, function_ref<void(raw_ostream &)> write) {
  if (path == "-") {
    write(outs());
    outs().flush();
    return Error::success();
  }
  auto temporary = sys::fs::TempFile::create(path + ".%%%%%%.tmp");
  if (!temporary)
    return userError("cannot write '" + path +
                     "': " + toString(temporary.takeError()));
  raw_fd_ostream os(temporary->FD, /*shouldClose=*/false);
  write(os);
  os.flush();
  if (os.has_error()) {
    std::string text = os.error().message();
    os.clear_error();
    consumeError(temporary->discard());
    return userError("cannot write '" + path + "': " + text);
  }
  if (Error error = temporary->keep(path))
    return userError("cannot write '" + path +
                     "': " + toString(std::move(error)));
  return Error::success();
}

} // namespace kvc::harness
