/*===- Map.c - the memory of a dylib ----------------------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * One region holds the whole image, at a page of 16 KiB, as far from the
 * addresses of the file as chance has it. What no segment has cannot be
 * touched.
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Linux's rights are macOS's by other numbers. */
static int rightsOf(uint32_t protection) {
  return (protection & VM_PROT_READ ? PROT_READ : 0) |
         (protection & VM_PROT_WRITE ? PROT_WRITE : 0) |
         (protection & VM_PROT_EXECUTE ? PROT_EXEC : 0);
}

static bool failed(image *image, const segment_command_64 *segment) {
  return refuse(image, "segment %.16s cannot be mapped: %s", segment->segname,
                strerror(errno));
}

static bool mapSegment(image *image, const segment_command_64 *segment) {
  uint8_t *at = image->memory + segment->vmaddr;
  /* Another machine's code, on a machine that only checks it, is not code. */
  const int rights = rightsOf(segment->initprot);
  if (segment->filesize &&
      mmap(at, segment->filesize, rights, MAP_PRIVATE | MAP_FIXED, image->file,
           (off_t)segment->fileoff) == MAP_FAILED)
    return failed(image, segment);
  const uint64_t page = PAGE_SIZE_APPLE;
  const uint64_t mapped = (segment->filesize + page - 1) / page * page;
  if (segment->vmsize > mapped &&
      mmap(at + mapped, segment->vmsize - mapped, rights,
           MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
    return failed(image, segment);
  return true;
}

bool mapImage(image *image) {
  const size_t page = PAGE_SIZE_APPLE;
  image->reserved_bytes = image->span + 2 * page;
  void *reserved = mmap(NULL, image->reserved_bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    return refuse(image, "no room for %zu bytes of memory: %s",
                  image->reserved_bytes, strerror(errno));
  image->reserved = reserved;
  image->memory = (uint8_t *)(((uintptr_t)reserved + page - 1) / page * page);
  for (unsigned i = 0; i < image->segment_count; ++i)
    if (!mapSegment(image, image->segments[i]))
      return false;
  return true;
}

bool protectImage(image *image) {
  for (unsigned i = 0; i < image->segment_count; ++i) {
    const segment_command_64 *segment = image->segments[i];
    if ((segment->flags & SG_READ_ONLY) &&
        mprotect(image->memory + segment->vmaddr, segment->vmsize, PROT_READ))
      return failed(image, segment);
  }
  return true;
}

void closeImage(image *image) {
  if (image->reserved)
    munmap(image->reserved, image->reserved_bytes);
  if (image->file > 0)
    close(image->file);
  free(image->bytes);
  image->reserved = NULL;
  image->bytes = NULL;
  image->file = -1;
}
