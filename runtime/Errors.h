//===- Errors.h - errors of calls without a cache ---------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call that has a cache leaves its text there (Cache.h). Any other leaves it
// with its thread. Compiled for any CPU of the architecture.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_ERRORS_H
#define KVC_RUNTIME_ERRORS_H

#include "kvc/kvc.h"
#include "runtime/Text.h"

namespace kvc::runtime {

/// Bytes of an error's text, with its NUL.
constexpr int64_t errorBytes = 256;

/// The text to which the words of this thread's error go, in place of its last
/// one; heard by nobody where memory is short.
Text beginThreadError();
/// What stands there.
const char *threadError();
/// A call without a cache begins. Takes no memory.
void forgetThreadError();
/// KVC_INVALID_ARGUMENT, with the text that `name` is null.
kvc_status refuseNull(const char *name);

/// Bytes of a struct that may grow up to and with its last member of version 4
/// of the interface: no caller has less.
#define KVC_LEAST(type, last) (offsetof(type, last) + sizeof(type::last))
/// Whether a caller's `size` may be that of such a struct in any version.
bool isSize(uint32_t size, size_t least);
/// KVC_INVALID_ARGUMENT, with the text of a size that is none.
kvc_status refuseSize(uint32_t size, const char *type, Text error);
/// As much of an answer, which begins with a size, as the caller's has.
void giveAnswer(void *out, const void *answer, size_t bytes);

} // namespace kvc::runtime

#endif // KVC_RUNTIME_ERRORS_H
