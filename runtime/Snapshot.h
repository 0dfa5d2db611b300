//===- Snapshot.h - what is stored, as a stream of bytes --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A snapshot is canonical: the same tokens give the same bytes, whatever the
// layout, the target and the calls that brought them were. Numbers are little
// endian.
//
//   header   "kvcache" and a zero byte; version (4 bytes), owners (4);
//            first position (8); hash of the text (8); bytes of the text (8);
//            the text: what changes stored values (kvc_gen_model.stored);
//            of each owner, the layers that store, its length (8); checksum (8)
//   streams  of each owner, of each of its streams but codes that are made
//            anew: of each token that is stored, in ascending order,
//              the pairs of its block (pair_words words a head), if it is the
//              block's first token that is stored;
//              its elements [kv_heads, channels], packed from the lowest bit
//              on, to whole bytes;
//            then a checksum (8)
//
// Checksums are of all bytes since the one before. Each has a word changed
// where a word of them is.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_RUNTIME_SNAPSHOT_H
#define KVC_RUNTIME_SNAPSHOT_H

#include "runtime/Cache.h"
#include "runtime/Ranges.h"

namespace kvc::runtime {

constexpr uint32_t snapshotVersion = 1;
constexpr char snapshotMagic[8] = "kvcache";
/// Bytes of the header before the text.
constexpr int64_t snapshotStart = 40;
/// Longest text that is read: any library's is far shorter.
constexpr int64_t mostText = 1 << 20;
/// Longest length that is read of a layer without a limit.
constexpr int64_t mostSeen = int64_t{1} << 40;

/// Not against who forges: against what breaks. Every step is one to one, so
/// that one word that differs makes another checksum.
class Checksum {
public:
  void add(const void *bytes, int64_t count);
  uint64_t value() const;
  void restart() { *this = {}; }

private:
  static uint64_t mix(uint64_t state, uint64_t word);

  uint64_t state = 0x6b7663, word = 0, length = 0;
};

/// One stream of an owner as a snapshot has it.
struct SnapshotPart {
  SnapshotPart(int64_t layer, int64_t stream, int64_t seen);

  /// Whether the token brings its block's pairs.
  bool hasPairs(int64_t token) const;
  int64_t elements() const { return kernel->kv_heads * shape->channels; }
  int64_t pairBytes() const { return 4 * kernel->kv_heads * shape->pair_words; }
  int64_t rowBytes() const { return (elements() * shape->bits + 7) / 8; }
  /// Of all tokens, with the checksum.
  int64_t bytes() const;

  const kvc_gen_kernel *kernel;
  const kvc_gen_stream *shape;
  TokenRange tokens;
};

/// Calls `body(layer, stream)` for each that a snapshot has, in its order,
/// until one gives other than KVC_OK.
template <typename Body> kvc_status forSnapshotParts(Body body) {
  for (int64_t layer = 0; layer < kvc_generated.layers; ++layer) {
    if (isReader(layer))
      continue;
    const kvc_gen_kernel &kernel = *kvc_generated.layer[layer].kernel;
    for (int64_t stream = 0; stream < kernel.streams; ++stream) {
      if (kernel.stream[stream].remade)
        continue;
      if (kvc_status status = body(layer, stream))
        return status;
    }
  }
  return KVC_OK;
}

/// Layers that store.
int64_t countOwners();
int64_t lengthOf(const char *text);

/// What one token of any stream takes.
struct RowBuffers {
  bool open(const Allocator &memory);
  void close(const Allocator &memory);

  uint32_t *elements, *pairs;
  unsigned char *bytes; ///< of a row, or of pairs
};

kvc_status saveTo(kvc_cache *cache, kvc_write write, void *user);
kvc_status loadFrom(kvc_cache *cache, kvc_read read, void *user);
/// The same; `size`, where it is not negative, is how many bytes there are.
kvc_status loadSized(kvc_cache &cache, kvc_read read, void *user, int64_t size);
kvc_status saveFile(kvc_cache *cache, const char *path);
kvc_status loadFile(kvc_cache *cache, const char *path);

} // namespace kvc::runtime

#endif // KVC_RUNTIME_SNAPSHOT_H
