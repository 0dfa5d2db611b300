/*===- Threads.c - threads as macOS has them --------------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * A pthread_mutex_t and a pthread_attr_t have 64 bytes there and a
 * pthread_cond_t 48. All of them are written here: whoever gave less room finds
 * something broken. They say where Linux's own is, and that they were
 * initialised: zeros are no mutex there.
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Call.h"
#include "test/apple/Imports.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MUTEX_BYTES = 64, COND_BYTES = 48, ATTR_BYTES = 64 };

typedef struct there {
  uint64_t signature;
  void *here; /* pthread_mutex_t, pthread_cond_t or pthread_attr_t */
} there;

static const uint64_t mutexSignature = 0x4d757465786f6b21;
static const uint64_t condSignature = 0x436f6e646f6b2121;
static const uint64_t attrSignature = 0x417474726f6b2121;

static int open(void *storage, size_t bytes, uint64_t signature, void *here) {
  if (!here)
    return ENOMEM;
  const there made = {signature, here};
  memset(storage, 0xa5, bytes);
  memcpy(storage, &made, sizeof made);
  return 0;
}

/* Linux's; null where this is none that was initialised. */
static void *hereOf(const void *storage, uint64_t signature) {
  there found;
  memcpy(&found, storage, sizeof found);
  return found.signature == signature ? found.here : NULL;
}

static int close(void *storage, size_t bytes, uint64_t signature) {
  void *here = hereOf(storage, signature);
  if (!here)
    return EINVAL;
  memset(storage, 0x5a, bytes);
  free(here);
  return 0;
}

/* A library of kvc has no attributes of mutexes and conditions. */

int appleMutexInit(void *mutex, const void *attributes) {
  if (attributes)
    return EINVAL;
  pthread_mutex_t *here = malloc(sizeof *here);
  if (here)
    pthread_mutex_init(here, NULL);
  return open(mutex, MUTEX_BYTES, mutexSignature, here);
}

int appleMutexDestroy(void *mutex) {
  pthread_mutex_t *here = hereOf(mutex, mutexSignature);
  const int error = here ? pthread_mutex_destroy(here) : EINVAL;
  return error ? appleErrorOf(error)
               : close(mutex, MUTEX_BYTES, mutexSignature);
}

int appleMutexLock(void *mutex) {
  pthread_mutex_t *here = hereOf(mutex, mutexSignature);
  return here ? appleErrorOf(pthread_mutex_lock(here)) : EINVAL;
}

int appleMutexUnlock(void *mutex) {
  pthread_mutex_t *here = hereOf(mutex, mutexSignature);
  return here ? appleErrorOf(pthread_mutex_unlock(here)) : EINVAL;
}

int appleCondInit(void *condition, const void *attributes) {
  if (attributes)
    return EINVAL;
  pthread_cond_t *here = malloc(sizeof *here);
  if (here)
    pthread_cond_init(here, NULL);
  return open(condition, COND_BYTES, condSignature, here);
}

int appleCondDestroy(void *condition) {
  pthread_cond_t *here = hereOf(condition, condSignature);
  const int error = here ? pthread_cond_destroy(here) : EINVAL;
  return error ? appleErrorOf(error)
               : close(condition, COND_BYTES, condSignature);
}

int appleCondWait(void *condition, void *mutex) {
  pthread_cond_t *here = hereOf(condition, condSignature);
  pthread_mutex_t *held = hereOf(mutex, mutexSignature);
  return here && held ? appleErrorOf(pthread_cond_wait(here, held)) : EINVAL;
}

int appleCondBroadcast(void *condition) {
  pthread_cond_t *here = hereOf(condition, condSignature);
  return here ? appleErrorOf(pthread_cond_broadcast(here)) : EINVAL;
}

int appleAttrInit(void *attributes) {
  pthread_attr_t *here = malloc(sizeof *here);
  if (here)
    pthread_attr_init(here);
  return open(attributes, ATTR_BYTES, attrSignature, here);
}

int appleAttrDestroy(void *attributes) {
  pthread_attr_t *here = hereOf(attributes, attrSignature);
  const int error = here ? pthread_attr_destroy(here) : EINVAL;
  return error ? appleErrorOf(error)
               : close(attributes, ATTR_BYTES, attrSignature);
}

/* Apple's wants whole pages, of 16 KiB, and has no larger least stack. */
int appleAttrSetStackSize(void *attributes, size_t bytes) {
  pthread_attr_t *here = hereOf(attributes, attrSignature);
  if (!here || !bytes || bytes % PAGE_SIZE_APPLE)
    return EINVAL;
  /* Linux's least is larger than one page there. */
  const size_t least = 0x20000;
  return appleErrorOf(
      pthread_attr_setstacksize(here, bytes < least ? least : bytes));
}

/* A thread begins in this program's code and enters the library's from it. */

typedef struct begin {
  void *(*function)(void *);
  void *argument;
} begin;

static void *beginThread(void *given) {
  const begin begins = *(begin *)given;
  free(given);
  const uint64_t arguments[8] = {(uint64_t)(uintptr_t)begins.argument};
  return (void *)(uintptr_t)enter((code)begins.function, arguments);
}

/* Without attributes a thread's stack has 512 KiB there, as it has here where
 * Linux's would be larger. */
static int createHere(pthread_t *thread, const pthread_attr_t *how,
                      begin *begins) {
  pthread_attr_t usual;
  if (how)
    return pthread_create(thread, how, beginThread, begins);
  pthread_attr_init(&usual);
  pthread_attr_setstacksize(&usual, 512 << 10);
  const int error = pthread_create(thread, &usual, beginThread, begins);
  pthread_attr_destroy(&usual);
  return error;
}

int appleCreate(void **thread, const void *attributes,
                void *(*function)(void *), void *argument) {
  const pthread_attr_t *how =
      attributes ? hereOf(attributes, attrSignature) : NULL;
  if (attributes && !how)
    return EINVAL;
  begin *begins = malloc(sizeof *begins);
  if (!begins)
    return appleErrorOf(EAGAIN);
  *begins = (begin){function, argument};
  pthread_t made;
  const int error = createHere(&made, how, begins);
  if (error)
    free(begins);
  else
    *thread = (void *)made;
  return appleErrorOf(error);
}

int appleJoin(void *thread, void **result) {
  return appleErrorOf(pthread_join((pthread_t)thread, result));
}

/* A key has 64 bits there: whoever gave room for 32 finds something broken.
 * What ends a thread's value is called from this program's code, so that it may
 * only be one of its own: free(), as libraries of kvc have it. */

static const uint64_t keySignature = (uint64_t)0x4b657921 << 32;

int appleKeyCreate(uint64_t *key, void (*end)(void *)) {
  pthread_key_t here;
  if (end && end != free)
    return EINVAL;
  const int error = pthread_key_create(&here, end);
  if (!error)
    *key = keySignature | here;
  return appleErrorOf(error);
}

static bool isKey(uint64_t key) { return (key & keySignature) == keySignature; }

void *appleGetSpecific(uint64_t key) {
  return isKey(key) ? pthread_getspecific((pthread_key_t)key) : NULL;
}

int appleSetSpecific(uint64_t key, const void *value) {
  return isKey(key)
             ? appleErrorOf(pthread_setspecific((pthread_key_t)key, value))
             : EINVAL;
}
