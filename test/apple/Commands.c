/*===- Commands.c - header and load commands of a dylib ---------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Image.h"

#include <string.h>

static bool readHeader(image *image) {
  if (image->size < sizeof(mach_header_64))
    return refuse(image, "it has %zu bytes, a Mach-O header has %zu",
                  image->size, sizeof(mach_header_64));
  const mach_header_64 *header = image->header = (const void *)image->bytes;
  if (header->magic != MH_MAGIC_64)
    return refuse(image, "it begins with %#x, a 64-bit Mach-O file with %#x",
                  header->magic, (unsigned)MH_MAGIC_64);
  if (header->cputype != CPU_TYPE_ARM64)
    return refuse(image, "its CPU type is %#x, arm64 is %#x", header->cputype,
                  CPU_TYPE_ARM64);
  /* 2 is arm64e, whose pointers are signed. */
  if (header->cpusubtype != CPU_SUBTYPE_ARM64_ALL)
    return refuse(image, "its CPU subtype is %#x, arm64 for all is 0",
                  header->cpusubtype);
  if (header->filetype != MH_DYLIB)
    return refuse(image, "its file type is %u, a dylib is %u", header->filetype,
                  MH_DYLIB);
  const uint32_t wanted = MH_DYLDLINK | MH_TWOLEVEL;
  if ((header->flags & wanted) != wanted)
    return refuse(image, "its flags %#x lack MH_DYLDLINK or MH_TWOLEVEL",
                  header->flags);
  if (header->flags & MH_HAS_TLV_DESCRIPTORS)
    return refuse(image,
                  "its flags %#x say that it has thread-local storage, "
                  "which a library of kvc has none of",
                  header->flags);
  const uint32_t unknown =
      header->flags & ~(wanted | MH_NOUNDEFS | MH_NO_REEXPORTED_DYLIBS);
  if (unknown)
    return refuse(image, "its flags have %#x, which this loader does not know",
                  unknown);
  if (header->reserved)
    return refuse(image, "the reserved word of its header is %#x, not 0",
                  header->reserved);
  if (!fits(image->size, sizeof *header, header->sizeofcmds, 1))
    return refuse(image, "its load commands have %u bytes, the file %zu",
                  header->sizeofcmds, image->size);
  return true;
}

static bool checkSize(image *image, const load_command *command, unsigned which,
                      size_t size) {
  return command->cmdsize == size ||
         refuse(image, "load command %u (%#x) has %u bytes, not %zu", which,
                command->cmd, command->cmdsize, size);
}

/* The path of a dylib, which is in the command, behind its numbers. */
static const char *dylibName(image *image, const dylib_command *command,
                             unsigned which) {
  const span bytes = {(const uint8_t *)command, command->cmdsize};
  const char *name =
      command->cmdsize >= sizeof *command && command->name >= sizeof *command
          ? textAt(bytes, command->name)
          : NULL;
  if (!name)
    refuse(image, "load command %u (%#x) has no name that ends within it",
           which, command->cmd);
  return name;
}

static bool checkId(image *image, const load_command *command, unsigned which) {
  const char *name = dylibName(image, (const dylib_command *)command, which);
  if (!name)
    return false;
  return (strncmp(name, "@rpath/", 7) == 0 && name[7]) ||
         refuse(image, "its install name '%.100s' is not @rpath/ and a name",
                name);
}

static bool checkLoad(image *image, const load_command *command,
                      unsigned which) {
  const char *name = dylibName(image, (const dylib_command *)command, which);
  if (!name)
    return false;
  return strcmp(name, "/usr/lib/libSystem.B.dylib") == 0 ||
         refuse(image,
                "it needs '%.100s'; a library of kvc needs "
                "/usr/lib/libSystem.B.dylib alone",
                name);
}

static bool checkBuild(image *image, const load_command *command,
                       unsigned which) {
  const build_version_command *build = (const void *)command;
  if (command->cmdsize < sizeof *build ||
      !fits(command->cmdsize, sizeof *build, build->ntools, 8))
    return refuse(image, "load command %u, LC_BUILD_VERSION, has %u bytes",
                  which, command->cmdsize);
  if (command->cmdsize != sizeof *build + 8 * build->ntools)
    return refuse(image,
                  "load command %u, LC_BUILD_VERSION, has %u bytes for %u "
                  "tools",
                  which, command->cmdsize, build->ntools);
  if (build->platform != PLATFORM_MACOS)
    return refuse(image, "it is for platform %u, macOS is %u", build->platform,
                  PLATFORM_MACOS);
  const uint32_t latest = 13u << 16; /* 13.0.0, as bytes */
  return build->minos <= latest ||
         refuse(image, "it wants macOS %u.%u.%u, kvc promises 13.0",
                build->minos >> 16, build->minos >> 8 & 0xff,
                build->minos & 0xff);
}

