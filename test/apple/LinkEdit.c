/*===- LinkEdit.c - what __LINKEDIT of a dylib has --------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * That each piece lies where it may, and what is in those that nothing else
 * here reads: symbols and starts of functions, which serve debuggers and
 * profilers there.
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Image.h"

#include <string.h>

span dataOf(const image *image, once which) {
  const linkedit_data_command *command = (const void *)image->commands[which];
  if (!command)
    return (span){NULL, 0};
  return (span){image->bytes + command->dataoff, command->datasize};
}

const char *textAt(span bytes, uint64_t offset) {
  if (offset >= bytes.size ||
      !memchr(bytes.bytes + offset, 0, bytes.size - offset))
    return NULL;
  return (const char *)bytes.bytes + offset;
}

bool readUleb(span bytes, size_t *at, uint64_t *value) {
  *value = 0;
  for (unsigned shift = 0; *at < bytes.size && shift < 64; shift += 7) {
    const uint64_t byte = bytes.bytes[(*at)++];
    const uint64_t part = (byte & 0x7f) << shift;
    if (part >> shift != (byte & 0x7f))
      return false;
    *value |= part;
    if (!(byte & 0x80))
      return true;
  }
  return false;
}

/*===- Pieces
 * ---------------------------------------------------------------===*/

typedef struct piece {
  const char *name;
  uint64_t offset, count, size, alignment;
} piece;

static piece dataPiece(const image *image, once which, const char *name,
                       uint64_t alignment) {
  const linkedit_data_command *command = (const void *)image->commands[which];
  if (!command)
    return (piece){name, 0, 0, 1, 1};
  return (piece){name, command->dataoff, command->datasize, 1, alignment};
}

static bool checkPieces(image *image, const piece *pieces, unsigned count) {
  const segment_command_64 *place = image->segments[image->segment_count - 1];
  for (unsigned i = 0; i < count; ++i) {
    const piece *one = &pieces[i];
    if (!one->count && one->offset <= image->size)
      continue;
    if (one->offset < place->fileoff ||
        !fits(image->size, one->offset, one->count, one->size))
      return refuse(image,
                    "%s: %llu of %llu bytes at %#llx are not within "
                    "__LINKEDIT",
                    one->name, (unsigned long long)one->count,
                    (unsigned long long)one->size,
                    (unsigned long long)one->offset);
    if (one->offset % one->alignment)
      return refuse(image, "%s at %#llx are not aligned to %llu bytes",
                    one->name, (unsigned long long)one->offset,
                    (unsigned long long)one->alignment);
    for (unsigned j = 0; j < i; ++j)
      if (pieces[j].count &&
          one->offset < pieces[j].offset + pieces[j].count * pieces[j].size &&
          pieces[j].offset < one->offset + one->count * one->size)
        return refuse(image, "%s and %s share bytes", pieces[j].name,
                      one->name);
  }
  return true;
}

/*===- Symbols
 * --------------------------------------------------------------===*/

static unsigned sectionCount(const image *image) {
  unsigned count = 0;
  for (unsigned i = 0; i < image->segment_count; ++i)
    count += image->segments[i]->nsects;
  return count;
}

static bool checkSymbols(image *image) {
  const symtab_command *symtab = (const void *)image->commands[ONCE_SYMTAB];
  const span names = {image->bytes + symtab->stroff, symtab->strsize};
  const unsigned sections = sectionCount(image);
  for (uint32_t i = 0; i < symtab->nsyms; ++i) {
    nlist_64 symbol;
    memcpy(&symbol, image->bytes + symtab->symoff + i * sizeof symbol,
           sizeof symbol);
    const char *name = textAt(names, symbol.n_strx);
    if (!name)
      return refuse(image, "symbol %u has a name at %u of %u bytes of names", i,
                    symbol.n_strx, symtab->strsize);
    const bool defined = (symbol.n_type & 0x0e) == 0x0e; /* N_SECT */
    if (defined && (!symbol.n_sect || symbol.n_sect > sections ||
                    !isIn(image, symbol.n_value, 0, 0)))
      return refuse(image, "symbol '%.100s' is at %#llx of section %u of %u",
                    name, (unsigned long long)symbol.n_value, symbol.n_sect,
                    sections);
  }
  return true;
}

