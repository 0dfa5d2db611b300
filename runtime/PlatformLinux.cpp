//===- PlatformLinux.cpp - what is Linux's own ------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C library's error number, declared here because the runtime is compiled
// without the platform's headers.
//
//===----------------------------------------------------------------------===//

#include "runtime/Platform.h"

extern "C" {
// NOLINTNEXTLINE(readability-identifier-naming)
int *__errno_location() noexcept;
}

namespace kvc::runtime {

// free() has done so with all that was large or last.
void returnMemory() {}

int64_t fileError() { return *__errno_location(); }

} // namespace kvc::runtime
