//===- Crash.h - a library that crashes is reported -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library that is wrong may read or write where nothing is. Whatever it has
// overwritten by then, nothing of this process can be trusted any more: a crash
// within one of its calls is written down, and the process ends with exit
// code 1, as on any other miss.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_CRASH_H
#define KVC_COMPILER_HARNESS_CRASH_H

#include "compiler/harness/remote/FloatSetting.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>

namespace kvc::harness {

/// While one lives, crashes in a LibraryCall are reported on standard output,
/// `title` first; other crashes are what they were. There is one at a time.
class Trial {
public:
  /// `os` is flushed: what it holds would be lost.
  Trial(std::string title, llvm::raw_ostream &os);
  ~Trial();
  Trial(const Trial &) = delete;
  Trial &operator=(const Trial &) = delete;
};

/// While one lives, each LibraryCall is made under another odd setting of
/// FloatSetting.h, or, where `odd` is false, as the thread has it. The same
/// calls meet the same settings.
class CallSettings {
public:
  explicit CallSettings(bool odd = true);
  ~CallSettings();
  CallSettings(const CallSettings &) = delete;
  CallSettings &operator=(const CallSettings &) = delete;

  /// Of the call that runs; for a library in another process.
  static uint64_t current();

private:
  uint64_t before = current();
};

/// Lives while one call of a library runs. It takes no memory and next to no
/// time:
///   status = LibraryCall("read", layer).run(library->read, cache, layer, ...);
class LibraryCall {
public:
  /// `function` as the C interface has it; without `layer` or `position`: -1.
  explicit LibraryCall(const char *function, int64_t layer = -1,
                       int64_t position = -1);
  ~LibraryCall();
  LibraryCall(const LibraryCall &) = delete;
  LibraryCall &operator=(const LibraryCall &) = delete;

  template <typename Function, typename... Arguments>
  auto run(Function function, Arguments... arguments) const {
    const Floats floats;
    return function(arguments...);
  }

private:
  /// The setting of one call. One that the call does not leave as it was is
  /// written down, and the process ends, as where it crashes.
  struct Floats {
    Floats();
    ~Floats();
    Floats(const Floats &) = delete;
    Floats &operator=(const Floats &) = delete;
    kvc_float_registers mine = {}, set = {};
  };
};

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_CRASH_H
