/*===- recipes.c - what docs/recipes.md shows, as a program ---------*- C -*-===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 *   kvc compile decoder.yaml -o decoder.a
 *   cc recipes.c decoder.a -lm -o recipes && ./recipes
 *
 * Each recipe is held against another way to the same numbers; the program
 * prints a line each and ends with 1 where one differs.
 *
 *===------------------------------------------------------------------------===*/

#include "decoder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  HEADS = DECODER_HEADS,
  KV_HEADS = DECODER_KV_HEADS,
  DIM = DECODER_HEAD_DIM,
  SELF = 0,  /* a layer of the decoder's own tokens */
  CROSS = 2, /* a layer of the encoder's */
  Q = HEADS * DIM,
  KV = KV_HEADS * DIM,
  MOST = 64
};

static const kvc_library_table *kvc;
static float q[MOST * Q], k[MOST * KV], v[MOST * KV];

static int fail(const kvc_cache *cache) {
  fprintf(stderr, "%s\n", kvc->last_error(cache));
  return 1;
}

static int tell(const char *recipe, int right) {
  printf("%-22s %s\n", recipe, right ? "the same" : "differs");
  return !right;
}

/* Stands for a model: some numbers for each position. */
static void project(float *row, int size, long position) {
  for (int i = 0; i < size; ++i)
    row[i] = (float)((position * 7 + i * 5) % 17 - 8) / 8;
}

static void fill(long first, int tokens) {
  for (int i = 0; i < tokens; ++i) {
    project(q + i * Q, Q, first + i);
    project(k + i * KV, KV, first + i + 1);
    project(v + i * KV, KV, first + i + 2);
  }
}

static kvc_cache *create(void) {
  kvc_options options = {.size = sizeof options};
  kvc_cache *cache = NULL;
  if (kvc->create(&options, &cache) != KVC_OK)
    fail(NULL);
  return cache;
}

/* Tokens [from, to) of the layer SELF, one step each. */
static int decode(kvc_cache *cache, long from, long to, float *out) {
  for (long position = from; position < to; ++position) {
    fill(position, 1);
    kvc_step step = {.cache = cache,
                     .layer = SELF,
                     .position = position,
                     .q = q,
                     .k = k,
                     .v = v,
                     .out = out};
    if (kvc->decode(&step, 1) != KVC_OK)
      return fail(cache);
  }
  return 0;
}

static int same(const float *a, const float *b, int count) {
  return memcmp(a, b, (size_t)count * sizeof(float)) == 0;
}

/* The encoder's tokens are appended once; each query of the decoder attends to
 * all of them, and appends nothing. */
static int crossAttention(void) {
  enum { LENGTH = 50 };
  kvc_cache *cache = create();
  fill(0, LENGTH);
  kvc_chunk encoder = {
      .cache = cache, .layer = CROSS, .tokens = LENGTH, .k = k, .v = v};
  if (kvc->append(&encoder, 1) != KVC_OK)
    return fail(cache);
  float out[Q];
  kvc_query query = {.cache = cache,
                     .layer = CROSS,
                     .position = LENGTH - 1, /* sees all that was appended */
                     .tokens = 1,
                     .from = 0,
                     .to = LENGTH,
                     .q = q + 3 * Q,
                     .out = out};
  if (kvc->attend(&query, 1) != KVC_OK)
    return fail(cache);
  double worst = 0;
  for (int head = 0; head < HEADS; ++head) {
    int group = head * KV_HEADS / HEADS;
    double weights[LENGTH], sum = 0;
    for (int t = 0; t < LENGTH; ++t) {
      double dot = 0;
      for (int d = 0; d < DIM; ++d)
        dot += q[3 * Q + head * DIM + d] * k[t * KV + group * DIM + d];
      sum += weights[t] = exp(dot / sqrt(DIM));
    }
    for (int d = 0; d < DIM; ++d) {
      double right = 0;
      for (int t = 0; t < LENGTH; ++t)
        right += weights[t] / sum * v[t * KV + group * DIM + d];
      worst = fmax(worst, fabs(out[head * DIM + d] - right));
    }
  }
  kvc->destroy(cache);
  return tell("cross attention", worst < 1e-5);
}

/* A prompt that many requests begin with is prefilled once and kept; each
 * request goes on from a fork. */
static int prefixReuse(void) {
  enum { PREFIX = 60, MORE = 20 };
  kvc_cache *kept = create(), *request, *alone = create();
  float out[Q], right[Q];
  if (decode(kept, 0, PREFIX, out) || decode(alone, 0, PREFIX + MORE, right))
    return 1;
  for (int i = 0; i < 2; ++i) {
    if (kvc->fork(kept, NULL, &request) != KVC_OK)
      return fail(kept);
    if (decode(request, PREFIX, PREFIX + MORE, out))
      return 1;
    kvc->destroy(request);
  }
  kvc->destroy(kept);
  kvc->destroy(alone);
  return tell("prefix reuse", same(out, right, Q));
}

