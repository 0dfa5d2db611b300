/*===- Image.h - a dylib being loaded -------------------------------*- C -*-===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * A loader of arm64 Mach-O dylibs for Linux, in steps, each a file. It is
 * stricter than Apple's: whatever it does not know, and whatever a library of
 * kvc does not have, is an error that says what and where.
 *
 *   readCommands    Commands.c    header, load commands
 *                   Segments.c    segments and sections
 *                   LinkEdit.c    symbols and what else __LINKEDIT has
 *   checkSignature  Signature.c   a hash of each page, as Apple's kernel does
 *   walkExports     Exports.c     the trie of what others may call
 *   mapImage        Map.c         its memory, each segment as it may be used
 *   applyFixups     Fixups.c      what the linker left to the loader
 *   findImport      Imports.c     the functions that a library may call
 *
 *===------------------------------------------------------------------------===*/

#ifndef KVC_TEST_APPLE_IMAGE_H
#define KVC_TEST_APPLE_IMAGE_H

#include "test/apple/MachO.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEGMENTS = 8 }; /* at most */

/* What there may be one of. */
typedef enum once {
  ONCE_SYMTAB,
  ONCE_DYSYMTAB,
  ONCE_ID,
  ONCE_LOAD,
  ONCE_UUID,
  ONCE_BUILD,
  ONCE_FIXUPS,
  ONCE_EXPORTS,
  ONCE_STARTS,
  ONCE_DATA_IN_CODE,
  ONCE_SIGNATURE,
  ONCE_SOURCE_VERSION,
  ONCE_COUNT
} once;

typedef struct image {
  const char *path;
  int file;
  uint8_t *bytes; /* of the whole file */
  size_t size;

  const mach_header_64 *header;
  const segment_command_64 *segments[SEGMENTS];
  unsigned segment_count;
  const load_command *commands[ONCE_COUNT]; /* null: not there */
  uint64_t span;                            /* bytes of memory it takes */

  uint8_t *memory; /* where the address 0 of the file is */
  void *reserved;
  size_t reserved_bytes;

  char problem[256];
} image;

/* Says why; false, for the caller to return. */
bool refuse(image *image, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* `count` things of `size` bytes each at `offset` lie within `limit` bytes. */
static inline bool fits(uint64_t limit, uint64_t offset, uint64_t count,
                        uint64_t size) {
  return offset <= limit && (!size || count <= (limit - offset) / size);
}

/* The bytes of the file that a command of linkedit_data_command names. */
typedef struct span {
  const uint8_t *bytes;
  size_t size;
} span;
span dataOf(const image *image, once command);

/* The text at `offset` of `bytes`; null where it does not end within them. */
const char *textAt(span bytes, uint64_t offset);
/* Reads a number of at most 64 bits, 7 bits a byte; false where it does not
 * end. */
bool readUleb(span bytes, size_t *at, uint64_t *value);

/* Whether all of these addresses are of a segment with these rights. */
bool isIn(const image *image, uint64_t address, uint64_t bytes,
          uint32_t protection);

bool readFile(image *image);
bool readCommands(image *image);
bool readSegment(image *image, const segment_command_64 *segment);
bool checkSegments(image *image);
bool checkLinkEdit(image *image);
bool checkSignature(image *image);

/* Calls `found` with each export; false where that does, or where the trie is
 * wrong. */
typedef bool (*exported)(image *image, const char *name, uint64_t address,
                         void *user);
bool walkExports(image *image, exported found, void *user);

bool mapImage(image *image);
bool applyFixups(image *image);
/* After the fixups: what is only read from now on can only be read. */
bool protectImage(image *image);
void closeImage(image *image);

/* The function that an import means; null with a text. */
typedef void (*code)(void);
code findImport(image *image, const char *name);

/* All of these steps. */
bool openImage(image *image, const char *path);

#endif /* KVC_TEST_APPLE_IMAGE_H */