static bool checkSymbolRanges(image *image) {
  const symtab_command *symtab = (const void *)image->commands[ONCE_SYMTAB];
  const dysymtab_command *ranges = (const void *)image->commands[ONCE_DYSYMTAB];
  if (!fits(symtab->nsyms, ranges->ilocalsym, ranges->nlocalsym, 1) ||
      !fits(symtab->nsyms, ranges->iextdefsym, ranges->nextdefsym, 1) ||
      !fits(symtab->nsyms, ranges->iundefsym, ranges->nundefsym, 1))
    return refuse(image,
                  "LC_DYSYMTAB names symbols beyond the %u that there "
                  "are",
                  symtab->nsyms);
  if (ranges->tocoff || ranges->ntoc || ranges->modtaboff || ranges->nmodtab ||
      ranges->extrefsymoff || ranges->nextrefsyms || ranges->extreloff ||
      ranges->nextrel || ranges->locreloff || ranges->nlocrel)
    return refuse(image, "LC_DYSYMTAB has modules or relocations, which a "
                         "library with chained fixups has none of");
  enum {
    NONE = 0x40000000
  }; /* INDIRECT_SYMBOL_ABS, and with the bit above it
        INDIRECT_SYMBOL_LOCAL */
  for (uint32_t i = 0; i < ranges->nindirectsyms; ++i) {
    uint32_t symbol;
    memcpy(&symbol, image->bytes + ranges->indirectsymoff + i * sizeof symbol,
           sizeof symbol);
    if (symbol >= symtab->nsyms && symbol < NONE)
      return refuse(image, "indirect symbol %u is symbol %u of %u", i, symbol,
                    symtab->nsyms);
  }
  return true;
}

/* Stubs and pointers say which symbol each of them is. */
static bool checkIndirect(image *image, const section_64 *section) {
  const dysymtab_command *ranges = (const void *)image->commands[ONCE_DYSYMTAB];
  const uint32_t type = section->flags & SECTION_TYPE;
  if (type != S_SYMBOL_STUBS && type != S_NON_LAZY_SYMBOL_POINTERS)
    return true;
  const uint64_t each = type == S_SYMBOL_STUBS ? section->reserved2 : 8;
  return (each && section->size % each == 0 &&
          fits(ranges->nindirectsyms, section->reserved1, section->size / each,
               1)) ||
         refuse(image,
                "section %.16s of %llu bytes, %llu each, names indirect "
                "symbols from %u of %u",
                section->sectname, (unsigned long long)section->size,
                (unsigned long long)each, section->reserved1,
                ranges->nindirectsyms);
}

/*===- Code
 * -----------------------------------------------------------------===*/

/* Distances from one function to the next, 0 at the end. */
static bool checkFunctionStarts(image *image) {
  const span starts = dataOf(image, ONCE_STARTS);
  uint64_t address = 0, step = 0;
  for (size_t at = 0; at < starts.size; address += step) {
    if (!readUleb(starts, &at, &step))
      return refuse(image, "LC_FUNCTION_STARTS: a number does not end");
    if (!step)
      break;
    if (step > image->span || !isIn(image, address + step, 4, VM_PROT_EXECUTE))
      return refuse(image,
                    "LC_FUNCTION_STARTS: a function %#llx behind %#llx "
                    "is in no code",
                    (unsigned long long)step, (unsigned long long)address);
  }
  return true;
}

static bool checkDataInCode(image *image) {
  const span entries = dataOf(image, ONCE_DATA_IN_CODE);
  if (entries.size % sizeof(data_in_code_entry))
    return refuse(image, "LC_DATA_IN_CODE has %zu bytes, not a multiple of 8",
                  entries.size);
  for (size_t at = 0; at < entries.size; at += sizeof(data_in_code_entry)) {
    data_in_code_entry entry;
    memcpy(&entry, entries.bytes + at, sizeof entry);
    if (!isIn(image, entry.offset, entry.length, VM_PROT_EXECUTE))
      return refuse(image, "LC_DATA_IN_CODE: %u bytes at %#x are in no code",
                    entry.length, entry.offset);
  }
  return true;
}

/*===- All of it
 * ------------------------------------------------------------===*/

bool checkLinkEdit(image *image) {
  const symtab_command *symtab = (const void *)image->commands[ONCE_SYMTAB];
  const dysymtab_command *ranges = (const void *)image->commands[ONCE_DYSYMTAB];
  const piece pieces[] = {
      dataPiece(image, ONCE_FIXUPS, "LC_DYLD_CHAINED_FIXUPS", 8),
      dataPiece(image, ONCE_EXPORTS, "LC_DYLD_EXPORTS_TRIE", 8),
      dataPiece(image, ONCE_STARTS, "LC_FUNCTION_STARTS", 8),
      dataPiece(image, ONCE_DATA_IN_CODE, "LC_DATA_IN_CODE", 8),
      dataPiece(image, ONCE_SIGNATURE, "LC_CODE_SIGNATURE", 16),
      {"LC_SYMTAB: symbols", symtab->symoff, symtab->nsyms, sizeof(nlist_64),
       8},
      {"LC_SYMTAB: names", symtab->stroff, symtab->strsize, 1, 1},
      {"LC_DYSYMTAB: indirect symbols", ranges->indirectsymoff,
       ranges->nindirectsyms, 4, 4},
  };
  if (!checkPieces(image, pieces, sizeof pieces / sizeof pieces[0]))
    return false;
  if (!checkSymbols(image) || !checkSymbolRanges(image))
    return false;
  for (unsigned i = 0; i < image->segment_count; ++i) {
    const segment_command_64 *segment = image->segments[i];
    const section_64 *sections = (const void *)(segment + 1);
    for (uint32_t j = 0; j < segment->nsects; ++j)
      if (!checkIndirect(image, &sections[j]))
        return false;
  }
  return checkFunctionStarts(image) && checkDataInCode(image);
}
