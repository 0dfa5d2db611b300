/*===- Files.c - files as macOS opens them ----------------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Imports.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Apple's knows r, w and a, then +, b, e, x; x behind w alone. glibc's takes
 * anything, and c, m and `,ccs=` mean something to it. */
static bool isMode(const char *mode) {
  if (mode[0] && strchr("rwa", mode[0]) &&
      !mode[1 + strspn(mode + 1, "+bex")] &&
      (!strchr(mode, 'x') || mode[0] == 'w'))
    return true;
  errno = EINVAL;
  return false;
}

void *appleFopen(const char *path, const char *mode) {
  return isMode(mode) ? fopen(path, mode) : NULL;
}

void *appleFdopen(int descriptor, const char *mode) {
  return isMode(mode) ? fdopen(descriptor, mode) : NULL;
}

int appleFchmod(int descriptor, unsigned mode) {
  if (mode > UINT16_MAX) {
    errno = EINVAL;
    return -1;
  }
  return fchmod(descriptor, (mode_t)mode);
}

/* All of its 144 bytes are written: whoever gave less room finds something
 * broken. What a library of kvc reads of it is its mode. */
int appleStat(const char *path, void *about) {
  enum { STAT_BYTES = 144, MODE = 4 };
  struct stat here;
  if (stat(path, &here) != 0)
    return -1;
  const uint16_t mode = (uint16_t)here.st_mode;
  memset(about, 0xa5, STAT_BYTES);
  memcpy((char *)about + MODE, &mode, sizeof mode);
  return 0;
}
