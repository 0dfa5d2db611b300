/*===- Check.c - whether dylibs would be loaded -----------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * usage: check-dylib [--exports] DYLIB...
 *
 * Each is opened, mapped and fixed up as kvc-remote-arm64-macos does, and no
 * code of it runs, so that any machine with Linux can. A line for each says
 * what is wrong with it, or "good" and, with --exports, what it exports. Ends
 * with 1 where anything was wrong.
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Image.h"

#include <stdio.h>
#include <string.h>

static bool tell(image *image, const char *name, uint64_t address, void *user) {
  (void)image, (void)address, (void)user;
  printf(" %s", name);
  return true;
}

int main(int argc, char **argv) {
  const bool exports = argc > 1 && strcmp(argv[1], "--exports") == 0;
  int wrong = 0;
  for (int i = exports ? 2 : 1; i < argc; ++i) {
    image image;
    if (openImage(&image, argv[i])) {
      printf("%s: good", argv[i]);
      if (exports)
        walkExports(&image, tell, NULL);
      printf("\n");
    } else {
      printf("%s: %s\n", argv[i], image.problem);
      wrong = 1;
    }
    closeImage(&image);
  }
  return wrong;
}
