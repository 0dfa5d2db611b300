//===- Load.cpp - a snapshot is read ----------------------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is read is not trusted. Lengths are checked before memory is asked for,
// which then comes page by page as the tokens do; all goes to new layers, which
// take the cache's place at the end.
//
//===----------------------------------------------------------------------===//

#include "runtime/Elements.h"
#include "runtime/Snapshot.h"
#include "runtime/StoredForm.h"

namespace kvc::runtime {

namespace {

class Reader {
public:
  Reader(kvc_read read, void *user) : read(read), user(user) {}

  bool get(void *bytes, int64_t count) {
    int64_t got =
        static_cast<int64_t>(read(user, bytes, static_cast<size_t>(count)));
    if (got != count)
      return false;
    done += count;
    sum.add(bytes, count);
    return true;
  }
  bool get(uint64_t &number) { return get(&number, sizeof(number)); }
  /// Whether what came since the last one has the checksum that comes next.
  bool isWhole(bool &there) {
    uint64_t wanted = sum.value(), number = 0;
    there = get(number);
    sum.restart();
    return there && number == wanted;
  }

  int64_t done = 0;

private:
  kvc_read read;
  void *user;
  Checksum sum;
};

/// One load under way.
class Load {
public:
  Load(kvc_cache &cache, kvc_read read, void *user, int64_t size)
      : cache(cache), reader(read, user), size(size) {}
  kvc_status run();

private:
  Text refuse() { return beginError(cache) << "not loaded: "; }
  kvc_status endsEarly();
  kvc_status checkSum();
  kvc_status outOfMemory();

  kvc_status readHeader();
  kvc_status readLengths();
  kvc_status checkForm(const char *text, int64_t length, uint64_t hash);
  kvc_status checkLengths();
  kvc_status openLayers();
  kvc_status readPart(int64_t layer, int64_t stream);
  kvc_status readToken(int64_t layer, Stream &stream, const SnapshotPart &part,
                       int64_t token);
  kvc_status coverRemade(int64_t layer);
  void exchange();
  kvc_status checkNumbers(int64_t layer);
  void closeLayers();

