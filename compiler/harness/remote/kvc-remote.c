/*===- kvc-remote.c - loads a library and calls what it is told to ----------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * usage: kvc-remote LIBRARY
 *
 * Built for each machine that kvc has a target for and that an emulator can be
 * had of; Protocol.h tells what it reads and writes. It ends with its input.
 *
 *===------------------------------------------------------------------------===*/

#include "compiler/harness/remote/FloatSetting.h"
#include "compiler/harness/remote/Library.h"
#include "compiler/harness/remote/Protocol.h"
#include "kvc/kvc.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Standard output belongs to the protocol: what goes wrong here is a code. */
enum { ENDED = 0, REFUSED = 1, BAD_REQUEST = 2, NO_MEMORY = 3 };

static void take(void *to, size_t bytes) {
  if (bytes && fread(to, bytes, 1, stdin) != 1)
    exit(ENDED);
}

static void give(const void *from, size_t bytes) {
  if (bytes && fwrite(from, bytes, 1, stdout) != 1)
    exit(ENDED);
}

static void *room(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (!memory)
    exit(NO_MEMORY);
  return memory;
}

static void *takeArray(size_t count, size_t size) {
  void *array = room(count * size);
  take(array, count * size);
  return array;
}

static uint64_t callAt(const kvc_library_table *table, uint64_t offset,
                       uint64_t floats, const uint64_t *a) {
  kvc_remote_function called;
  if (offset + sizeof called > table->size)
    exit(BAD_REQUEST);
  memcpy(&called, (const char *)table + offset, sizeof called);
  if (floats == KVC_FLOATS_AS_THEY_ARE)
    return kvc_remote_enter(called, a);
  const kvc_float_registers mine = kvc_floats_read();
  kvc_floats_set(floats);
  /* Bits that this CPU lacks stay 0. */
  const kvc_float_registers before = kvc_floats_read();
  const uint64_t result = kvc_remote_enter(called, a);
  const kvc_float_registers after = kvc_floats_read();
  kvc_floats_write(mine);
  if (!kvc_floats_same(before, after))
    exit(KVC_REMOTE_FLOATS);
  return result;
}

/* A kvc_write and a kvc_read whose bytes go to and come from whoever asked for
 * the call. */

static int writeThere(void *user, const void *bytes, size_t count) {
  const uint64_t question[2] = {KVC_REMOTE_WRITE, count};
  uint64_t reply;
  (void)user;
  give(question, sizeof question);
  give(bytes, count);
  fflush(stdout);
  take(&reply, sizeof reply);
  return (int)reply;
}

static size_t readThere(void *user, void *bytes, size_t count) {
  const uint64_t question[2] = {KVC_REMOTE_READ, count};
  uint64_t reply;
  (void)user;
  give(question, sizeof question);
  fflush(stdout);
  take(&reply, sizeof reply);
  if (reply > count)
    exit(BAD_REQUEST);
  take(bytes, reply);
  return reply;
}

/* Where the library can call the two. */
static uint64_t writer, reader;

static bool lendStreams(void) {
  writer = kvc_remote_lend((void (*)(void))writeThere, "a kvc_write");
  reader = kvc_remote_lend((void (*)(void))readThere, "a kvc_read");
  return writer && reader;
}

static uint64_t valueOf(const kvc_remote_argument *argument, char **memory) {
  switch (argument->kind) {
  case KVC_REMOTE_BUFFER:
    return (uint64_t)(uintptr_t)memory[argument->value];
  case KVC_REMOTE_FUNCTION:
    return argument->value == KVC_REMOTE_WRITE ? writer : reader;
  default:
    return argument->value;
  }
}

static void answerCall(const kvc_library_table *table,
                       const kvc_remote_request *request) {
  if (request->arguments > KVC_REMOTE_ARGUMENTS)
    exit(BAD_REQUEST);
  kvc_remote_argument *arguments =
      takeArray(request->arguments, sizeof *arguments);
  kvc_remote_buffer *buffers = takeArray(request->buffers, sizeof *buffers);
  kvc_remote_pointer *pointers = takeArray(request->pointers, sizeof *pointers);
  char **memory = room(request->buffers * sizeof *memory);
  for (uint64_t i = 0; i < request->buffers; ++i)
    memory[i] = takeArray(1, buffers[i].bytes);
  for (uint64_t i = 0; i < request->pointers; ++i)
    memcpy(memory[pointers[i].buffer] + pointers[i].offset,
           &memory[pointers[i].target], sizeof *memory);

  uint64_t values[KVC_REMOTE_ARGUMENTS] = {0};
  for (uint64_t i = 0; i < request->arguments; ++i)
    values[i] = valueOf(&arguments[i], memory);
  const uint64_t answer[2] = {
      KVC_REMOTE_RESULT,
      callAt(table, request->where, request->floats, values)};

  give(answer, sizeof answer);
  for (uint64_t i = 0; i < request->buffers; ++i) {
    if (buffers[i].comes_back)
      give(memory[i], buffers[i].bytes);
    free(memory[i]);
  }
  free(memory);
  free(pointers);
  free(buffers);
  free(arguments);
}

static void answerText(uint64_t address) {
  const char *text = (const char *)(uintptr_t)address;
  const uint64_t length = text ? strlen(text) : 0;
  give(&length, sizeof length);
  give(text, length);
}

static void greet(const kvc_library_table *table, const char *problem) {
  const kvc_remote_greeting greeting = {
      KVC_REMOTE_MAGIC, table ? table->abi_version : 0, table ? table->size : 0,
      strlen(problem)};
  give(&greeting, sizeof greeting);
  give(problem, strlen(problem));
  fflush(stdout);
}

static int refuse(const char *problem) {
  greet(NULL, problem ? problem : "unknown");
  return REFUSED;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return refuse("usage: kvc-remote LIBRARY");
  const char *problem = NULL;
  const kvc_remote_function get = kvc_remote_open(argv[1], &problem);
  if (!get)
    return refuse(problem);
  const uint64_t none[KVC_REMOTE_ARGUMENTS] = {0};
  const kvc_library_table *table =
      (const void *)(uintptr_t)kvc_remote_enter(get, none);
  if (!table)
    return refuse("it is no library made by kvc: kvc_library() gives no table");
  if (!lendStreams())
    exit(NO_MEMORY);
  greet(table, "");
  for (;;) {
    kvc_remote_request request;
    take(&request, sizeof request);
    if (request.kind == KVC_REMOTE_CALL)
      answerCall(table, &request);
    else if (request.kind == KVC_REMOTE_TEXT)
      answerText(request.where);
    else
      return BAD_REQUEST;
    fflush(stdout);
  }
}
