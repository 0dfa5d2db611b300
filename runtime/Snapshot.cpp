//===- Snapshot.cpp - what is stored, as a stream of bytes ------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Snapshot.h"

namespace kvc::runtime {

uint64_t Checksum::mix(uint64_t state, uint64_t word) {
  state = (state ^ word) * 0x9e3779b97f4a7c15;
  return state ^ state >> 32;
}

void Checksum::add(const void *bytes, int64_t count) {
  const unsigned char *at = static_cast<const unsigned char *>(bytes);
  while (count > 0) {
    if (length % 8 == 0 && count >= 8) {
      uint64_t whole;
      __builtin_memcpy(&whole, at, 8);
      state = mix(state, whole);
      length += 8;
      at += 8;
      count -= 8;
      continue;
    }
    word |= uint64_t{*at++} << length % 8 * 8;
    --count;
    if (++length % 8)
      continue;
    state = mix(state, word);
    word = 0;
  }
}

uint64_t Checksum::value() const { return mix(mix(state, word), length); }

SnapshotPart::SnapshotPart(int64_t layer, int64_t stream, int64_t seen)
    : kernel(kvc_generated.layer[layer].kernel), shape(&kernel->stream[stream]),
      tokens(Ranges::live(*kernel, seen).streams[stream]) {}

bool SnapshotPart::hasPairs(int64_t token) const {
  return shape->pair_tokens &&
         (token == tokens.begin ||
          (token - shape->origin) % shape->pair_tokens == 0);
}

int64_t SnapshotPart::bytes() const {
  int64_t count = sizeof(uint64_t);
  if (tokens.empty())
    return count;
  count += (tokens.end - tokens.begin) * rowBytes();
  if (!shape->pair_tokens)
    return count;
  int64_t first = (tokens.begin - shape->origin) / shape->pair_tokens;
  int64_t last = (tokens.end - 1 - shape->origin) / shape->pair_tokens;
  return count + (last - first + 1) * pairBytes();
}

int64_t countOwners() {
  int64_t owners = 0;
  for (int64_t layer = 0; layer < kvc_generated.layers; ++layer)
    owners += !isReader(layer);
  return owners;
}

int64_t lengthOf(const char *text) {
  int64_t length = 0;
  while (text[length])
    ++length;
  return length;
}

bool RowBuffers::open(const Allocator &memory) {
  int64_t most = 1, mostPairs = 1;
  forSnapshotParts([&](int64_t layer, int64_t stream) {
    SnapshotPart part(layer, stream, 0);
    most = part.elements() > most ? part.elements() : most;
    mostPairs = part.pairBytes() > mostPairs ? part.pairBytes() : mostPairs;
    return KVC_OK;
  });
  elements = static_cast<uint32_t *>(
      memory.table(static_cast<size_t>(most), sizeof(uint32_t)));
  pairs =
      static_cast<uint32_t *>(memory.table(static_cast<size_t>(mostPairs), 1));
  int64_t bytesOfRow = 4 * most > mostPairs ? 4 * most : mostPairs;
  bytes = static_cast<unsigned char *>(
      memory.table(static_cast<size_t>(bytesOfRow), 1));
  return elements && pairs && bytes;
}

void RowBuffers::close(const Allocator &memory) {
  memory.give(elements);
  memory.give(pairs);
  memory.give(bytes);
  *this = {};
}

} // namespace kvc::runtime
