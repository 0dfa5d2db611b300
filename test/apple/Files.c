/*===- Files.c - files as macOS opens them ----------------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Imports.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Apple's knows r, w and a, then +, b, e, x; x behind w alone. glibc's takes
 * anything, and c, m and `,ccs=` mean something to it. */
void *appleFopen(const char *path, const char *mode) {
  if (!mode[0] || !strchr("rwa", mode[0]) ||
      mode[1 + strspn(mode + 1, "+bex")] ||
      (strchr(mode, 'x') && mode[0] != 'w')) {
    errno = EINVAL;
    return NULL;
  }
  return fopen(path, mode);
}
