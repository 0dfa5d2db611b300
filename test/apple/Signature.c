/*===- Signature.c - the code signature of a dylib --------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * An ad-hoc signature: hashes of the file's pages and no certificate. Apple's
 * kernel ends a process at the first page whose hash is another.
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Image.h"
#include "test/apple/Sha256.h"

#include <string.h>

static uint32_t big32(const void *from) {
  const uint8_t *b = from;
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 |
         b[3];
}

static uint64_t big64(const void *from) {
  return (uint64_t)big32(from) << 32 | big32((const uint8_t *)from + 4);
}

/* A member of a struct whose bytes may be anywhere and are big-endian. */
#define BIG32(bytes, type, member) big32((bytes) + offsetof(type, member))
#define BIG64(bytes, type, member) big64((bytes) + offsetof(type, member))

/* The code directory, which has to be the only part. */
static bool findDirectory(image *image, span all, span *directory) {
  if (all.size < sizeof(CS_SuperBlob) + sizeof(CS_BlobIndex))
    return refuse(image, "code signature: it has %zu bytes", all.size);
  if (BIG32(all.bytes, CS_SuperBlob, magic) != CSMAGIC_EMBEDDED_SIGNATURE)
    return refuse(image, "code signature: it begins with %#x, not %#x",
                  BIG32(all.bytes, CS_SuperBlob, magic),
                  (unsigned)CSMAGIC_EMBEDDED_SIGNATURE);
  const uint32_t length = BIG32(all.bytes, CS_SuperBlob, length);
  const uint32_t count = BIG32(all.bytes, CS_SuperBlob, count);
  if (length > all.size || length < sizeof(CS_SuperBlob))
    return refuse(image, "code signature: it says %u bytes of %zu", length,
                  all.size);
  const uint8_t *index = all.bytes + sizeof(CS_SuperBlob);
  if (count != 1 || BIG32(index, CS_BlobIndex, type) != CSSLOT_CODEDIRECTORY)
    return refuse(image,
                  "code signature: it has %u parts, the first of type "
                  "%#x; an ad-hoc one of a linker has a code directory "
                  "alone",
                  count, BIG32(index, CS_BlobIndex, type));
  const uint32_t offset = BIG32(index, CS_BlobIndex, offset);
  if (offset < sizeof(CS_SuperBlob) + sizeof(CS_BlobIndex) ||
      !fits(length, offset, 1, sizeof(CS_CodeDirectory)))
    return refuse(image, "code directory: at %u of %u bytes", offset, length);
  const uint8_t *bytes = all.bytes + offset;
  const uint32_t size = BIG32(bytes, CS_CodeDirectory, length);
  if (BIG32(bytes, CS_CodeDirectory, magic) != CSMAGIC_CODEDIRECTORY)
    return refuse(image, "code directory: it begins with %#x, not %#x",
                  BIG32(bytes, CS_CodeDirectory, magic),
                  (unsigned)CSMAGIC_CODEDIRECTORY);
  if (size < sizeof(CS_CodeDirectory) || size > length - offset)
    return refuse(image, "code directory: it says %u bytes of %u", size,
                  length - offset);
  *directory = (span){bytes, size};
  return true;
}

static bool checkKind(image *image, span directory) {
  const uint8_t *d = directory.bytes;
  const uint32_t version = BIG32(d, CS_CodeDirectory, version);
  const uint32_t flags = BIG32(d, CS_CodeDirectory, flags);
  if (version != CS_SUPPORTSEXECSEG)
    return refuse(image, "code directory: its version is %#x, not %#x", version,
                  CS_SUPPORTSEXECSEG);
  if (!(flags & CS_ADHOC) || flags & ~(uint32_t)(CS_ADHOC | CS_LINKER_SIGNED))
    return refuse(image, "code directory: its flags are %#x, not ad hoc",
                  flags);
  const CS_CodeDirectory *plain = (const void *)d; /* bytes alone are read */
  if (plain->hashType != CS_HASHTYPE_SHA256 || plain->hashSize != SHA256_BYTES)
    return refuse(image,
                  "code directory: its hashes have type %u and %u bytes,"
                  " not SHA-256",
                  plain->hashType, plain->hashSize);
  if (plain->pageSize != 12 && plain->pageSize != 14)
    return refuse(image,
                  "code directory: its pages have 2^%u bytes, not 4 or "
                  "16 KiB",
                  plain->pageSize);
  if (plain->platform || BIG32(d, CS_CodeDirectory, nSpecialSlots) ||
      BIG32(d, CS_CodeDirectory, scatterOffset) ||
      BIG32(d, CS_CodeDirectory, teamOffset) ||
      BIG64(d, CS_CodeDirectory, codeLimit64))
    return refuse(image, "code directory: it has what an ad-hoc one of a linker"
                         " has not: a platform, a team, special slots");
  const char *identifier =
      textAt(directory, BIG32(d, CS_CodeDirectory, identOffset));
  return (identifier && *identifier) ||
         refuse(image, "code directory: it has no identifier");
}

static bool checkHashes(image *image, span directory, uint64_t limit) {
  const uint8_t *d = directory.bytes;
  const uint64_t page = UINT64_C(1) << d[offsetof(CS_CodeDirectory, pageSize)];
  const uint32_t slots = BIG32(d, CS_CodeDirectory, nCodeSlots);
  const uint32_t offset = BIG32(d, CS_CodeDirectory, hashOffset);
  if (slots != (limit + page - 1) / page)
    return refuse(image,
                  "code directory: it has %u hashes for %llu bytes in "
                  "pages of %llu",
                  slots, (unsigned long long)limit, (unsigned long long)page);
  if (!fits(directory.size, offset, slots, SHA256_BYTES))
    return refuse(image,
                  "code directory: its %u hashes at %u are beyond its "
                  "%zu bytes",
                  slots, offset, directory.size);
  for (uint32_t i = 0; i < slots; ++i) {
    const uint64_t at = i * page;
    uint8_t hash[SHA256_BYTES];
    sha256(image->bytes + at, limit - at < page ? limit - at : page, hash);
    if (memcmp(hash, d + offset + i * SHA256_BYTES, sizeof hash) != 0)
      return refuse(image,
                    "code signature: the page at %#llx is not what was "
                    "signed",
                    (unsigned long long)at);
  }
  return true;
}

bool checkSignature(image *image) {
  const span all = dataOf(image, ONCE_SIGNATURE);
  const uint64_t begin = (uint64_t)(all.bytes - image->bytes);
  if (begin + all.size != image->size)
    return refuse(image,
                  "code signature: %zu bytes at %#llx do not end the "
                  "file of %zu",
                  all.size, (unsigned long long)begin, image->size);
  span directory;
  if (!findDirectory(image, all, &directory) || !checkKind(image, directory))
    return false;
  const uint8_t *d = directory.bytes;
  const uint32_t limit = BIG32(d, CS_CodeDirectory, codeLimit);
  if (limit != begin)
    return refuse(image,
                  "code directory: it signs %u bytes, not the %llu "
                  "before the signature",
                  limit, (unsigned long long)begin);
  const segment_command_64 *text = image->segments[0];
  if (BIG64(d, CS_CodeDirectory, execSegBase) != text->fileoff ||
      BIG64(d, CS_CodeDirectory, execSegLimit) != text->filesize ||
      BIG64(d, CS_CodeDirectory, execSegFlags))
    return refuse(image, "code directory: what it says to be code is not "
                         "__TEXT, or it is a main program's");
  return checkHashes(image, directory, limit);
}