/* Prompts of three lengths in one padded batch [3, PADDED, ...], padding on the
 * left: each chunk begins behind its padding. */
static int raggedBatch(void) {
  enum { BATCH = 3, PADDED = 20 };
  static float qs[BATCH][PADDED * Q], ks[BATCH][PADDED * KV],
      vs[BATCH][PADDED * KV], outs[BATCH][PADDED * Q];
  static const int lengths[BATCH] = {20, 7, 13};
  kvc_cache *caches[BATCH];
  kvc_chunk chunks[BATCH];
  memset(chunks, 0, sizeof chunks);
  for (int i = 0; i < BATCH; ++i) {
    int pad = PADDED - lengths[i];
    fill(0, lengths[i]);
    memcpy(qs[i] + pad * Q, q, sizeof(float) * Q * lengths[i]);
    memcpy(ks[i] + pad * KV, k, sizeof(float) * KV * lengths[i]);
    memcpy(vs[i] + pad * KV, v, sizeof(float) * KV * lengths[i]);
    caches[i] = create();
    chunks[i].cache = caches[i];
    chunks[i].layer = SELF;
    chunks[i].tokens = lengths[i];
    chunks[i].q = qs[i] + pad * Q;
    chunks[i].k = ks[i] + pad * KV;
    chunks[i].v = vs[i] + pad * KV;
    chunks[i].out = outs[i] + pad * Q;
  }
  if (kvc->prefill(chunks, BATCH) != KVC_OK)
    return fail(caches[0]);
  /* All in one call as well: each at its own position. */
  kvc_step steps[BATCH];
  memset(steps, 0, sizeof steps);
  float together[BATCH][Q], alone[Q];
  int right = 1;
  for (int i = 0; i < BATCH; ++i) {
    project(qs[i], Q, lengths[i]);
    project(ks[i], KV, lengths[i] + 1);
    project(vs[i], KV, lengths[i] + 2);
    steps[i] = (kvc_step){.cache = caches[i],
                          .layer = SELF,
                          .position = lengths[i],
                          .q = qs[i],
                          .k = ks[i],
                          .v = vs[i],
                          .out = together[i]};
  }
  if (kvc->decode(steps, BATCH) != KVC_OK)
    return fail(caches[0]);
  for (int i = 0; i < BATCH; ++i) {
    kvc_cache *single = create();
    if (decode(single, 0, lengths[i] + 1, alone))
      return 1;
    right &= same(together[i], alone, Q);
    kvc->destroy(single);
    kvc->destroy(caches[i]);
  }
  return tell("ragged batch", right);
}

/* A draft of eight tokens, of which five are accepted: back to them. */
static int drafting(void) {
  enum { LENGTH = 100, DRAFT = 8, ACCEPTED = 5 };
  kvc_cache *cache = create(), *alone = create();
  float out[Q], right[Q];
  if (decode(cache, 0, LENGTH + DRAFT, out))
    return 1;
  if (kvc->truncate(cache, LENGTH + ACCEPTED) != KVC_OK)
    return fail(cache);
  if (decode(cache, LENGTH + ACCEPTED, LENGTH + DRAFT + 1, out) ||
      decode(alone, 0, LENGTH + DRAFT + 1, right))
    return 1;
  kvc->destroy(cache);
  kvc->destroy(alone);
  return tell("drafting", same(out, right, Q));
}

/* A temperature that depends on the position is a factor of the query: the
 * rotation is linear, so it may come before. */
static int temperature(void) {
  enum { LENGTH = 30 };
  const float factor = 2; /* of this position; a power of two rounds nothing */
  kvc_cache *cache = create();
  float warm[Q], hot[Q], warmLse[HEADS], hotLse[HEADS];
  if (decode(cache, 0, LENGTH, warm))
    return 1;
  /* Over one token the softmax is 1 and lse is the logit. */
  kvc_query query = {.cache = cache,
                     .layer = SELF,
                     .position = LENGTH - 1,
                     .tokens = 1,
                     .from = LENGTH - 1,
                     .to = LENGTH,
                     .q = q,
                     .out = warm,
                     .lse = warmLse};
  if (kvc->attend(&query, 1) != KVC_OK)
    return fail(cache);
  for (int i = 0; i < Q; ++i)
    q[i] *= factor;
  query.out = hot;
  query.lse = hotLse;
  if (kvc->attend(&query, 1) != KVC_OK)
    return fail(cache);
  int right = 1;
  for (int head = 0; head < HEADS; ++head)
    right &= fabsf(hotLse[head] - factor * warmLse[head]) <=
             1e-5f * (1 + fabsf(hotLse[head]));
  kvc->destroy(cache);
  return tell("temperature", right);
}

int main(void) {
  kvc = decoder_library();
  return crossAttention() | prefixReuse() | raggedBatch() | drafting() |
         temperature();
}
