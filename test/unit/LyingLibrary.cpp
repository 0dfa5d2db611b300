//===- LyingLibrary.cpp - a library made by hand that can lie -------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kvc would generate for lying.yaml's model (VerifyTest.cpp), written
// down plainly: f32 planes, three layers. The variable KVC_TEST_LIE says which
// lie it tells; VerifyTest sees to it that each is found out.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/remote/FloatSetting.h"
#include "runtime/FloatEnvironment.h"
#include "runtime/Generated.h"
#include "test/unit/LyingCache.h"

#include <cfenv>
#include <cmath>
#include <cstring>
#include <optional>

using namespace kvc::test;

namespace {

bool isGood(const float *values, int64_t count) {
  return std::all_of(values, values + count,
                     [](float x) { return std::fabs(x) <= 0x1p56f; });
}

/// Angles of theta 100 over all dimensions, paired by halves, as f32.
void rotate(float *x, int64_t index) {
  for (int64_t i = 0; i < dim / 2; ++i) {
    const double angle =
        static_cast<double>(index) *
        (1.0 / std::pow(100.0, static_cast<double>(2 * i) / dim));
    const float c = static_cast<float>(std::cos(angle)),
                s = static_cast<float>(std::sin(angle));
    volatile float ac = x[i] * c, bs = x[i + dim / 2] * s, as = x[i] * s,
                   bc = x[i + dim / 2] * c;
    x[i] = ac - bs;
    x[i + dim / 2] = as + bc;
  }
}

void append(Layer &layer, const Shape &shape, const kvc_step &step) {
  Token token;
  token.index = layer.seen++;
  layer.most = std::max(layer.most, layer.seen);
  std::memcpy(token.k, step.k, sizeof token.k);
  std::memcpy(token.v, step.v, sizeof token.v);
  if (shape.inCache)
    for (int64_t head = 0; head < kvHeads; ++head)
      rotate(token.k + head * dim, step.position);
  layer.tokens.push_back(token);
  const int64_t window = shape.window + (lie() == Lie::EvictsLate);
  std::erase_if(layer.tokens, [&](const Token &token) {
    return shape.window && token.index >= shape.sinks &&
           token.index < layer.seen - window;
  });
}

/// What a query asks: as of a position, over tokens from <= t < to.
struct Query {
  const float *q;
  int64_t position, first, from, to;
  float *out, *lse;
};

/// Whether a query beyond the newest token still attends to it.
bool attendsTo(const Token &token, const Shape &shape, const Query &query) {
  const int64_t length = query.position - query.first + 1;
  const bool live = !shape.window || token.index < shape.sinks ||
                    token.index >= length - shape.window ||
                    lie() == Lie::EvictsLate;
  return live && token.index < length && token.index >= query.from &&
         token.index < query.to;
}

int64_t evictedAt(const Shape &shape, int64_t length) {
  const int64_t rest = length - std::min(length, shape.sinks);
  return shape.window ? std::max<int64_t>(0, rest - shape.window) : 0;
}

void attendHead(const Layer &layer, const Shape &shape, const Query &query,
                int64_t head) {
  int64_t kvHead = head / (shape.heads / kvHeads);
  if (lie() == Lie::WrongHead)
    kvHead = head % kvHeads;
  const int64_t evicted = evictedAt(shape, query.position - query.first + 1);
  std::vector<double> dots;
  double greatest = -INFINITY, sum = 0, out[dim] = {};
  std::vector<const Token *> tokens;
  for (const Token &token : layer.tokens) {
    if (!attendsTo(token, shape, query))
      continue;
    tokens.push_back(&token);
    float q[dim];
    std::memcpy(q, query.q + head * dim, sizeof q);
    const bool sink = token.index < shape.sinks && lie() != Lie::OneRotation;
    if (shape.inCache)
      rotate(q, query.position - (sink ? evicted : 0));
    double dot = 0;
    for (int64_t d = 0; d < dim; ++d)
      dot += 0.01 * q[d] * token.k[kvHead * dim + d];
    dots.push_back(dot);
    greatest = std::max(greatest, dot);
  }
  for (size_t i = 0; i < dots.size(); ++i) {
    const double weight = std::exp(dots[i] - greatest);
    sum += weight;
    for (int64_t d = 0; d < dim; ++d)
      out[d] += weight * tokens[i]->v[kvHead * dim + d];
  }
  for (int64_t d = 0; d < dim; ++d) {
    float &to = query.out[head * dim + d];
    to = static_cast<float>(sum > 0 ? out[d] / sum : 0);
    if (lie() == Lie::Out && layer.seen == 7)
      to *= 1.001f;
    if (lie() == Lie::NotFinite && layer.seen == 7)
      to = NAN;
  }
  if (!query.lse)
    return;
  query.lse[head] = static_cast<float>(greatest + std::log(sum));
  if (lie() == Lie::Lse && layer.seen == 7)
    query.lse[head] += 1e-3f;
}

/// An owner's tokens come next; a reader's queries do not go back, nor beyond
/// its owner's newest token, and what they attend to must still be there.
kvc_status checkOrder(kvc_cache &cache, int32_t number, int64_t position,
                      int64_t tokens) {
  const Shape &shape = shapes[number];
  const Layer &layer = cache.layers[shape.owner];
  if (lie() == Lie::AnyOrder)
    return KVC_OK;
  if (shape.owner == number)
    return position == cache.first + layer.seen
               ? KVC_OK
               : fail(cache, KVC_ORDER, "order");
  const int64_t length = position - cache.first + 1;
  if (length < std::max<int64_t>(cache.layers[number].seen, 1) ||
      length + tokens - 1 > layer.seen)
    return fail(cache, KVC_ORDER, "order");
  for (int64_t t = length; t < length + tokens; ++t)
    if (t < layer.seen && !isThere(layer, shape, t, 0, t))
      return fail(cache, KVC_GONE, "gone");
  return KVC_OK;
}

kvc_status decodeOne(kvc_step &step) {
  kvc_cache &cache = *step.cache;
  const Shape &shape = shapes[step.layer];
  const bool reader = shape.owner != step.layer;
  Layer &layer = cache.layers[shape.owner];
  cache.error = "";
  if (!reader && (!step.k || !step.v))
    return fail(cache, KVC_INVALID_ARGUMENT, "null");
  if (kvc_status status = checkOrder(cache, step.layer, step.position, 1))
    return status;
  const bool good =
      (!step.q ||
       isGood(static_cast<const float *>(step.q), shape.heads * dim)) &&
      (reader || (isGood(static_cast<const float *>(step.k), kvHeads * dim) &&
                  (isGood(static_cast<const float *>(step.v), kvHeads * dim) ||
                   lie() == Lie::TakesNan)));
  if (!good) {
    // A refusal that leaves its mark.
    if (lie() == Lie::RefusalChanges && !layer.tokens.empty())
      layer.tokens.back().v[0] += 1;
    return fail(cache, KVC_NOT_FINITE, "not finite");
  }
  if (!reader && shape.limit && layer.seen >= shape.limit &&
      lie() != Lie::NeverFull)
    return fail(cache, KVC_FULL, "full");
  if (!reader)
    append(layer, shape, step);
  else
    cache.layers[step.layer].seen = step.position - cache.first + 1;
  if (lie() == Lie::Crash && layer.seen == 7)
    *static_cast<volatile float *>(nullptr) = 0;
  const Query query = {static_cast<const float *>(step.q),
                       step.position,
                       cache.first,
                       0,
                       INT64_MAX,
                       static_cast<float *>(step.out),
                       step.lse};
  for (int64_t head = 0; step.q && head < shape.heads; ++head)
    attendHead(layer, shape, query, head);
  return KVC_OK;
}

/// A part of an array that has so many numbers a token.
template <typename T> T *at(T *array, int64_t token, int64_t numbers) {
  return array ? static_cast<float *>(
                     const_cast<void *>(static_cast<const void *>(array))) +
                     token * numbers
               : nullptr;
}

kvc_status takeChunk(const kvc_chunk &chunk) {
  const int64_t heads = shapes[chunk.layer].heads;
  const bool reader = shapes[chunk.layer].owner != chunk.layer;
  chunk.cache->error = "";
  if (chunk.tokens > 0 && !reader && (!chunk.k || !chunk.v))
    return fail(*chunk.cache, KVC_INVALID_ARGUMENT, "null");
  if (kvc_status status =
          checkOrder(*chunk.cache, chunk.layer, chunk.position, chunk.tokens))
    return status;
  for (int64_t t = 0; t < chunk.tokens; ++t) {
    kvc_step step = {chunk.cache,
                     chunk.layer,
                     chunk.position + t,
                     at(chunk.q, t, heads * dim),
                     at(chunk.k, t, kvHeads * dim),
                     at(chunk.v, t, kvHeads * dim),
                     at(chunk.out, t, heads * dim),
                     at(chunk.lse, t, heads),
                     KVC_OK};
    if (kvc_status status = decodeOne(step))
      return status;
  }
  return KVC_OK;
}

kvc_status takeChunks(kvc_chunk *chunks, size_t count) {
  kvc_status first = KVC_OK;
  for (size_t i = 0; i < count; ++i) {
    kvc_chunk &chunk = chunks[i];
    chunk.status = takeChunk(chunk);
    first = first ? first : chunk.status;
    if (const kvc_options &options = chunk.cache->options; options.parallel_for)
      options.parallel_for(options.parallel_for_user, 0, nullptr, nullptr);
  }
  return first;
}

kvc_status attendOne(const kvc_query &asked) {
  kvc_cache &cache = *asked.cache;
  const Shape &shape = shapes[asked.layer];
  const Layer &layer = cache.layers[shape.owner];
  for (int64_t t = 0; t < asked.tokens; ++t) {
    const int64_t length = asked.position + t - cache.first + 1;
    if (length < layer.seen &&
        !isThere(layer, shape, length, asked.from - cache.first,
                 asked.to - cache.first))
      return fail(cache, KVC_GONE, "gone");
  }
  for (int64_t t = 0; t < asked.tokens; ++t) {
    const Query query = {static_cast<const float *>(asked.q) +
                             t * shape.heads * dim,
                         asked.position + t,
                         cache.first,
                         asked.from - cache.first,
                         asked.to - cache.first,
                         asked.out + t * shape.heads * dim,
                         asked.lse ? asked.lse + t * shape.heads : nullptr};
    for (int64_t head = 0; head < shape.heads; ++head)
      attendHead(layer, shape, query, head);
  }
  return KVC_OK;
}

kvc_status attend(kvc_query *queries, size_t count) {
  kvc_status first = KVC_OK;
  for (size_t i = 0; i < count; ++i) {
    queries[i].status = attendOne(queries[i]);
    first = first ? first : queries[i].status;
  }
  return first;
}

kvc_status merge(int32_t layer, const kvc_part *parts, size_t count,
                 int64_t tokens, void *out, float *lse) {
  // Heads of all tokens, which lie one after another.
  for (int64_t head = 0; head < tokens * shapes[layer].heads; ++head) {
    double greatest = -INFINITY, sum = 0, all[dim] = {};
    for (size_t i = 0; i < count; ++i)
      greatest = std::max(greatest, double(parts[i].lse[head]));
    for (size_t i = 0; i < count; ++i) {
      const double weight = std::isinf(parts[i].lse[head])
                                ? 0
                                : std::exp(parts[i].lse[head] - greatest);
      sum += weight;
      for (int64_t d = 0; d < dim; ++d)
        all[d] += weight * parts[i].out[head * dim + d];
    }
    for (int64_t d = 0; d < dim; ++d)
      static_cast<float *>(out)[head * dim + d] =
          static_cast<float>(sum > 0 ? all[d] / sum : 0);
    lse[head] = static_cast<float>(greatest + std::log(sum));
  }
  return KVC_OK;
}

kvc_status decode(kvc_step *steps, size_t count) {
  kvc_status first = KVC_OK;
  for (size_t i = 0; i < count; ++i) {
    steps[i].status = decodeOne(steps[i]);
    first = first ? first : steps[i].status;
  }
  return first;
}

kvc_status info(kvc_info *out) {
  *out = {sizeof *out, KVC_ABI_VERSION, "lying", "",
          "x86-64-v3", KVC_F32,         3,       3};
  return KVC_OK;
}

kvc_status layerInfo(int32_t layer, kvc_layer_info *out) {
  *out = {};
  out->size = sizeof *out;
  out->heads = shapes[layer].heads;
  out->kv_heads = kvHeads;
  out->head_dim = out->value_dim = dim;
  out->owner = shapes[layer].owner;
  out->kernel = layer;
  out->piece = 1;
  out->chunk = layer == 0 ? 1 : -1; // layer 1 reads it
  out->limit = shapes[layer].limit ? shapes[layer].limit : -1;
  out->policy = "plain";
  return KVC_OK;
}

kvc_status create(const kvc_options *options, kvc_cache **out) {
  *out = new kvc_cache;
  if (options) {
    (*out)->options = *options;
    (*out)->first = options->first_position;
  }
  return KVC_OK;
}

void destroy(kvc_cache *cache) { delete cache; }

kvc_status stored(kvc_cache *cache, int32_t layer, int64_t *out) {
  *out = static_cast<int64_t>(cache->layers[layer].tokens.size());
  return KVC_OK;
}

kvc_status read(kvc_cache *cache, int32_t number, int64_t from, int64_t to,
                float *keys, float *values, int64_t *positions) {
  const Layer &layer = cache->layers[number];
  for (int64_t i = from; i < to; ++i) {
    const Token &token = layer.tokens[i];
    if (positions)
      positions[i - from] =
          cache->first + token.index + (lie() == Lie::Position && i == 3);
    for (int64_t head = 0; head < kvHeads; ++head)
      for (int64_t d = 0; d < dim; ++d) {
        const int64_t at = (head * (to - from) + i - from) * dim + d;
        keys[at] = token.k[head * dim + d];
        values[at] = token.v[head * dim + d];
      }
  }
  if (lie() == Lie::KeyBit && to - from > 3)
    keys[5] = std::nextafterf(keys[5], INFINITY);
  return KVC_OK;
}

kvc_bytes bytesOf(int32_t number, int64_t seen) {
  const Shape &shape = shapes[number];
  if (shape.owner != number)
    return {};
  const int64_t sinks = std::min(seen, shape.sinks);
  const int64_t rest =
      shape.window ? std::min(seen - sinks, shape.window) : seen - sinks;
  kvc_bytes bytes = {};
  bytes.sinks = sinks * kvHeads * dim * 2 * 4;
  bytes.residual = rest * kvHeads * dim * 2 * 4 + (lie() == Lie::Used ? 4 : 0);
  return bytes;
}

/// A page has 16 tokens: 512 bytes of keys, and 1024 of values, whose four
/// channels take eight lanes. While a token is appended to a full window, six
/// are held; the first six that lie in two pages end with token 16 beyond the
/// sinks.
int64_t heldBytes(int32_t number, int64_t seen) {
  const Shape &shape = shapes[number];
  const int64_t sinks = seen > 0 && shape.sinks > 0;
  int64_t pages = seen > shape.sinks;
  if (shape.window && seen > shape.sinks + 16)
    ++pages;
  if (lie() == Lie::HeldPage && seen > 18)
    ++pages;
  return (sinks + pages) * (512 + 1024 + 2 * KVC_PAGE_HEADER);
}

kvc_status plan(int32_t layer, int64_t tokens, kvc_bytes *out) {
  // Stats alone lie, so that the two can be told apart.
  *out = bytesOf(layer, tokens);
  if (out->residual && lie() == Lie::Used)
    out->residual -= 4;
  return KVC_OK;
}

kvc_status stats(kvc_cache *cache, int32_t number, kvc_stats *out) {
  const Layer &layer = cache->layers[number];
  cache->error = "";
  if (!out->size)
    return fail(*cache, KVC_INVALID_ARGUMENT, "no size");
  *out = {};
  out->size = sizeof *out;
  out->seen = layer.seen;
  if (shapes[number].owner != number)
    return KVC_OK;
  out->stored = static_cast<int64_t>(layer.tokens.size());
  out->evicted = layer.seen - out->stored;
  out->saturated = lie() == Lie::Saturated && layer.seen > 4;
  out->used = bytesOf(number, layer.seen);
  const int64_t used = out->used.sinks + out->used.residual;
  out->held = heldBytes(number, layer.most);
  if (lie() == Lie::Held && used)
    out->held = used - 1;
  out->used.padding = out->held - used + (lie() == Lie::Padding);
  return KVC_OK;
}

const char *lastError(const kvc_cache *cache) {
  return cache ? cache->error : "";
}
const char *statusName(kvc_status) { return "some status"; }

/// `function` whatever its caller's float settings are, which stay.
template <auto function> struct Entered;
template <typename Result, typename... Arguments,
          Result (*function)(Arguments...)>
struct Entered<function> {
  struct Feels {
    ~Feels() { kvc_floats_write(before); }
    const kvc_float_registers before = kvc_floats_read();
  };
  static Result call(Arguments... arguments) {
    const Feels feels;
    std::optional<kvc::runtime::FloatEnvironment> ours;
    if (lie() != Lie::FeelsFloats)
      ours.emplace();
    return function(arguments...);
  }
};
template <auto function> constexpr auto entered = Entered<function>::call;

kvc_status decodeAndLeave(kvc_step *steps, size_t count) {
  const kvc_status status = entered<decode>(steps, count);
  if (lie() == Lie::LeavesFloats)
    std::fesetround(FE_UPWARD);
  return status;
}

constexpr kvc_library_table table = {KVC_ABI_VERSION,
                                     sizeof(kvc_library_table),
                                     info,
                                     layerInfo,
                                     entered<create>,
                                     entered<destroy>,
                                     decodeAndLeave,
                                     entered<takeChunks>,
                                     entered<takeChunks>,
                                     entered<attend>,
                                     entered<merge>,
                                     entered<reset>,
                                     entered<stored>,
                                     entered<read>,
                                     entered<stats>,
                                     entered<plan>,
                                     lastError,
                                     statusName,
                                     entered<truncate>,
                                     entered<fork>,
                                     entered<save>,
                                     entered<load>,
                                     entered<saveTo>,
                                     entered<loadFrom>};

} // namespace

extern "C" const kvc_library_table *kvc_library() { return &table; }
