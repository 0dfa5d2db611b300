//===- Progress.h - a line that shows how far long work is ------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_PROGRESS_H
#define KVC_COMPILER_HARNESS_PROGRESS_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace kvc::harness {

/// One line on a terminal, rewritten as work goes on and gone at the end;
/// silent where standard error is no terminal.
class Progress {
public:
  Progress() : shown(llvm::sys::Process::StandardErrIsDisplayed()) {}
  ~Progress() { clear(); }

  void show(const llvm::Twine &text) {
    if (shown)
      llvm::errs() << "\r\x1b[K" << text;
  }
  void clear() {
    if (shown)
      llvm::errs() << "\r\x1b[K";
  }

private:
  bool shown;
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_PROGRESS_H
