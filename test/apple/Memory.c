/*===- Memory.c - memory as macOS gives it ----------------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Imports.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

/* Apple's wants an alignment of at least a pointer's size and a size that is a
 * multiple of it; glibc's takes others. */
void *appleAlignedAlloc(size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) ||
      size % alignment) {
    errno = EINVAL;
    return NULL;
  }
  return aligned_alloc(alignment, size);
}

/* A null zone is all of them. Apple's says how many bytes it gave back, and may
 * say 0; malloc_trim does not say. */
size_t appleZonePressureRelief(void *zone, size_t goal) {
  (void)goal;
  if (!zone)
    malloc_trim(0);
  return 0;
}
