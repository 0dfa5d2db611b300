/*===- Threads.c - threads as macOS has them --------------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * A pthread_mutex_t has 64 bytes there and a pthread_cond_t 48. All of them are
 * written here: whoever gave less room finds something broken. They say where
 * Linux's own is, and that they were initialised: zeros are no mutex there.
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Call.h"
#include "test/apple/Imports.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MUTEX_BYTES = 64, COND_BYTES = 48 };

typedef struct there {
  uint64_t signature;
  void *here; /* pthread_mutex_t or pthread_cond_t */
} there;

static const uint64_t mutexSignature = 0x4d757465786f6b21;
static const uint64_t condSignature = 0x436f6e646f6b2121;

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

/* Attributes have other sizes and numbers there; a library of kvc has none. */

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

int appleCreate(void **thread, const void *attributes,
                void *(*function)(void *), void *argument) {
  if (attributes)
    return EINVAL;
  begin *begins = malloc(sizeof *begins);
  if (!begins)
    return appleErrorOf(EAGAIN);
  *begins = (begin){function, argument};
  pthread_t made;
  const int error = pthread_create(&made, NULL, beginThread, begins);
  if (error)
    free(begins);
  else
    *thread = (void *)made;
  return appleErrorOf(error);
}

int appleJoin(void *thread, void **result) {
  return appleErrorOf(pthread_join((pthread_t)thread, result));
}
