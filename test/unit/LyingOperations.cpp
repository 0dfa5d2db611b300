//===- LyingOperations.cpp - how the library that lies goes back ----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/LyingCache.h"

#include <cstdio>
#include <cstring>
#include <sys/stat.h>

namespace kvc::test {

kvc_status reset(kvc_cache *cache) {
  cache->error = "";
  for (Layer &layer : cache->layers) {
    if (lie() == Lie::ResetForgets && &layer != cache->layers)
      continue;
    layer.tokens.clear();
    layer.seen = 0;
  }
  return KVC_OK;
}

kvc_status truncate(kvc_cache *cache, int64_t tokens) {
  cache->error = "";
  int64_t longest = 0;
  for (int number : {0, 2})
    longest = std::max(longest, cache->layers[number].seen);
  if (tokens < 0 || tokens > longest)
    return fail(*cache, KVC_INVALID_ARGUMENT,
                lie() == Lie::NoText ? "" : "never that long");
  for (int number : {0, 2})
    if (tokens < cache->layers[number].seen &&
        !isThere(cache->layers[number], shapes[number], tokens, 0, tokens) &&
        lie() != Lie::TruncateGone)
      return fail(*cache, KVC_GONE, "gone");
  for (Layer &layer : cache->layers) {
    layer.seen = std::min(layer.seen, tokens);
    std::erase_if(layer.tokens, [&](const Token &token) {
      return token.index >= tokens + (lie() == Lie::TruncateLate);
    });
  }
  return KVC_OK;
}

kvc_status fork(kvc_cache *cache, const kvc_options *options, kvc_cache **out) {
  cache->error = "";
  if (!out || (options && options->first_position))
    return fail(*cache, KVC_INVALID_ARGUMENT, "a bad fork");
  *out = new kvc_cache(*cache);
  for (Layer &layer : (*out)->layers)
    layer.most = layer.seen;
  if (lie() == Lie::ForkChanges && !cache->layers[0].tokens.empty())
    (*out)->layers[0].tokens.back().v[0] += 1;
  return KVC_OK;
}

namespace {

uint64_t sumOf(const std::vector<char> &bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (char byte : bytes)
    sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return sum;
}

template <typename T> void add(std::vector<char> &bytes, const T &value) {
  const char *from = reinterpret_cast<const char *>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

template <typename T>
bool take(const std::vector<char> &bytes, size_t &at, T &value) {
  if (bytes.size() - at < sizeof value)
    return false;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  at += sizeof value;
  return true;
}

} // namespace

kvc_status saveTo(kvc_cache *cache, kvc_write write, void *user) {
  cache->error = "";
  if (!write)
    return fail(*cache, KVC_INVALID_ARGUMENT, "null");
  std::vector<char> bytes;
  add(bytes, cache->first);
  for (int number : {0, 2}) {
    const Layer &layer = cache->layers[number];
    add(bytes, layer.seen);
    add(bytes, layer.tokens.size());
    for (Token token : layer.tokens) {
      if (lie() == Lie::SaveForgets && token.index == 4)
        token.v[3] = 0;
      add(bytes, token);
    }
    if (lie() == Lie::SaveRemembers)
      add(bytes, layer.most);
  }
  add(bytes, sumOf(bytes));
  return write(user, bytes.data(), bytes.size())
             ? fail(*cache, KVC_IO, "not written")
             : KVC_OK;
}

kvc_status loadFrom(kvc_cache *cache, kvc_read read, void *user) {
  cache->error = "";
  if (!read)
    return fail(*cache, KVC_INVALID_ARGUMENT, "null");
  std::vector<char> bytes;
  char block[512];
  for (size_t n; (n = read(user, block, sizeof block)) > 0;)
    bytes.insert(bytes.end(), block, block + n);
  if (lie() == Lie::RefusedLoadChanges && !cache->layers[2].tokens.empty())
    cache->layers[2].tokens.front().k[0] += 1;
  Layer layers[3];
  int64_t first = 0;
  size_t at = 0;
  bool good = take(bytes, at, first);
  for (int number : {0, 2}) {
    Layer &layer = layers[number];
    size_t count = 0;
    good = good && take(bytes, at, layer.seen) && take(bytes, at, count);
    for (Token token; good && count > 0; --count) {
      good = take(bytes, at, token);
      layer.tokens.push_back(token);
    }
    layer.most = layer.seen;
    if (int64_t most; good && lie() == Lie::SaveRemembers)
      good = take(bytes, at, most);
  }
  uint64_t sum = 0;
  good = good && take(bytes, at, sum);
  if (good && lie() != Lie::LoadTakesAll) {
    bytes.resize(at - sizeof sum);
    good = sum == sumOf(bytes) && first == cache->first;
  }
  if (!good)
    return fail(*cache, KVC_SNAPSHOT, "damaged");
  layers[1].seen = layers[0].seen;
  for (int number : {0, 1, 2})
    cache->layers[number] = layers[number];
  return KVC_OK;
}

kvc_status save(kvc_cache *cache, const char *path) {
  cache->error = "";
  FILE *file = path ? std::fopen(path, "wb") : nullptr;
  if (!file)
    return fail(*cache, path ? KVC_IO : KVC_INVALID_ARGUMENT, "no file");
  fchmod(fileno(file), lie() == Lie::SavesForAll ? 0644 : 0600);
  const kvc_status status = saveTo(
      cache,
      [](void *user, const void *bytes, size_t count) {
        return int(std::fwrite(bytes, 1, count, static_cast<FILE *>(user)) !=
                   count);
      },
      file);
  std::fclose(file);
  return status;
}

kvc_status load(kvc_cache *cache, const char *path) {
  cache->error = "";
  FILE *file = path ? std::fopen(path, "rb") : nullptr;
  if (!file)
    return fail(*cache, path ? KVC_IO : KVC_INVALID_ARGUMENT, "no file");
  if (lie() != Lie::LoadsFolder && std::fgetc(file) == EOF) {
    std::fclose(file);
    return fail(*cache, KVC_IO, "a folder");
  }
  std::rewind(file);
  const kvc_status status = loadFrom(
      cache,
      [](void *user, void *bytes, size_t count) {
        return std::fread(bytes, 1, count, static_cast<FILE *>(user));
      },
      file);
  std::fclose(file);
  return status;
}

} // namespace kvc::test
