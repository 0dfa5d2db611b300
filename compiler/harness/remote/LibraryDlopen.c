/*===- LibraryDlopen.c - a library of this machine's own --------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===*/

#include "compiler/harness/remote/Library.h"

#include <dlfcn.h>
#include <string.h>

kvc_remote_function kvc_remote_open(const char *path, const char **problem) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "kvc_library") : NULL;
  kvc_remote_function function;
  memcpy(&function, &symbol, sizeof function);
  if (!library)
    *problem = dlerror();
  else if (!function)
    *problem = "it is no library made by kvc: it has no kvc_library()";
  return function;
}

uint64_t kvc_remote_enter(kvc_remote_function function,
                          const uint64_t a[KVC_REMOTE_ARGUMENTS]) {
  return function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
}

uint64_t kvc_remote_lend(void (*function)(void), const char *name) {
  (void)name;
  return (uint64_t)(uintptr_t)function;
}
