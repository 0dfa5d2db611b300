/*===- Call.h - into the code of a dylib and out of it --------------*- C -*-===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * Apple reserves register x18 for itself: its kernel may change it whenever it
 * takes the CPU from a thread. Linux's compilers use it as any other. So code
 * for macOS is entered with a known number in x18 and must leave it alone: it
 * is looked at whenever that code calls out or returns, and another number ends
 * the process with a message.
 *
 * Up to 8 integers and pointers, in registers, are passed alike on both.
 *
 *===------------------------------------------------------------------------===*/

#ifndef KVC_TEST_APPLE_CALL_H
#define KVC_TEST_APPLE_CALL_H

#include "test/apple/Image.h"

/* Calls a function of the dylib. */
uint64_t enter(code function, const uint64_t arguments[8]);

/* The address at which the dylib can call one of this program's functions; 0:
 * no memory. The name is for messages. */
uint64_t lend(code function, const char *name);

#endif /* KVC_TEST_APPLE_CALL_H */
