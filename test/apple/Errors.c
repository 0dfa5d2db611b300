/*===- Errors.c - error numbers of macOS ------------------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Imports.h"

#include <errno.h>
#include <string.h>

/* 1 to 34 are the same but for one; above, those that the functions of the list
 * can give. macOS's are those of its <sys/errno.h>. */
static const struct {
  int here, apple;
} differing[] = {
    {EAGAIN, 35},      {EDEADLK, 11}, {ENAMETOOLONG, 63}, {ELOOP, 62},
    {ENOTEMPTY, 66},   {EDQUOT, 69},  {ESTALE, 70},       {EOVERFLOW, 84},
    {EOPNOTSUPP, 102}, {ENOSYS, 78},  {ECANCELED, 89},    {ETIMEDOUT, 60},
};
enum { DIFFERING = sizeof differing / sizeof differing[0], COMMON = 34 };

/* What has no number there has the number of "input/output error". */
int appleErrorOf(int error) {
  for (int i = 0; i < DIFFERING; ++i)
    if (differing[i].here == error)
      return differing[i].apple;
  return error >= 0 && error <= COMMON ? error : EIO;
}

static int errorHere(int apple) {
  for (int i = 0; i < DIFFERING; ++i)
    if (differing[i].apple == apple)
      return differing[i].here;
  return apple >= 0 && apple <= COMMON ? apple : -1;
}

/* A place of its own, since the library may write there; a later failure here
 * comes before what it wrote. */
int *appleError(void) {
  static _Thread_local int number;
  if (errno)
    number = appleErrorOf(errno);
  errno = 0;
  return &number;
}

char *appleStrerror(int error) { return strerror(errorHere(error)); }
