/*===- MachO.h - the parts of Mach-O that a dylib of kvc has --------*- C -*-===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * Numbers and layouts as in Apple's <mach-o/loader.h>, <mach-o/nlist.h>,
 * <mach-o/fixup-chains.h> and XNU's <kern/cs_blobs.h>, under their names there.
 * All is little-endian, except code signatures, which are big-endian.
 *
 *===------------------------------------------------------------------------===*/

#ifndef KVC_TEST_APPLE_MACHO_H
#define KVC_TEST_APPLE_MACHO_H

#include <stdint.h>

enum { PAGE_SIZE_APPLE = 0x4000 }; /* of macOS on arm64 */

/*===- Header
 * ---------------------------------------------------------------===*/

enum {
  MH_MAGIC_64 = 0xfeedfacf,
  CPU_TYPE_ARM64 = 0x0100000c,
  CPU_SUBTYPE_ARM64_ALL = 0,
  MH_DYLIB = 6,
};

enum {
  MH_NOUNDEFS = 0x1,
  MH_DYLDLINK = 0x4,
  MH_TWOLEVEL = 0x80,
  MH_NO_REEXPORTED_DYLIBS = 0x100000,
  MH_HAS_TLV_DESCRIPTORS = 0x800000,
};

typedef struct mach_header_64 {
  uint32_t magic, cputype, cpusubtype, filetype, ncmds, sizeofcmds, flags,
      reserved;
} mach_header_64;

/*===- Load commands
 * --------------------------------------------------------===*/

enum {
  LC_SYMTAB = 0x2,
  LC_DYSYMTAB = 0xb,
  LC_LOAD_DYLIB = 0xc,
  LC_ID_DYLIB = 0xd,
  LC_SEGMENT_64 = 0x19,
  LC_UUID = 0x1b,
  LC_CODE_SIGNATURE = 0x1d,
  LC_FUNCTION_STARTS = 0x26,
  LC_DATA_IN_CODE = 0x29,
  LC_SOURCE_VERSION = 0x2a,
  LC_BUILD_VERSION = 0x32,
};
/* LC_REQ_DYLD is in these: dyld must know them. */
#define LC_DYLD_EXPORTS_TRIE 0x80000033u
#define LC_DYLD_CHAINED_FIXUPS 0x80000034u

typedef struct load_command {
  uint32_t cmd, cmdsize;
} load_command;

enum { VM_PROT_READ = 1, VM_PROT_WRITE = 2, VM_PROT_EXECUTE = 4 };
enum { SG_READ_ONLY = 0x10 };

typedef struct segment_command_64 {
  uint32_t cmd, cmdsize;
  char segname[16];
  uint64_t vmaddr, vmsize, fileoff, filesize;
  uint32_t maxprot, initprot, nsects, flags;
} segment_command_64;

typedef struct section_64 {
  char sectname[16], segname[16];
  uint64_t addr, size;
  uint32_t offset, align, reloff, nreloc, flags, reserved1, reserved2,
      reserved3;
} section_64;

enum {
  SECTION_TYPE = 0xff,
  S_REGULAR = 0,
  S_ZEROFILL = 1,
  S_CSTRING_LITERALS = 2,
  S_4BYTE_LITERALS = 3,
  S_8BYTE_LITERALS = 4,
  S_NON_LAZY_SYMBOL_POINTERS = 6,
  S_SYMBOL_STUBS = 8,
  S_MOD_INIT_FUNC_POINTERS = 9,
  S_MOD_TERM_FUNC_POINTERS = 10,
  S_COALESCED = 11,
  S_16BYTE_LITERALS = 14,
  S_THREAD_LOCAL_REGULAR = 0x11,
  S_THREAD_LOCAL_INIT_FUNCTION_POINTERS = 0x15,
  S_INIT_FUNC_OFFSETS = 0x16,
};

typedef struct dylib_command {
  uint32_t cmd, cmdsize, name, timestamp, current_version,
      compatibility_version;
} dylib_command;

enum { PLATFORM_MACOS = 1 };

typedef struct build_version_command {
  uint32_t cmd, cmdsize, platform, minos, sdk, ntools; /* 8 bytes a tool */
} build_version_command;

typedef struct symtab_command {
  uint32_t cmd, cmdsize, symoff, nsyms, stroff, strsize;
} symtab_command;

typedef struct dysymtab_command {
  uint32_t cmd, cmdsize, ilocalsym, nlocalsym, iextdefsym, nextdefsym,
      iundefsym, nundefsym, tocoff, ntoc, modtaboff, nmodtab, extrefsymoff,
      nextrefsyms, indirectsymoff, nindirectsyms, extreloff, nextrel, locreloff,
      nlocrel;
} dysymtab_command;

typedef struct nlist_64 {
  uint32_t n_strx;
  uint8_t n_type, n_sect;
  uint16_t n_desc;
  uint64_t n_value;
} nlist_64;

/* A piece of __LINKEDIT. */
typedef struct linkedit_data_command {
  uint32_t cmd, cmdsize, dataoff, datasize;
} linkedit_data_command;

typedef struct data_in_code_entry {
  uint32_t offset;
  uint16_t length, kind;
} data_in_code_entry;

/*===- Chained fixups
 * -------------------------------------------------------===*/

typedef struct dyld_chained_fixups_header {
  uint32_t fixups_version, starts_offset, imports_offset, symbols_offset,
      imports_count, imports_format, symbols_format;
} dyld_chained_fixups_header;

enum { DYLD_CHAINED_IMPORT = 1 };
enum { DYLD_CHAINED_PTR_64 = 2, DYLD_CHAINED_PTR_64_OFFSET = 6 };
enum { DYLD_CHAINED_PTR_START_NONE = 0xffff };

/* Followed by page_count uint16_t; 22 bytes, unlike its sizeof. */
typedef struct dyld_chained_starts_in_segment {
  uint32_t size;
  uint16_t page_size, pointer_format;
  uint64_t segment_offset;
  uint32_t max_valid_pointer;
  uint16_t page_count;
} dyld_chained_starts_in_segment;
enum { STARTS_IN_SEGMENT_BYTES = 22 };

/*===- Exports
 * --------------------------------------------------------------===*/

enum { EXPORT_SYMBOL_FLAGS_KIND_REGULAR = 0 };

/*===- Code signature
 * -------------------------------------------------------===*/

enum {
  CSMAGIC_EMBEDDED_SIGNATURE = 0xfade0cc0,
  CSMAGIC_CODEDIRECTORY = 0xfade0c02,
  CSSLOT_CODEDIRECTORY = 0,
  CS_ADHOC = 0x2,
  CS_LINKER_SIGNED = 0x20000,
  CS_HASHTYPE_SHA256 = 2,
  CS_SUPPORTSEXECSEG = 0x20400, /* the version with execSeg* */
};

typedef struct CS_SuperBlob {
  uint32_t magic, length, count; /* and CS_BlobIndex[count] */
} CS_SuperBlob;

typedef struct CS_BlobIndex {
  uint32_t type, offset;
} CS_BlobIndex;

typedef struct CS_CodeDirectory {
  uint32_t magic, length, version, flags, hashOffset, identOffset,
      nSpecialSlots, nCodeSlots, codeLimit;
  uint8_t hashSize, hashType, platform, pageSize; /* 2 to that power */
  uint32_t spare2, scatterOffset, teamOffset, spare3;
  uint64_t codeLimit64, execSegBase, execSegLimit, execSegFlags;
} CS_CodeDirectory;

#endif /* KVC_TEST_APPLE_MACHO_H */
