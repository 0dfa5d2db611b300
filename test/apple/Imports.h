/*===- Imports.h - what differs between macOS and Linux -------------*- C -*-===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * Functions of macOS's libSystem by those of Linux's C library, where they
 * differ; Imports.c tells in what.
 *
 *===------------------------------------------------------------------------===*/

#ifndef KVC_TEST_APPLE_IMPORTS_H
#define KVC_TEST_APPLE_IMPORTS_H

#include <stddef.h>
#include <stdint.h>

/* Errors.c */
int appleErrorOf(int error); /* Linux's number, as macOS's */
int *appleError(void);
char *appleStrerror(int error);

/* Memory.c */
void *appleAlignedAlloc(size_t alignment, size_t size);
size_t appleZonePressureRelief(void *zone, size_t goal);

/* Files.c */
void *appleFopen(const char *path, const char *mode);
void *appleFdopen(int descriptor, const char *mode);
int appleFchmod(int descriptor, unsigned mode);
int appleStat(const char *path, void *about);

/* Threads.c */
int appleMutexInit(void *mutex, const void *attributes);
int appleMutexDestroy(void *mutex);
int appleMutexLock(void *mutex);
int appleMutexUnlock(void *mutex);
int appleCondInit(void *condition, const void *attributes);
int appleCondDestroy(void *condition);
int appleCondWait(void *condition, void *mutex);
int appleCondBroadcast(void *condition);
int appleAttrInit(void *attributes);
int appleAttrDestroy(void *attributes);
int appleAttrSetStackSize(void *attributes, size_t bytes);
int appleCreate(void **thread, const void *attributes,
                void *(*function)(void *), void *argument);
int appleJoin(void *thread, void **result);
int appleKeyCreate(uint64_t *key, void (*end)(void *));
void *appleGetSpecific(uint64_t key);
int appleSetSpecific(uint64_t key, const void *value);

/* Cpu.c */
int appleSysctlbyname(const char *name, void *old, size_t *old_size,
                      const void *new, size_t new_size);

#endif /* KVC_TEST_APPLE_IMPORTS_H */
