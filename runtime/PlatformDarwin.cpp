//===- PlatformDarwin.cpp - what is macOS's own -----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is used of libSystem beside what POSIX platforms have alike
// (PlatformMemory.cpp, PlatformFiles.cpp, PlatformThreads.cpp), declared here
// because the runtime is compiled without Apple's SDK; by each stands the
// header that has it there. Apple's headers call none of them noexcept; a test
// has this file beside them.
//
// What differs from Linux, and where it is met:
//  - the system's pages have 16 KiB (4 KiB): nothing here asks for whole ones,
//    aligned_alloc and free deal in them;
//  - pthread_mutex_t has 64 bytes (40 or 48), pthread_cond_t 48 (48), both in
//    <sys/_pthread/_pthread_types.h>: Platform.h has room for 64;
//  - the error number is at __error(), in <sys/errno.h>; what is
//    compared is the same on both;
//  - struct stat has 144 bytes, with a mode of 16 bits at the fifth, both in
//    <sys/stat.h>. On arm64 there is no other struct of older systems;
//  - arguments of variadic functions are passed on the stack, so open() and
//    fcntl() are not called: with them goes F_FULLFSYNC, and fsync() leaves
//    what it wrote in the device's own cache.
//
// Compiled for any CPU of the architecture: it finds out what this one has.
//
//===----------------------------------------------------------------------===//

#include "runtime/Platform.h"

extern "C" {
// <malloc/malloc.h>: all zones where `zone` is null, all there is where `goal`
// is 0.
size_t malloc_zone_pressure_relief(void *zone, size_t goal);
// <sys/errno.h>
// NOLINTNEXTLINE(readability-identifier-naming)
int *__error();
// <sys/stat.h>
int stat(const char *path, void *about);
// <sys/sysctl.h>
int sysctlbyname(const char *name, void *old, size_t *oldSize, void *set,
                 size_t setSize);
}

namespace kvc::runtime {

// free() keeps what it was given, for who asks next, and the system counts it
// as this process's.
void returnMemory() { malloc_zone_pressure_relief(nullptr, 0); }

bool describeFile(const char *path, FileState &state) {
  alignas(8) char about[144];
  if (stat(path, about) != 0)
    return false;
  uint16_t mode;
  __builtin_memcpy(&mode, about + 4, sizeof(mode));
  state = fileStateOf(mode);
  return true;
}

int64_t fileError() { return *__error(); }

// The names are those of Apple's "Determining Instruction Set Characteristics".
// One that this version of the system does not know is a feature that is not
// there. What the M1 has is in every Mac of this architecture, and not asked.
int64_t cpuFeatures() {
  struct Known {
    const char *name;
    CpuFeatureArm feature;
  };
  const Known known[] = {{"hw.optional.arm.FEAT_BF16", ArmBf16},
                         {"hw.optional.arm.FEAT_I8MM", ArmI8mm},
                         {"hw.optional.arm.FEAT_SME", ArmSme},
                         {"hw.optional.arm.FEAT_CSSC", ArmCssc}};
  int64_t features = ArmV8_2 | ArmAppleM1;
  for (const Known &each : known) {
    int has = 0;
    size_t size = sizeof(has);
    if (sysctlbyname(each.name, &has, &size, nullptr, 0) == 0 && has)
      features |= each.feature;
  }
  return features;
}

} // namespace kvc::runtime
