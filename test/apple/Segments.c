/*===- Segments.c - segments and sections of a dylib ------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Image.h"

#include <string.h>

/* An address needs so much room at least; more is no library of kvc's. */
static const uint64_t longest = 1u << 30;

static bool isNamed(const char name[16], const char *text) {
  return strncmp(name, text, 16) == 0;
}

static bool isLinkEdit(const segment_command_64 *segment) {
  return isNamed(segment->segname, "__LINKEDIT");
}

/*===- Sections
 * -------------------------------------------------------------===*/

static bool checkType(image *image, const section_64 *section) {
  const uint32_t type = section->flags & SECTION_TYPE;
  switch (type) {
  case S_REGULAR:
  case S_ZEROFILL:
  case S_CSTRING_LITERALS:
  case S_4BYTE_LITERALS:
  case S_8BYTE_LITERALS:
  case S_16BYTE_LITERALS:
  case S_NON_LAZY_SYMBOL_POINTERS:
  case S_SYMBOL_STUBS:
    return true;
  case S_COALESCED: /* how to unwind what the compact form cannot tell */
    if (isNamed(section->sectname, "__eh_frame"))
      return true;
    break;
  case S_MOD_INIT_FUNC_POINTERS:
  case S_MOD_TERM_FUNC_POINTERS:
  case S_INIT_FUNC_OFFSETS:
    return refuse(image,
                  "section %.16s has initialisers, which a library of "
                  "kvc has none of",
                  section->sectname);
  }
  if (type >= S_THREAD_LOCAL_REGULAR &&
      type <= S_THREAD_LOCAL_INIT_FUNCTION_POINTERS)
    return refuse(image,
                  "section %.16s has thread-local storage, which a "
                  "library of kvc has none of",
                  section->sectname);
  return refuse(image,
                "section %.16s has type %#x, which this loader does not "
                "know",
                section->sectname, type);
}

static bool checkSection(image *image, const segment_command_64 *segment,
                         const section_64 *section) {
  if (strncmp(section->segname, segment->segname, 16) != 0)
    return refuse(image,
                  "section %.16s says that it is in %.16s and is in "
                  "%.16s",
                  section->sectname, section->segname, segment->segname);
  if (!checkType(image, section))
    return false;
  if (section->align > 14 ||
      section->addr & ((UINT64_C(1) << section->align) - 1))
    return refuse(image,
                  "section %.16s at %#llx is not aligned to 2^%u, or "
                  "that is more than a page",
                  section->sectname, (unsigned long long)section->addr,
                  section->align);
  const uint64_t inside = section->addr - segment->vmaddr;
  if (section->addr < segment->vmaddr ||
      !fits(segment->vmsize, inside, section->size, 1))
    return refuse(image, "section %.16s is not within its segment",
                  section->sectname);
  if (section->nreloc)
    return refuse(image, "section %.16s has relocations of an object file",
                  section->sectname);
  if ((section->flags & SECTION_TYPE) == S_ZEROFILL)
    return section->offset == 0 ||
           refuse(image, "section %.16s is zeros and has bytes of the file",
                  section->sectname);
  if (section->offset != segment->fileoff + inside ||
      !fits(segment->filesize, inside, section->size, 1))
    return refuse(image,
                  "section %.16s has bytes at %#x of the file, where "
                  "its address does not have them",
                  section->sectname, section->offset);
  return true;
}

static bool checkSections(image *image, const segment_command_64 *segment) {
  const section_64 *sections = (const void *)(segment + 1);
  for (uint32_t i = 0; i < segment->nsects; ++i)
    if (!checkSection(image, segment, &sections[i]))
      return false;
  for (uint32_t i = 1; i < segment->nsects; ++i)
    if (sections[i].addr < sections[i - 1].addr + sections[i - 1].size)
      return refuse(image, "section %.16s begins within the one before it",
                    sections[i].sectname);
  return true;
}

/*===- Segments
 * -------------------------------------------------------------===*/

static bool checkProtection(image *image, const segment_command_64 *segment) {
  static const struct {
    const char *name;
    uint32_t protection, flags;
  } known[] = {
      {"__TEXT", VM_PROT_READ | VM_PROT_EXECUTE, 0},
      {"__DATA_CONST", VM_PROT_READ | VM_PROT_WRITE, SG_READ_ONLY},
      {"__DATA", VM_PROT_READ | VM_PROT_WRITE, 0},
      {"__LINKEDIT", VM_PROT_READ, 0},
  };
  if (segment->initprot & ~segment->maxprot)
    return refuse(image, "segment %.16s begins with rights %u and may have %u",
                  segment->segname, segment->initprot, segment->maxprot);
  if ((segment->maxprot & VM_PROT_WRITE) &&
      (segment->maxprot & VM_PROT_EXECUTE))
    return refuse(image, "segment %.16s can be written and executed",
                  segment->segname);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    if (!isNamed(segment->segname, known[i].name))
      continue;
    if (segment->initprot != known[i].protection ||
        segment->maxprot != known[i].protection)
      return refuse(image, "segment %s has rights %u of at most %u, not %u",
                    known[i].name, segment->initprot, segment->maxprot,
                    known[i].protection);
    return segment->flags == known[i].flags ||
           refuse(image, "segment %s has flags %#x, not %#x", known[i].name,
                  segment->flags, known[i].flags);
  }
  return refuse(image, "segment %.16s is none that a library of kvc has",
                segment->segname);
}