  kvc_cache &cache;
  Reader reader;
  int64_t size;                 ///< -1: not known
  LayerCache *layers = nullptr; ///< the new ones, or, when exchanged, the old
  RowBuffers rows = {};
  bool arePairs = true; ///< scales and zeros so far
};

kvc_status Load::endsEarly() {
  refuse() << "it ends, or cannot be read, behind " << reader.done << " bytes";
  return KVC_SNAPSHOT;
}

kvc_status Load::checkSum() {
  bool there;
  if (reader.isWhole(there))
    return KVC_OK;
  if (!there)
    return endsEarly();
  refuse() << "it is damaged: a checksum before byte " << reader.done
           << " does not hold";
  return KVC_SNAPSHOT;
}

kvc_status Load::outOfMemory() {
  refuse() << "no memory for its tokens";
  return KVC_OUT_OF_MEMORY;
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

kvc_status Load::checkForm(const char *text, int64_t length, uint64_t hash) {
  const char *mine = kvc_generated.stored;
  bool same = lengthOf(mine) == length;
  for (int64_t i = 0; same && i < length; ++i)
    same = mine[i] == text[i];
  Checksum sum;
  sum.add(text, length);
  if (same && sum.value() == hash)
    return KVC_OK;
  if (same) {
    refuse() << "the hash of what it stores is wrong";
    return KVC_SNAPSHOT;
  }
  Text error = refuse();
  explainOtherForm(error, text, mine);
  return KVC_SNAPSHOT;
}

/// In one number: a loop would be made a call of the C library.
bool isMagic(const char *bytes) {
  uint64_t wanted, number;
  static_assert(sizeof(wanted) == sizeof(snapshotMagic));
  __builtin_memcpy(&wanted, snapshotMagic, sizeof(wanted));
  __builtin_memcpy(&number, bytes, sizeof(number));
  return number == wanted;
}

kvc_status Load::readHeader() {
  char magic[sizeof(snapshotMagic)];
  uint64_t numbers, first, hash, length;
  if (!reader.get(magic, sizeof(magic)))
    return endsEarly();
  if (!isMagic(magic)) {
    refuse() << "this is no snapshot";
    return KVC_SNAPSHOT;
  }
  if (!reader.get(numbers) || !reader.get(first) || !reader.get(hash) ||
      !reader.get(length))
    return endsEarly();
  if (static_cast<uint32_t>(numbers) != snapshotVersion) {
    refuse() << "its format has version "
             << static_cast<int64_t>(static_cast<uint32_t>(numbers))
             << ", and this library reads version " << int64_t{snapshotVersion};
    return KVC_SNAPSHOT;
  }
  if (length > static_cast<uint64_t>(mostText)) {
    refuse() << "it is damaged: its header has a text of "
             << static_cast<int64_t>(length) << " bytes";
    return KVC_SNAPSHOT;
  }
  int64_t owners = static_cast<int64_t>(numbers >> 32);
  // As many as fit the text, which has a line a layer or fewer.
  if (owners > mostText) {
    refuse() << "it is damaged: its header has " << owners << " layers";
    return KVC_SNAPSHOT;
  }
  int64_t bytes = static_cast<int64_t>(length);
  char *text = static_cast<char *>(
      cache.memory.table(static_cast<size_t>(bytes) + 1, 1));
  if (!text)
    return outOfMemory();
  kvc_status status = KVC_OK;
  if (!reader.get(text, bytes))
    status = endsEarly();
  // Lengths of layers that are not here are read for the checksum alone.
  int64_t here = countOwners(), layer = 0;
  for (int64_t i = 0; status == KVC_OK && i < owners; ++i) {
    uint64_t seen;
    if (!reader.get(seen)) {
      status = endsEarly();
      break;
    }
    if (i >= here)
      continue;
    while (isReader(layer))
      ++layer;
    layers[layer++].seen = static_cast<int64_t>(seen);
  }
  if (status == KVC_OK)
    status = checkSum();
  if (status == KVC_OK)
    status = checkForm(text, bytes, hash);
  cache.memory.give(text);
  if (status != KVC_OK)
    return status;
  if (owners != here) {
    refuse() << "it has " << owners << " layers that store, and here are "
             << here;
    return KVC_SNAPSHOT;
  }
  if (static_cast<int64_t>(first) != cache.firstPosition) {
    refuse() << "its first position is " << static_cast<int64_t>(first)
             << ", and the cache's is " << cache.firstPosition;
    return KVC_SNAPSHOT;
  }
  return checkLengths();
}

kvc_status Load::checkLengths() {
  int64_t bytes = reader.done;
  for (int64_t i = 0; i < kvc_generated.layers; ++i) {
    if (isReader(i))
      continue;
    int64_t limit = kvc_generated.layer[i].kernel->limit;
    int64_t most = limit < 0 ? mostSeen : limit;
    if (layers[i].seen >= 0 && layers[i].seen <= most)
      continue;
    refuse() << "its layer " << i << " has " << layers[i].seen
             << " tokens, and here are at most " << most;
    return KVC_SNAPSHOT;
  }
  forSnapshotParts([&](int64_t layer, int64_t stream) {
    bytes += SnapshotPart(layer, stream, layers[layer].seen).bytes();
    return KVC_OK;
  });
  if (size < 0 || size == bytes)
    return KVC_OK;
  refuse() << "it has " << size << " bytes, and what its header tells of takes "
           << bytes;
  return KVC_SNAPSHOT;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//
//
// What is loaded decodes to finite numbers as what was appended does: numbers
// are refused that are beyond what any input makes. u = 2^-24 is a rounding to
// f32, e = 2^-8 one to nearest in bf16, the coarsest type of 8 bits of
// exponent, and 2e one that is directed; f16 saturates at 65504, far below all
// bounds.
//
//  - append takes magnitudes up to M = 2^56, a number of each type.
//  - A value is rounded to its type: at most M.
//  - A key is rotated, by c and s of magnitudes |F cos| and |F sin| (1 + u)
//  with
//    the rotary setting's factor F: fl(fl(x0 c) - fl(x1 s)) is at most
//    (1 + u)^3 M F (|cos| + |sin|) <= (1 + u)^3 sqrt(2) F M. What is not
//    rotated is at most M. So, rounded, B = 1.42 max(1, F) M bounds all
//    originals.
//  - Of codes, zero is the least original rounded down: at most (1 + 2e) B. The
//    scale is (max - zero) / (2^bits - 1), of two roundings to f32, rounded up:
//    scale (2^bits - 1) <= (1 + 2e)(1 + u)^2 (2 + 2e) B < 2.03 B. (Where that
//    is below the least scale, it is that: at most 2^-14.)
//  - A code stands for at least zero and at most zero + scale (2^bits - 1)
//    <= max + (max - zero)(2e + 3u) <= (1 + 2.01 * 2.01e) B < 1.02 B; reading
//    it rounds twice.
//
// B and 1.02 B are below 1.45 max(1, F) M, and B (1 + 2e) is. 2 max(1, F) M is
// what they are held against, and 2 of that for the scales: a power of two
// where F is 1, and room for a precision of other coding. Products of two such
// numbers with those of the query are as far from f32's range as with appended
// ones.

constexpr double largestValue = 0x1p57;

/// Of the keys of an owner, and of its scales and zeros.
double largestKey(int64_t layer) {
  int64_t rope = kvc_generated.layer[layer].rope;
  double factor = rope < 0 ? 1 : kvc_generated.rope[rope].factor;
  return largestValue * (factor > 1 ? factor : 1);
}

/// NaN is not.
bool areWithin(const float *values, int64_t count, double largest) {
  bool within = true;
  for (int64_t i = 0; i < count; ++i)
    within &= __builtin_fabsf(values[i]) <= largest;
  return within;
}

/// Scales and zeros that coding gives.
bool arePossible(const SnapshotPart &part, const uint32_t *pairs,
                 double largest) {
  int64_t type = part.shape->pair_type;
  if (type < 0)
    return true;
  double least = type == KVC_F16 ? 0x1p-14 : 0x1p-126;
  double steps = static_cast<double>((uint64_t{1} << part.shape->bits) - 1);
  int64_t numbers = part.pairBytes() / elementBytes(type);
  for (int64_t i = 0; i < numbers; i += 2) {
    double scale = elementValue(type, pairs, i);
    double zero = elementValue(type, pairs, i + 1);
    bool possible = scale >= least && scale * steps <= 2 * largest &&
                    __builtin_fabs(zero) <= largest;
    if (!possible) // also where one of them is NaN
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// What Save.cpp packs.
void unpack(const unsigned char *bytes, int64_t count, int64_t bits,
            uint32_t *elements) {
  uint64_t rest = 0, ones = (uint64_t{1} << bits) - 1;
  int64_t held = 0;
  for (int64_t i = 0; i < count; ++i) {
    for (; held < bits; held += 8)
      rest |= uint64_t{*bytes++} << held;
    elements[i] = static_cast<uint32_t>(rest & ones);
    rest >>= bits;
    held -= bits;
  }
}

/// Streams without pages.
kvc_status Load::openLayers() {
  for (int64_t i = 0; i < kvc_generated.layers; ++i) {
    if (isReader(i))
      continue;
    const kvc_gen_kernel &kernel = *kvc_generated.layer[i].kernel;
    for (int64_t j = 0; j < kernel.streams; ++j) {
      if (!layers[i].streams[j].open(kernel.stream[j], cache.memory))
        return outOfMemory();
      layers[i].view.tables[j] = layers[i].streams[j].pageTable();
    }
  }
  return KVC_OK;
}

kvc_status Load::readToken(int64_t layer, Stream &stream,
                           const SnapshotPart &part, int64_t token) {
  if (!stream.reserve(stream.pagesOf({part.tokens.begin, token + 1})))
    return outOfMemory();
  stream.cover({part.tokens.begin, token + 1});
  if (part.hasPairs(token)) {
    if (!reader.get(rows.pairs, part.pairBytes()))
      return endsEarly();
    arePairs = arePairs && arePossible(part, rows.pairs, largestKey(layer));
  }
  if (!reader.get(rows.bytes, part.rowBytes()))
    return endsEarly();
  unpack(rows.bytes, part.elements(), part.shape->bits, rows.elements);
  part.shape->restore(&layers[layer].view, token, rows.elements, rows.pairs);
  return KVC_OK;
}

kvc_status Load::readPart(int64_t layer, int64_t stream) {
  LayerCache &store = layers[layer];
  SnapshotPart part(layer, stream, store.seen);
  for (int64_t t = part.tokens.begin; t < part.tokens.end; ++t)
    if (kvc_status status = readToken(layer, store.streams[stream], part, t))
      return status;
  kvc_status status = checkSum(); // first: what is damaged is called that
  if (status != KVC_OK || arePairs)
    return status;
  refuse() << "layer " << layer << " has scales or zeros that no codes have";
  return KVC_SNAPSHOT;
}

/// Pages of codes that are made anew.
kvc_status Load::coverRemade(int64_t layer) {
  const kvc_gen_kernel &kernel = *kvc_generated.layer[layer].kernel;
  Ranges live = Ranges::live(kernel, layers[layer].seen);
  for (int64_t i = 0; i < kernel.streams; ++i) {
    if (!kernel.stream[i].remade)
      continue;
    Stream &stream = layers[layer].streams[i];
    if (!stream.reserve(stream.pagesOf(live.streams[i])))
      return outOfMemory();
    stream.cover(live.streams[i]);
  }
  return KVC_OK;
}

/// All is read once.
kvc_status Load::checkNumbers(int64_t layer) {
  const kvc_gen_kernel &kernel = *kvc_generated.layer[layer].kernel;
  int64_t width =
      kernel.kv_heads *
      (kernel.head_dim > kernel.value_dim ? kernel.head_dim : kernel.value_dim);
  int64_t stored;
  if (kvc_status status =
          countStored(&cache, static_cast<int32_t>(layer), &stored))
    return status;
  constexpr int64_t piece = 64;
  float *values = static_cast<float *>(
      cache.memory.table(static_cast<size_t>(2 * piece * width), 4));
  if (!values)
    return outOfMemory();
  kvc_status status = KVC_OK;
  for (int64_t from = 0; from < stored && status == KVC_OK; from += piece) {
    int64_t to = from + piece < stored ? from + piece : stored;
    float *more = values + piece * width;
    status = readStored(&cache, static_cast<int32_t>(layer), from, to, values,
                        more, nullptr);
    if (status != KVC_OK ||
        (areWithin(values, (to - from) * kernel.kv_heads * kernel.head_dim,
                   largestKey(layer)) &&
         areWithin(more, (to - from) * kernel.kv_heads * kernel.value_dim,
                   largestValue)))
      continue;
    refuse() << "layer " << layer
             << " has numbers that are not finite or too large";
    status = KVC_SNAPSHOT;
  }
  cache.memory.give(values);
  return status;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// The new layers for the old ones, or back.
void Load::exchange() {
  for (int64_t i = 0; i < kvc_generated.layers; ++i)
    layers[i].sinks = cache.layers[i].sinks;
  LayerCache *old = cache.layers;
  cache.layers = layers;
  layers = old;
}

void Load::closeLayers() {
  if (layers)
    for (int64_t i = 0; i < kvc_generated.layers; ++i)
      for (Stream &stream : layers[i].streams)
        stream.close();
  cache.memory.give(layers);
}

kvc_status Load::run() {
  layers = static_cast<LayerCache *>(cache.memory.table(
      static_cast<size_t>(kvc_generated.layers), sizeof(LayerCache)));
  kvc_status status = KVC_OK;
  if (!layers || !rows.open(cache.memory))
    status = outOfMemory();
  if (status == KVC_OK)
    status = readHeader();
  if (status == KVC_OK)
    status = openLayers();
  if (status == KVC_OK)
    status = forSnapshotParts(
        [&](int64_t layer, int64_t stream) { return readPart(layer, stream); });
  for (int64_t i = 0; i < kvc_generated.layers && status == KVC_OK; ++i) {
    const kvc_gen_layer &layer = kvc_generated.layer[i];
    layers[i].seen = layers[layer.owner].seen;
    // What rollback would hold is not there: as if one had gone back this far.
    layers[i].reached = layers[i].seen + layer.kernel->rollback;
    if (!isReader(i))
      status = coverRemade(i);
  }
  if (status == KVC_OK) {
    exchange();
    for (int64_t i = 0; i < kvc_generated.layers && status == KVC_OK; ++i)
      if (!isReader(i))
        status = checkNumbers(i);
    if (status != KVC_OK)
      exchange();
  }
  rows.close(cache.memory);
  closeLayers();
  return status;
}

} // namespace

kvc_status loadSized(kvc_cache &cache, kvc_read read, void *user,
                     int64_t size) {
  return Load(cache, read, user, size).run();
}

kvc_status loadFrom(kvc_cache *cache, kvc_read read, void *user) {
  if (!cache)
    return refuseNull("cache");
  cache->error[0] = '\0';
  if (read)
    return loadSized(*cache, read, user, /*size=*/-1);
  beginError(*cache) << "read is null";
  return KVC_INVALID_ARGUMENT;
}

} // namespace kvc::runtime
