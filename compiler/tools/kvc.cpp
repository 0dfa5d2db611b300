//===- kvc.cpp - the command line -----------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Commands.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/PrettyStackTrace.h"

int main(int argc, char **argv) {
  const kvc::driver::IgnoredSignals ignored;
  llvm::InitLLVM init(argc, argv);
  ignored.keep();
  llvm::setBugReportMsg("kvc crashed; this is our fault. Please report it with "
                        "the command line above and its files.\n");
  return kvc::driver::runTool(
      llvm::ArrayRef<const char *>(argv, argc).drop_front());
}
