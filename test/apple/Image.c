/*===- Image.c - a dylib, from its file to its memory -----------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool refuse(image *image, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(image->problem, sizeof image->problem, format, arguments);
  va_end(arguments);
  /* Names come from the file. */
  for (char *at = image->problem; *at; ++at)
    if ((unsigned char)*at < 0x20 || (unsigned char)*at > 0x7e)
      *at = '?';
  return false;
}

bool readFile(image *image) {
  const off_t most = 1 << 30;
  struct stat about;
  image->file = open(image->path, O_RDONLY | O_CLOEXEC);
  if (image->file < 0 || fstat(image->file, &about))
    return refuse(image, "it cannot be read: %s", strerror(errno));
  if (!S_ISREG(about.st_mode) || about.st_size > most)
    return refuse(image, "it is no file, or one of more than 1 GiB");
  image->size = (size_t)about.st_size;
  image->bytes = malloc(image->size ? image->size : 1);
  if (!image->bytes)
    return refuse(image, "no memory for %zu bytes", image->size);
  for (size_t at = 0; at < image->size;) {
    const ssize_t done =
        pread(image->file, image->bytes + at, image->size - at, (off_t)at);
    if (done <= 0)
      return refuse(image, "it cannot be read: %s",
                    done ? strerror(errno) : "it became shorter");
    at += (size_t)done;
  }
  return true;
}

/* Walked once before anything is mapped: all of it is right, or nothing is
 * done. */
static bool anyExport(image *image, const char *name, uint64_t address,
                      void *user) {
  (void)image, (void)name, (void)address, (void)user;
  return true;
}

bool openImage(image *image, const char *path) {
  memset(image, 0, sizeof *image);
  image->path = path;
  return readFile(image) && readCommands(image) && checkSignature(image) &&
         walkExports(image, anyExport, NULL) && mapImage(image) &&
         applyFixups(image) && protectImage(image);
}