/* Any identifier but zeros, which is none. */
static bool checkUuid(image *image, const load_command *command,
                      unsigned which) {
  static const uint8_t none[16];
  return checkSize(image, command, which, sizeof *command + sizeof none) &&
         (memcmp(command + 1, none, sizeof none) != 0 ||
          refuse(image, "its UUID is zeros"));
}

static bool checkSymtab(image *image, const load_command *command,
                        unsigned which) {
  return checkSize(image, command, which, sizeof(symtab_command));
}

static bool checkDysymtab(image *image, const load_command *command,
                          unsigned which) {
  return checkSize(image, command, which, sizeof(dysymtab_command));
}

static bool checkData(image *image, const load_command *command,
                      unsigned which) {
  return checkSize(image, command, which, sizeof(linkedit_data_command));
}

static bool checkSourceVersion(image *image, const load_command *command,
                               unsigned which) {
  return checkSize(image, command, which, 16);
}

/* Of each of these there is at most one, and one where it says so. */
static const struct {
  const char *name;
  uint32_t cmd;
  once which;
  bool optional;
  bool (*check)(image *, const load_command *, unsigned);
} known[] = {
    {"LC_SYMTAB", LC_SYMTAB, ONCE_SYMTAB, false, checkSymtab},
    {"LC_DYSYMTAB", LC_DYSYMTAB, ONCE_DYSYMTAB, false, checkDysymtab},
    {"LC_ID_DYLIB", LC_ID_DYLIB, ONCE_ID, false, checkId},
    {"LC_LOAD_DYLIB", LC_LOAD_DYLIB, ONCE_LOAD, false, checkLoad},
    {"LC_UUID", LC_UUID, ONCE_UUID, false, checkUuid},
    {"LC_BUILD_VERSION", LC_BUILD_VERSION, ONCE_BUILD, false, checkBuild},
    {"LC_DYLD_CHAINED_FIXUPS", LC_DYLD_CHAINED_FIXUPS, ONCE_FIXUPS, false,
     checkData},
    {"LC_DYLD_EXPORTS_TRIE", LC_DYLD_EXPORTS_TRIE, ONCE_EXPORTS, false,
     checkData},
    {"LC_FUNCTION_STARTS", LC_FUNCTION_STARTS, ONCE_STARTS, true, checkData},
    {"LC_DATA_IN_CODE", LC_DATA_IN_CODE, ONCE_DATA_IN_CODE, true, checkData},
    {"LC_CODE_SIGNATURE", LC_CODE_SIGNATURE, ONCE_SIGNATURE, false, checkData},
    {"LC_SOURCE_VERSION", LC_SOURCE_VERSION, ONCE_SOURCE_VERSION, true,
     checkSourceVersion},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static bool readCommand(image *image, const load_command *command,
                        unsigned which) {
  if (command->cmd == LC_SEGMENT_64)
    return readSegment(image, (const void *)command);
  for (unsigned i = 0; i < KNOWN; ++i) {
    if (known[i].cmd != command->cmd)
      continue;
    const load_command **place = &image->commands[known[i].which];
    if (*place)
      return refuse(image, "load command %u is a second %s", which,
                    known[i].name);
    *place = command;
    return known[i].check(image, command, which);
  }
  return refuse(image,
                "load command %u is %#x, which this loader does not "
                "know",
                which, command->cmd);
}

bool readCommands(image *image) {
  if (!readHeader(image))
    return false;
  const uint64_t end = sizeof(mach_header_64) + image->header->sizeofcmds;
  uint64_t at = sizeof(mach_header_64);
  for (unsigned i = 0; i < image->header->ncmds; ++i) {
    const load_command *command = (const void *)(image->bytes + at);
    if (!fits(end, at, 1, sizeof *command))
      return refuse(image, "load command %u begins at the end of all of them",
                    i);
    if (command->cmdsize < sizeof *command || command->cmdsize % 8 ||
        !fits(end, at, command->cmdsize, 1))
      return refuse(image,
                    "load command %u (%#x) has %u bytes: not at least 8, not a "
                    "multiple of 8, or beyond the end of all of them",
                    i, command->cmd, command->cmdsize);
    if (!readCommand(image, command, i))
      return false;
    at += command->cmdsize;
  }
  if (at != end)
    return refuse(image,
                  "its %u load commands have %zu bytes, the header "
                  "says %u",
                  image->header->ncmds, (size_t)(at - sizeof(mach_header_64)),
                  image->header->sizeofcmds);
  for (unsigned i = 0; i < KNOWN; ++i)
    if (!known[i].optional && !image->commands[known[i].which])
      return refuse(image, "it has no %s", known[i].name);
  return checkSegments(image) && checkLinkEdit(image);
}
