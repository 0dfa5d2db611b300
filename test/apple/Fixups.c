/*===- Fixups.c - chained fixups of a dylib ---------------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * What holds an address in a dylib says instead, until it is loaded, which
 * address that is, of the image or of an import, and how far it is to the next
 * such place in its page:
 *
 *   rebase   target:36 high8:8 reserved:7 next:12 bind:1 (0)
 *   bind     ordinal:24 addend:8 reserved:19 next:12 bind:1 (1)
 *
 * `next` counts 4 bytes; 0 ends the chain.
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Call.h"
#include "test/apple/Image.h"

#include <stdlib.h>
#include <string.h>

typedef struct fixups {
  image *image;
  span data; /* of LC_DYLD_CHAINED_FIXUPS */
  dyld_chained_fixups_header header;
  uint64_t *imports; /* address of each */
} fixups;

static uint64_t bits(uint64_t value, unsigned from, unsigned count) {
  return value >> from & ((UINT64_C(1) << count) - 1);
}

/*===- Imports
 * --------------------------------------------------------------===*/

/* From which library: 1 is the first LC_LOAD_DYLIB's, of which there is one. */
static bool checkOrdinal(image *image, const char *name, uint32_t import) {
  const uint64_t ordinal = bits(import, 0, 8);
  if (ordinal != 1)
    return refuse(image, "import '%.100s' is of library %llu, libSystem is 1",
                  name, (unsigned long long)ordinal);
  return !bits(import, 8, 1) ||
         refuse(image,
                "import '%.100s' is weak, which a library of kvc has "
                "none of",
                name);
}

static bool readImports(fixups *fixups) {
  image *image = fixups->image;
  const dyld_chained_fixups_header *header = &fixups->header;
  const uint32_t count = header->imports_count;
  if (header->imports_format != DYLD_CHAINED_IMPORT)
    return refuse(image,
                  "chained fixups: imports have format %u, this loader "
                  "knows %u",
                  header->imports_format, DYLD_CHAINED_IMPORT);
  if (header->symbols_format)
    return refuse(image, "chained fixups: names have format %u, not 0",
                  header->symbols_format);
  if (!fits(fixups->data.size, header->imports_offset, count, 4) ||
      header->symbols_offset > fixups->data.size)
    return refuse(image,
                  "chained fixups: %u imports at %u, or their names at "
                  "%u, are beyond %zu bytes",
                  count, header->imports_offset, header->symbols_offset,
                  fixups->data.size);
  const span names = {fixups->data.bytes + header->symbols_offset,
                      fixups->data.size - header->symbols_offset};
  fixups->imports = calloc(count ? count : 1, sizeof *fixups->imports);
  if (!fixups->imports)
    return refuse(image, "no memory for %u imports", count);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t import;
    memcpy(&import, fixups->data.bytes + header->imports_offset + 4 * i, 4);
    const char *name = textAt(names, bits(import, 9, 23));
    if (!name)
      return refuse(image,
                    "chained fixups: import %u has a name beyond their "
                    "end",
                    i);
    if (!checkOrdinal(image, name, import))
      return false;
    const code function = findImport(image, name);
    if (!function)
      return false;
    fixups->imports[i] = lend(function, name);
    if (!fixups->imports[i])
      return refuse(image, "no memory for import '%.100s'", name);
  }
  return true;
}

/*===- Chains
 * ---------------------------------------------------------------===*/

static bool valueOf(const fixups *fixups, uint64_t place, uint64_t pointer,
                    uint64_t *value) {
  image *image = fixups->image;
  if (bits(pointer, 63, 1)) {
    const uint64_t ordinal = bits(pointer, 0, 24);
    if (ordinal >= fixups->header.imports_count)
      return refuse(image,
                    "chained fixups: the place %#llx wants import %llu "
                    "of %u",
                    (unsigned long long)place, (unsigned long long)ordinal,
                    fixups->header.imports_count);
    if (bits(pointer, 32, 19))
      return refuse(image, "chained fixups: the place %#llx has reserved bits",
                    (unsigned long long)place);
    /* Functions are imported, and none has a middle. */
    if (bits(pointer, 24, 8))
      return refuse(image,
                    "chained fixups: the place %#llx wants %llu bytes "
                    "behind an import",
                    (unsigned long long)place,
                    (unsigned long long)bits(pointer, 24, 8));
    *value = fixups->imports[ordinal];
    return true;
  }
  /* An address and an offset of the image are the same: it begins at 0. */
  const uint64_t target = bits(pointer, 0, 36);
  if (bits(pointer, 36, 8) || bits(pointer, 44, 7))
    return refuse(image,
                  "chained fixups: the place %#llx has a tag or reserved"
                  " bits",
                  (unsigned long long)place);
  if (!isIn(image, target, 0, 0))
    return refuse(image,
                  "chained fixups: the place %#llx wants the address "
                  "%#llx, which is in no segment",
                  (unsigned long long)place, (unsigned long long)target);
  *value = (uint64_t)(uintptr_t)image->memory + target;
  return true;
}

