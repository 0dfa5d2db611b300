//===- PlatformLinux.cpp - what is Linux's own ------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C library's error number, and what a path names; declared here because
// the runtime is compiled without the platform's headers. stat() is asked of
// the kernel: glibc has no function of that name before version 2.33.
//
//===----------------------------------------------------------------------===//

#include "runtime/Platform.h"

extern "C" {
// NOLINTNEXTLINE(readability-identifier-naming)
int *__errno_location() noexcept;
long syscall(long number, ...) noexcept;
}

namespace kvc::runtime {

// free() has done so with all that was large or last.
void returnMemory() {}

bool describeFile(const char *path, FileState &state) {
  // newfstatat(), and where its struct has st_mode.
#ifdef __aarch64__
  constexpr long number = 79, place = 16;
#else
  constexpr long number = 262, place = 24;
#endif
  constexpr long here = -100; // AT_FDCWD
  alignas(8) char about[256]; // at most 144 bytes
  if (syscall(number, here, path, about, 0L) != 0)
    return false;
  uint32_t mode;
  __builtin_memcpy(&mode, about + place, sizeof(mode));
  state = fileStateOf(mode);
  return true;
}

int64_t fileError() { return *__errno_location(); }

} // namespace kvc::runtime