static bool isAligned(uint64_t number) { return number % PAGE_SIZE_APPLE == 0; }

static bool checkPlace(image *image, const segment_command_64 *segment) {
  /* The linker leaves __LINKEDIT, which is last, as long as it is. */
  const bool whole = !isLinkEdit(segment);
  if (!isAligned(segment->vmaddr) || !isAligned(segment->fileoff) ||
      (whole && (!isAligned(segment->vmsize) || !isAligned(segment->filesize))))
    return refuse(image,
                  "segment %.16s does not begin and end at pages of 16 "
                  "KiB",
                  segment->segname);
  if (!segment->vmsize || !fits(longest, segment->vmaddr, segment->vmsize, 1))
    return refuse(image,
                  "segment %.16s has %llu bytes at %#llx of memory: "
                  "none, or beyond 1 GiB",
                  segment->segname, (unsigned long long)segment->vmsize,
                  (unsigned long long)segment->vmaddr);
  if (segment->filesize > segment->vmsize)
    return refuse(image,
                  "segment %.16s has more bytes in the file than in "
                  "memory",
                  segment->segname);
  return fits(image->size, segment->fileoff, segment->filesize, 1) ||
         refuse(image, "segment %.16s has %llu bytes at %#llx of a file of %zu",
                segment->segname, (unsigned long long)segment->filesize,
                (unsigned long long)segment->fileoff, image->size);
}

bool readSegment(image *image, const segment_command_64 *segment) {
  if (segment->cmdsize < sizeof *segment ||
      (segment->cmdsize - sizeof *segment) / sizeof(section_64) !=
          segment->nsects ||
      (segment->cmdsize - sizeof *segment) % sizeof(section_64))
    return refuse(image,
                  "an LC_SEGMENT_64 has %u bytes, which its sections do "
                  "not fill",
                  segment->cmdsize);
  if (image->segment_count == SEGMENTS)
    return refuse(image, "it has more than %d segments", SEGMENTS);
  for (unsigned i = 0; i < image->segment_count; ++i)
    if (strncmp(image->segments[i]->segname, segment->segname, 16) == 0)
      return refuse(image, "segment %.16s is there twice", segment->segname);
  image->segments[image->segment_count++] = segment;
  return checkProtection(image, segment) && checkPlace(image, segment) &&
         checkSections(image, segment);
}

/* In the order of their addresses, which is that of the file's bytes too. */
static bool checkOrder(image *image) {
  for (unsigned i = 1; i < image->segment_count; ++i) {
    const segment_command_64 *before = image->segments[i - 1],
                             *segment = image->segments[i];
    if (segment->vmaddr < before->vmaddr + before->vmsize)
      return refuse(image, "segment %.16s begins within %.16s, or before it",
                    segment->segname, before->segname);
    if (segment->fileoff < before->fileoff + before->filesize)
      return refuse(image, "segment %.16s has bytes of the file that %.16s has",
                    segment->segname, before->segname);
  }
  return true;
}

bool checkSegments(image *image) {
  if (!image->segment_count || !isNamed(image->segments[0]->segname, "__TEXT"))
    return refuse(image, "its first segment is not __TEXT");
  const segment_command_64 *text = image->segments[0];
  const segment_command_64 *last = image->segments[image->segment_count - 1];
  if (text->vmaddr || text->fileoff)
    return refuse(image, "__TEXT does not begin with the file at address 0");
  const uint64_t commands = sizeof(mach_header_64) + image->header->sizeofcmds;
  const section_64 *first = (const void *)(text + 1);
  if (commands > text->filesize || (text->nsects && commands > first->addr))
    return refuse(image, "its load commands reach beyond the begin of __TEXT");
  if (!checkOrder(image))
    return false;
  if (!isLinkEdit(last))
    return refuse(image, "its last segment is not __LINKEDIT");
  if (last->fileoff + last->filesize != image->size)
    return refuse(image, "the file has %zu bytes and __LINKEDIT ends at %llu",
                  image->size,
                  (unsigned long long)(last->fileoff + last->filesize));
  image->span = last->vmaddr + last->vmsize;
  return true;
}

bool isIn(const image *image, uint64_t address, uint64_t bytes,
          uint32_t protection) {
  for (unsigned i = 0; i < image->segment_count; ++i) {
    const segment_command_64 *segment = image->segments[i];
    if (address >= segment->vmaddr &&
        fits(segment->vmsize, address - segment->vmaddr, bytes, 1))
      return (segment->initprot & protection) == protection;
  }
  return false;
}
