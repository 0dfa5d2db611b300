/*===- Library.c - a dylib for kvc-remote -----------------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===*/

#include "compiler/harness/remote/Library.h"
#include "compiler/harness/remote/FloatSetting.h"
#include "test/apple/Call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

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

/* A call runs on a stack as small as macOS gives to threads that are not a
 * process's first, with nothing mapped below it. */
enum { STACK = 512 << 10, GUARD = 64 << 10 };

static struct {
  ucontext_t caller, callee;
  kvc_remote_function function;
  const uint64_t *arguments;
  uint64_t result;
  kvc_float_registers floats; /* as the library left them */
} call;

static void runCall(void) {
  call.result = enter((code)call.function, call.arguments);
  call.floats = kvc_floats_read();
}

uint64_t kvc_remote_enter(kvc_remote_function function,
                          const uint64_t arguments[KVC_REMOTE_ARGUMENTS]) {
  static char *memory;
  if (!memory) {
    void *mapped = mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED || mprotect(mapped, GUARD, PROT_NONE)) {
      perror("kvc-remote: no stack");
      exit(1);
    }
    memory = mapped;
  }
  call.function = function;
  call.arguments = arguments;
  getcontext(&call.callee);
  call.callee.uc_stack.ss_sp = memory + GUARD;
  call.callee.uc_stack.ss_size = STACK;
  call.callee.uc_link = &call.caller;
  makecontext(&call.callee, runCall, 0);
  swapcontext(&call.caller, &call.callee);
  /* With the stack its own float settings came back. */
  kvc_floats_write(call.floats);
  return call.result;
}

uint64_t kvc_remote_lend(void (*function)(void), const char *name) {
  return lend(function, name);
}
