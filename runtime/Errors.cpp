//===- Errors.cpp - errors of calls without a cache -------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Errors.h"

#include "runtime/Platform.h"

namespace kvc::runtime {

Text beginThreadError() {
  char *text = static_cast<char *>(threadBytes(errorBytes, /*make=*/true));
  return Text(text, text ? errorBytes : 0);
}

const char *threadError() {
  const char *text =
      static_cast<const char *>(threadBytes(errorBytes, /*make=*/false));
  return text ? text : "";
}

void forgetThreadError() {
  char *text = static_cast<char *>(threadBytes(errorBytes, /*make=*/false));
  if (text)
    text[0] = '\0';
}

kvc_status refuseNull(const char *name) {
  beginThreadError() << name << " is null";
  return KVC_INVALID_ARGUMENT;
}

bool isSize(uint32_t size, size_t least) {
  constexpr uint32_t most = 4096; // more than any version will have
  return size >= least && size <= most;
}

kvc_status refuseSize(uint32_t size, const char *type, Text error) {
  error << "size of the " << type << " is " << int64_t{size}
        << ": set it to sizeof(" << type << ")";
  return KVC_INVALID_ARGUMENT;
}

void giveAnswer(void *out, const void *answer, size_t bytes) {
  uint32_t size;
  __builtin_memcpy(&size, out, sizeof(size));
  size_t given = size < bytes ? size : bytes;
  __builtin_memcpy(static_cast<char *>(out) + sizeof(size),
                   static_cast<const char *>(answer) + sizeof(size),
                   given - sizeof(size));
}

} // namespace kvc::runtime
