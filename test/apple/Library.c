/*===- Library.c - a dylib for kvc-remote -----------------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===*/

#include "compiler/harness/remote/Library.h"
#include "test/apple/Call.h"

#include <string.h>

static bool isGetter(image *image, const char *name, uint64_t address,
                     void *user) {
  if (strcmp(name, "_kvc_library") == 0 &&
      isIn(image, address, 4, VM_PROT_EXECUTE))
    *(uint64_t *)user = address;
  return true;
}

kvc_remote_function kvc_remote_open(const char *path, const char **problem) {
  static image image; /* open to the end, as the library is */
  uint64_t address = 0;
  *problem = image.problem;
  if (!openImage(&image, path) || !walkExports(&image, isGetter, &address))
    return NULL;
  if (!address) {
    refuse(&image, "it exports no function _kvc_library");
    return NULL;
  }
  return (kvc_remote_function)(uintptr_t)(image.memory + address);
}

uint64_t kvc_remote_enter(kvc_remote_function function,
                          const uint64_t arguments[KVC_REMOTE_ARGUMENTS]) {
  return enter((code)function, arguments);
}

uint64_t kvc_remote_lend(void (*function)(void), const char *name) {
  return lend(function, name);
}
