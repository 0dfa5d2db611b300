//===- Save.cpp - a snapshot is written -------------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Snapshot.h"

namespace kvc::runtime {

namespace {

/// Bytes go out by blocks of this many.
constexpr int64_t blockBytes = 1 << 16;

class Writer {
public:
  Writer(kvc_write write, void *user, unsigned char *block)
      : write(write), user(user), block(block) {}

  void put(const void *bytes, int64_t count) {
    sum.add(bytes, count);
    store(bytes, count);
  }
  void put(uint64_t number) { put(&number, sizeof(number)); }
  /// Of what came since the last one.
  void putChecksum() {
    uint64_t value = sum.value();
    sum.restart();
    store(&value, sizeof(value));
  }
  bool flush() {
    if (!failed && used > 0)
      failed = write(user, block, static_cast<size_t>(used)) != 0;
    if (!failed)
      written += used;
    used = 0;
    return !failed;
  }

  bool failed = false;
  int64_t written = 0;

private:
  void store(const void *bytes, int64_t count) {
    const unsigned char *at = static_cast<const unsigned char *>(bytes);
    while (count > 0 && !failed) {
      int64_t room = blockBytes - used;
      int64_t now = count < room ? count : room;
      __builtin_memcpy(block + used, at, static_cast<size_t>(now));
      used += now;
      at += now;
      count -= now;
      if (used == blockBytes)
        flush();
    }
  }

  kvc_write write;
  void *user;
  unsigned char *block;
  int64_t used = 0;
  Checksum sum;
};

void putHeader(const kvc_cache &cache, Writer &writer) {
  int64_t length = lengthOf(kvc_generated.stored);
  Checksum hash;
  hash.add(kvc_generated.stored, length);
  writer.put(snapshotMagic, sizeof(snapshotMagic));
  writer.put(snapshotVersion | static_cast<uint64_t>(countOwners()) << 32);
  writer.put(static_cast<uint64_t>(cache.firstPosition));
  writer.put(hash.value());
  writer.put(static_cast<uint64_t>(length));
  writer.put(kvc_generated.stored, length);
  for (int64_t layer = 0; layer < kvc_generated.layers; ++layer)
    if (!isReader(layer))
      writer.put(static_cast<uint64_t>(cache.layers[layer].seen));
  writer.putChecksum();
}

/// `count` elements of `bits` bits each, from the lowest bit on.
void pack(const uint32_t *elements, int64_t count, int64_t bits,
          unsigned char *bytes) {
  uint64_t rest = 0;
  int64_t held = 0;
  for (int64_t i = 0; i < count; ++i) {
    rest |= uint64_t{elements[i]} << held;
    for (held += bits; held >= 8; held -= 8, rest >>= 8)
      *bytes++ = static_cast<unsigned char>(rest);
  }
  if (held > 0)
    *bytes = static_cast<unsigned char>(rest);
}

void putPart(const LayerCache &store, const SnapshotPart &part,
             RowBuffers &rows, Writer &writer) {
  for (int64_t t = part.tokens.begin; t < part.tokens.end && !writer.failed;
       ++t) {
    part.shape->save(&store.view, t, rows.elements, rows.pairs);
    if (part.hasPairs(t))
      writer.put(rows.pairs, part.pairBytes());
    pack(rows.elements, part.elements(), part.shape->bits, rows.bytes);
    writer.put(rows.bytes, part.rowBytes());
  }
  writer.putChecksum();
}

} // namespace

kvc_status saveTo(kvc_cache *cache, kvc_write write, void *user) {
  if (!cache)
    return refuseNull("cache");
  cache->error[0] = '\0';
  if (!write) {
    beginError(*cache) << "write is null";
    return KVC_INVALID_ARGUMENT;
  }
  RowBuffers rows = {};
  void *block = cache->memory.table(blockBytes, 1);
  kvc_status status = KVC_OUT_OF_MEMORY;
  if (block && rows.open(cache->memory)) {
    Writer writer(write, user, static_cast<unsigned char *>(block));
    putHeader(*cache, writer);
    forSnapshotParts([&](int64_t layer, int64_t stream) {
      const LayerCache &store = cache->layers[layer];
      putPart(store, SnapshotPart(layer, stream, store.seen), rows, writer);
      return writer.failed ? KVC_IO : KVC_OK;
    });
    status = writer.flush() ? KVC_OK : KVC_IO;
    if (status != KVC_OK)
      beginError(*cache) << "the snapshot cannot be written beyond "
                         << writer.written << " bytes";
  } else {
    beginError(*cache) << "no memory to save with";
  }
  rows.close(cache->memory);
  cache->memory.give(block);
  return status;
}

} // namespace kvc::runtime