/* `page` is an address of the image, `at` a place in it. */
static bool applyChain(const fixups *fixups, const segment_command_64 *segment,
                       uint64_t page, uint64_t page_size, uint64_t at) {
  image *image = fixups->image;
  for (;;) {
    const uint64_t place = page + at;
    uint64_t pointer, value = 0;
    if (at % 4 || !fits(page_size, at, 1, sizeof pointer) ||
        !fits(segment->filesize, place - segment->vmaddr, 1, sizeof pointer))
      return refuse(image,
                    "chained fixups: the place %#llx is beyond its page "
                    "or segment, or not aligned",
                    (unsigned long long)place);
    memcpy(&pointer, image->memory + place, sizeof pointer);
    if (!valueOf(fixups, place, pointer, &value))
      return false;
    memcpy(image->memory + place, &value, sizeof value);
    const uint64_t next = bits(pointer, 51, 12);
    if (!next)
      return true;
    /* Two places do not share bytes. */
    if (next < 2)
      return refuse(image,
                    "chained fixups: the place behind %#llx is within "
                    "it",
                    (unsigned long long)place);
    at += 4 * next;
  }
}

static bool applySegment(const fixups *fixups, unsigned which,
                         uint64_t offset) {
  image *image = fixups->image;
  const segment_command_64 *segment = image->segments[which];
  dyld_chained_starts_in_segment starts;
  if (!fits(fixups->data.size, offset, 1, STARTS_IN_SEGMENT_BYTES))
    return refuse(image, "chained fixups: starts of %.16s are beyond their end",
                  segment->segname);
  memcpy(&starts, fixups->data.bytes + offset, STARTS_IN_SEGMENT_BYTES);
  if (!fits(fixups->data.size, offset, starts.size, 1) ||
      !fits(starts.size, STARTS_IN_SEGMENT_BYTES, starts.page_count, 2))
    return refuse(image,
                  "chained fixups: starts of %.16s, %u pages, have %u "
                  "bytes of %zu",
                  segment->segname, starts.page_count, starts.size,
                  fixups->data.size);
  if (!(segment->initprot & VM_PROT_WRITE))
    return refuse(image, "chained fixups: %.16s cannot be written",
                  segment->segname);
  if (starts.pointer_format != DYLD_CHAINED_PTR_64 &&
      starts.pointer_format != DYLD_CHAINED_PTR_64_OFFSET)
    return refuse(image,
                  "chained fixups: %.16s has pointer format %u, this "
                  "loader knows %u and %u",
                  segment->segname, starts.pointer_format, DYLD_CHAINED_PTR_64,
                  DYLD_CHAINED_PTR_64_OFFSET);
  if (starts.page_size != PAGE_SIZE_APPLE)
    return refuse(image, "chained fixups: %.16s has pages of %u bytes, not %u",
                  segment->segname, starts.page_size, PAGE_SIZE_APPLE);
  if (starts.segment_offset != segment->vmaddr)
    return refuse(image, "chained fixups: %.16s is said to be at %#llx",
                  segment->segname, (unsigned long long)starts.segment_offset);
  if (starts.max_valid_pointer)
    return refuse(image,
                  "chained fixups: %.16s has a largest pointer, as 32-bit "
                  "ones have",
                  segment->segname);
  if (!fits(segment->vmsize, 0, starts.page_count, PAGE_SIZE_APPLE))
    return refuse(image,
                  "chained fixups: %.16s has starts of %u pages, more "
                  "than it has",
                  segment->segname, starts.page_count);
  for (unsigned i = 0; i < starts.page_count; ++i) {
    uint16_t start;
    memcpy(&start,
           fixups->data.bytes + offset + STARTS_IN_SEGMENT_BYTES + 2 * i,
           sizeof start);
    const uint64_t page = segment->vmaddr + (uint64_t)i * PAGE_SIZE_APPLE;
    if (start != DYLD_CHAINED_PTR_START_NONE &&
        !applyChain(fixups, segment, page, PAGE_SIZE_APPLE, start))
      return false;
  }
  return true;
}

static bool applyAll(fixups *fixups) {
  image *image = fixups->image;
  const uint32_t offset = fixups->header.starts_offset;
  uint32_t count;
  if (!readImports(fixups))
    return false;
  if (!fits(fixups->data.size, offset, 1, sizeof count))
    return refuse(image, "chained fixups: starts at %u are beyond %zu bytes",
                  offset, fixups->data.size);
  memcpy(&count, fixups->data.bytes + offset, sizeof count);
  if (count != image->segment_count ||
      !fits(fixups->data.size, (uint64_t)offset + 4, count, 4))
    return refuse(image, "chained fixups: starts of %u segments, it has %u",
                  count, image->segment_count);
  for (unsigned i = 0; i < count; ++i) {
    uint32_t where; /* from `offset`; 0: no fixups in this segment */
    memcpy(&where, fixups->data.bytes + offset + 4 + 4 * i, sizeof where);
    if (where && !applySegment(fixups, i, (uint64_t)offset + where))
      return false;
  }
  return true;
}

bool applyFixups(image *image) {
  fixups fixups = {.image = image, .data = dataOf(image, ONCE_FIXUPS)};
  if (fixups.data.size < sizeof fixups.header)
    return refuse(image, "chained fixups: they have %zu bytes",
                  fixups.data.size);
  memcpy(&fixups.header, fixups.data.bytes, sizeof fixups.header);
  if (fixups.header.fixups_version)
    return refuse(image, "chained fixups: their version is %u, not 0",
                  fixups.header.fixups_version);
  const bool right = applyAll(&fixups);
  free(fixups.imports);
  return right;
}
