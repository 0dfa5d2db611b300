/*===- Library.h - the library that kvc-remote has open -------------*- C -*-===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * How a library comes into memory, and how its code is entered and left:
 * LibraryDlopen.c where it is one of this machine's own, test/apple/Library.c
 * where it is one for macOS and this is Linux.
 *
 *===------------------------------------------------------------------------===*/

#ifndef KVC_COMPILER_HARNESS_REMOTE_LIBRARY_H
#define KVC_COMPILER_HARNESS_REMOTE_LIBRARY_H

#include "compiler/harness/remote/Protocol.h"

/* Integers and pointers are passed alike on the CPUs that there are targets
 * for, and arguments too many do no harm. */
typedef uint64_t (*kvc_remote_function)(uint64_t, uint64_t, uint64_t, uint64_t,
                                        uint64_t, uint64_t, uint64_t, uint64_t);

/* Its kvc_library(); null with a text of what is wrong. Once. */
kvc_remote_function kvc_remote_open(const char *path, const char **problem);

/* Calls a function of the library. */
uint64_t kvc_remote_enter(kvc_remote_function function,
                          const uint64_t arguments[KVC_REMOTE_ARGUMENTS]);

/* The address at which the library can call a function of this program; 0: no
 * memory for that. `name` is for messages. */
uint64_t kvc_remote_lend(void (*function)(void), const char *name);

#endif /* KVC_COMPILER_HARNESS_REMOTE_LIBRARY_H */
