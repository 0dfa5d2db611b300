/*===- Protocol.h - calling a library in another process ------------*- C -*-===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * A library for another CPU is loaded by a small program that runs under an
 * emulator (kvc-remote.c). It is told on its standard input what to call, and
 * answers on its standard output. It knows nothing of what the functions do:
 * whoever calls says which bytes go there and which come back, so that a new
 * function of the table changes the caller alone (RemoteTable.cpp).
 *
 * Everything is 64-bit words and bytes, in the order of both machines, which is
 * the same, as are sizes and layouts of kvc.h's structs. Pointers in what comes
 * back are addresses there.
 *
 *   greeting   kvc_remote_greeting, then `text` bytes: "", or why it ends
 *   call       kvc_remote_request with Call, kvc_remote_argument[arguments],
 *              kvc_remote_buffer[buffers], kvc_remote_pointer[pointers],
 *              the bytes of each buffer
 *   answer     KVC_REMOTE_RESULT, the result as a word, the bytes of each
 * buffer that comes back text       kvc_remote_request with Text and the
 * address of a C string answer     its length as a word, its bytes
 *
 * An argument may be a function that the library calls: kvc_write or kvc_read.
 * Each of its calls is a question before the answer:
 *
 *   question   KVC_REMOTE_WRITE, a count, so many bytes
 *   reply      what the function gives, as a word
 *   question   KVC_REMOTE_READ, a count
 *   reply      how many bytes, those
 *
 *===------------------------------------------------------------------------===*/

#ifndef KVC_COMPILER_HARNESS_REMOTE_PROTOCOL_H
#define KVC_COMPILER_HARNESS_REMOTE_PROTOCOL_H

#include <stdint.h>

enum { KVC_REMOTE_MAGIC = 0x4b564352, KVC_REMOTE_ARGUMENTS = 8 };

typedef struct kvc_remote_greeting {
  uint64_t magic;   /* KVC_REMOTE_MAGIC */
  uint64_t version; /* abi_version of the table */
  uint64_t size;    /* bytes of the table */
  uint64_t text;
} kvc_remote_greeting;

enum { KVC_REMOTE_CALL = 1, KVC_REMOTE_TEXT = 2 };

typedef struct kvc_remote_request {
  uint64_t kind;
  uint64_t where; /* Call: offset of the function in the table; Text: address */
  uint64_t arguments, buffers, pointers;
  uint64_t floats; /* Call: the setting it is made under (FloatSetting.h) */
} kvc_remote_request;

enum {
  KVC_REMOTE_NUMBER = 0,
  KVC_REMOTE_BUFFER = 1,   /* its address; the value is its number */
  KVC_REMOTE_FUNCTION = 2, /* the value is KVC_REMOTE_WRITE or _READ */
};

typedef struct kvc_remote_argument {
  uint64_t kind;
  uint64_t value;
} kvc_remote_argument;

typedef struct kvc_remote_buffer {
  uint64_t bytes;
  uint64_t comes_back; /* 0 or 1 */
} kvc_remote_buffer;

/* Before the call the address of buffer `target` is written into buffer
 * `buffer` at `offset`. */
typedef struct kvc_remote_pointer {
  uint64_t buffer, offset, target;
} kvc_remote_pointer;

/* The program's exit code where a call did not leave its caller's float
 * environment as it was. */
enum { KVC_REMOTE_FLOATS = 4 };

/* What an answer begins with. */
enum { KVC_REMOTE_RESULT = 0, KVC_REMOTE_WRITE = 1, KVC_REMOTE_READ = 2 };

#endif /* KVC_COMPILER_HARNESS_REMOTE_PROTOCOL_H */
