//===- Embedded.h - the runtime as bitcode, in the compiler -----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One array a platform: LLVM bitcode of the whole runtime, without debug
// information. It defines `kvc_runtime_table` (runtime/Library.h), needs
// `kvc_generated` (runtime/Generated.h), the platform's memory, files and
// threads (runtime/Platform*.cpp), and memcpy or memset where the code
// generator asks for them. All it defines has hidden visibility.
//
// Its functions carry the CPU they are compiled for: x86-64-v3, Armv8.2-A with
// FP16 and DotProd, or Apple's M1, but any x86-64 or Armv8-A on Linux for those
// that find out what a CPU lacks and say so. Whoever links it may raise the
// former, never the latter.
//
// Where its name ends in _sanitized, it has the checks of AddressSanitizer and
// UndefinedBehaviorSanitizer, and needs what they call (__asan_*, __ubsan_*).
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_EMBEDDED_H
#define KVC_RUNTIME_EMBEDDED_H

extern const unsigned char kvc_runtime_x86_64_linux[];
extern const unsigned long kvc_runtime_x86_64_linux_size;
extern const unsigned char kvc_runtime_x86_64_linux_sanitized[];
extern const unsigned long kvc_runtime_x86_64_linux_sanitized_size;
extern const unsigned char kvc_runtime_aarch64_linux[];
extern const unsigned long kvc_runtime_aarch64_linux_size;
extern const unsigned char kvc_runtime_arm64_macos[];
extern const unsigned long kvc_runtime_arm64_macos_size;

#endif // KVC_RUNTIME_EMBEDDED_H
