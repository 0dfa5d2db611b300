/*===- kvc.h - the C interface of a generated library ---------------*- C -*-===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * `kvc compile spec.yaml -o decode.so` writes a library and `decode.h` beside
 * it. The library exports `<name>_library()` and, when shared,
 * `kvc_library()`; both return the table of functions below.
 *
 * Rules for every function of the table:
 *  - it returns a status; it never throws, prints or exits;
 *  - an error leaves the cache as it was, and its text is kept by the cache
 *    (last_error) until the next call on it; where there is no cache, by the
 *    thread (last_error(NULL));
 *  - distinct caches may be used from distinct threads at the same time; one
 *    cache by one thread at a time;
 *  - arrays are dense and row-major, in the element type `io` of the library;
 *  - floats are rounded to nearest even, subnormal numbers are kept and nothing
 *    traps, whatever the calling thread (or one of parallel_for's) has set;
 *    rounding, flushing, traps and exception flags are then as they were.
 *    Functions of yours that a call uses run under the library's settings on
 *    the thread that called.
 *
 * Positions: a cache counts tokens from 0. `first_position` f, given at
 * creation, is added to what is rotated and reported, and to nothing else:
 * sinks, window, group borders and context count from f.
 *
 *===------------------------------------------------------------------------===*/

#ifndef KVC_KVC_H
#define KVC_KVC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Goes up when a program that was compiled with an older header would go wrong:
 * it looks at abi_version of the table before anything else, and calls nothing
 * where that is another.
 *
 * What only grows leaves the version as it is; members are added at the end.
 *  - The table: a function that came later is there where `size` of the table
 *    is beyond it.
 *  - kvc_options, kvc_info, kvc_layer_info, kvc_stats: their first member, set
 *    by the caller, says how much there is of them. The library reads and
 *    writes no more of them. What it has to say beyond is left out; what it
 *    does not know of an answer it leaves as it was (zero it first), and of
 *    options it refuses, unless it is zero.
 *  - kvc_bytes, which lies within kvc_stats, has room for what comes.
 *  - kvc_step, kvc_chunk, kvc_query, kvc_part come in arrays, whose stride is
 *    their size: they do not grow. */
#define KVC_ABI_VERSION 4

typedef enum kvc_status {
  KVC_OK = 0,
  KVC_INVALID_ARGUMENT = 1, /* null pointer, layer out of range, bad size */
  KVC_NOT_FINITE = 2,       /* NaN, infinity or a magnitude above 2^56 */
  KVC_FULL = 3,             /* the context of a layer is full */
  KVC_ORDER = 4,            /* the position is not the one that comes next */
  KVC_OUT_OF_MEMORY = 5,
  KVC_UNSUPPORTED_CPU = 6, /* this CPU lacks what the library was built for */
  KVC_VERSION = 7,         /* asked for a version that this library is not */
  KVC_GONE = 8,            /* what is asked for was evicted or coded since */
  KVC_IO = 9,              /* a file or a stream could not be read or written */
  KVC_SNAPSHOT = 10        /* damaged, or made for what this library is not */
} kvc_status;

/* Element types, as `io` of kvc_info. */
typedef enum kvc_type { KVC_F32 = 0, KVC_F16 = 1, KVC_BF16 = 2 } kvc_type;

/* What a layer keeps for one sequence; opaque. */
typedef struct kvc_cache kvc_cache;

/* Bytes of one layer by kind (the byte plan). `padding` = held - used. */
typedef struct kvc_bytes {
  int64_t codes;     /* ceil(stored coded tokens * channels * bits / 8) */
  int64_t scales;    /* a (scale, zero) pair for each group with a token */
  int64_t residual;  /* tokens not coded, and float planes */
  int64_t sinks;     /* the first `sink` tokens, never coded */
  int64_t originals; /* what `group: all` keeps beside its codes */
  int64_t rollback;  /* what `rollback` holds */
  int64_t padding;   /* held in pages and not used */
  int64_t later[9];  /* kinds that later versions may have; 0 */
} kvc_bytes;

/* One layer's shape and policy. */
typedef struct kvc_layer_info {
  uint32_t size; /* sizeof(kvc_layer_info), set by the caller */
  int32_t heads, kv_heads, head_dim, value_dim;
  int32_t owner;  /* itself, or the layer whose cache it reads */
  int32_t kernel; /* layers with the same number share their kernels */
  int32_t piece;  /* tokens that a prefill takes at a time: `held` counts
                   * as many more while it runs */
  int32_t chunk;  /* most tokens of one chunk, since readers follow; -1: any */
  int32_t rollback;      /* steps that an attend can go back by, at least */
  int64_t limit;         /* most tokens of a sequence (context); -1: any */
  const char *policy;    /* in words, as the dialect prints it */
  int32_t learned_sinks; /* 1: create takes one logit a query head; else 0 */
} kvc_layer_info;

typedef struct kvc_info {
  uint32_t size; /* sizeof(kvc_info), set by the caller */
  uint32_t abi_version;
  const char *name;
  const char *spec;   /* the canonical spec, YAML; "" where there was none */
  const char *target; /* e.g. "x86-64-v3" */
  kvc_type io;
  int32_t layers;
  int32_t kernels; /* distinct kernels */
} kvc_info;

/* The caller's own threads: run body(context, 0) to body(context, count - 1),
 * each once, in any order and on any threads, and return when all have run.
 * The body leaves each thread's float settings as they were. */
typedef void (*kvc_body)(void *context, int64_t index);
typedef void (*kvc_parallel_for)(void *user, int64_t count, kvc_body body,
                                 void *context);

/* Options of create; zero-initialise, then set what you want. A library that
 * does not know a member which is set refuses with KVC_VERSION. */
typedef struct kvc_options {
  uint32_t size;          /* sizeof(kvc_options) */
  int64_t first_position; /* >= 0, <= 2^40 */
  /* [layers]: the learned sinks of each layer, [heads], finite and of at most
   * 2^56 in magnitude; null for a layer that takes none (learned_sinks of
   * layer_info). They are copied. NULL where no layer takes any. */
  const float *const *learned_sinks;
  /* Where the text of a failing create goes; "" after a success. NULL: nowhere.
   */
  char *error;
  size_t error_size;
  /* Attention runs on `threads` threads (the caller's is one of them; 0 or 1:
   * on it alone; at most 256), which wait for work until destroy; or on
   * parallel_for's. A call with several caches runs on the threads of the
   * first of them that has any. Results are the same to the bit. */
  int32_t threads;
  kvc_parallel_for parallel_for; /* with it, threads is 0 */
  void *parallel_for_user;       /* its first argument */

  /* The caller's own memory: both functions, or neither for the C library's.
   * All that the cache holds, itself included, comes from `allocate` and goes
   * back to `release`, at destroy at the latest.
   *  - allocate: `bytes` (at least 1) at a multiple of `alignment` (a power of
   *    two, at most 64), with any contents: the library zeroes them. NULL where
   *    memory is short; the call then is KVC_OUT_OF_MEMORY and the cache as it
   *    was. Pages of tokens come one at a time, when a page border is crossed.
   *  - release: what allocate gave, never NULL.
   *  - Both are called within create, destroy and other calls on that cache,
   *    never two at once for one cache. They may be shared by caches; where
   *    these are used from distinct threads, both must bear that. They must
   *    not call the library. */
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *memory);
  void *allocator_user; /* handed to both */
} kvc_options;

/* One token of one layer, for decode. */
typedef struct kvc_step {
  kvc_cache *cache;
  int32_t layer;
  int64_t position;  /* of this token, first_position included */
  const void *q;     /* [heads, head_dim], before rotation */
  const void *k;     /* [kv_heads, head_dim], before rotation; a reader: NULL */
  const void *v;     /* [kv_heads, value_dim]; a reader: NULL */
  void *out;         /* [heads, value_dim] */
  float *lse;        /* [heads], or NULL: log of the softmax's denominator */
  kvc_status status; /* written: how this step went */
} kvc_step;

/* Consecutive tokens of one layer, for prefill and append. */
typedef struct kvc_chunk {
  kvc_cache *cache;
  int32_t layer;
  int64_t position;  /* of the first token, first_position included */
  int64_t tokens;    /* >= 0 */
  const void *q;     /* [tokens, heads, head_dim]; append: NULL */
  const void *k;     /* [tokens, kv_heads, head_dim]; a reader: NULL */
  const void *v;     /* [tokens, kv_heads, value_dim]; a reader: NULL */
  void *out;         /* [tokens, heads, value_dim]; append: NULL */
  float *lse;        /* [tokens, heads], or NULL */
  kvc_status status; /* written: how this chunk went */
} kvc_chunk;

/* Queries at consecutive positions of one layer over a part of its tokens, for
 * attend. */
typedef struct kvc_query {
  kvc_cache *cache;
  int32_t layer;
  int64_t position;   /* of the first query, first_position included */
  int64_t tokens;     /* queries, >= 0 */
  int64_t from, to;   /* tokens at positions from <= t < to; from <= to */
  int32_t with_sinks; /* 1: with the layer's learned sinks, which belong to one
                       * of the parts that are merged; else 0 */
  const void *q;      /* [tokens, heads, head_dim], before rotation */
  float *out;         /* [tokens, heads, value_dim]; f32, whatever io is */
  float *lse;         /* [tokens, heads], or NULL */
  kvc_status status;  /* written: how this query went */
} kvc_query;

/* What attend gave of one part of the tokens, for merge. Where nothing was
 * attended to: zeros and minus infinity, which change nothing. */
typedef struct kvc_part {
  const float *out; /* [tokens, heads, value_dim] */
  const float *lse; /* [tokens, heads] */
} kvc_part;

typedef struct kvc_stats {
  uint32_t size;     /* sizeof(kvc_stats), set by the caller */
  int64_t seen;      /* tokens appended */
  int64_t stored;    /* tokens a query attends to */
  int64_t evicted;   /* seen - stored */
  int64_t saturated; /* scales, zeros and floats that met their type's limit
                      * when this cache, or the one it was forked from, wrote
                      * them; with group: all the scales and zeros of now */
  kvc_bytes used;    /* the byte plan at this length; padding is filled in */
  int64_t held;      /* bytes in pages, at the high-water mark */
  int64_t shared;    /* of these: in pages that a fork of this cache, or the
                      * cache it was forked from, holds too */
} kvc_stats;

/* Where a snapshot goes: takes all of `count` bytes, or gives other than 0,
 * which ends the save. */
typedef int (*kvc_write)(void *user, const void *bytes, size_t count);
/* Where one comes from: gives how many of `count` bytes it wrote to `bytes`;
 * fewer where the stream ends, or cannot be read. */
typedef size_t (*kvc_read)(void *user, void *bytes, size_t count);

typedef struct kvc_library_table {
  uint32_t abi_version;
  uint32_t size; /* sizeof(kvc_library_table) as the library was built */

  /* What the library is; valid for the life of the process. */
  kvc_status (*info)(kvc_info *out);
  kvc_status (*layer_info)(int32_t layer, kvc_layer_info *out);

  /* A cache for one sequence. `options` may be NULL. Refused on a CPU that
   * lacks what the library was built for. Where it fails, last_error(NULL) has
   * the reason, and `error` of options gets it, if their `size` is right. */
  kvc_status (*create)(const kvc_options *options, kvc_cache **out);
  void (*destroy)(kvc_cache *cache); /* NULL is allowed */

  /* One token a step: rotate, append, evict, code what is due, attend to all
   * that is stored, this token included. Steps are independent: each has its
   * own status, and the others proceed; the result is the first error, or
   * KVC_OK, and the text of the first error stays with its cache. A reader's
   * step comes after its owner's for the same position. */
  kvc_status (*decode)(kvc_step *steps, size_t count);

  /* Chunks of tokens, with the result of as many decode steps: what is stored
   * is the same to the bit, whatever the cut; outputs are within rounding. A
   * chunk is taken as a whole or not at all. Where a layer is read by others
   * and forgets tokens or codes them, a chunk has at most `chunk` tokens
   * (kvc_layer_info). Statuses as for decode. */
  kvc_status (*prefill)(kvc_chunk *chunks, size_t count);
  /* The same without queries, for owners. */
  kvc_status (*append)(kvc_chunk *chunks, size_t count);

  /* What a decode step at `position` attends to, as far as it lies in
   * [from, to), in the form (codes or originals) it had then; appends nothing.
   * Goes back by `rollback` steps from the longest length so far, and further
   * where nothing that is needed was evicted or coded since; else KVC_GONE.
   * Beyond the newest token: over what is stored now, less what the
   * position's window excludes. */
  kvc_status (*attend)(kvc_query *queries, size_t count);
  /* Joins results of attend over parts of the tokens of a layer, in the order
   * given, and writes io. `parts` may be NULL where count is 0, `lse` always.
   * Several threads may merge at once. Refused where create would be for the
   * CPU. */
  kvc_status (*merge)(int32_t layer, const kvc_part *parts, size_t count,
                      int64_t tokens, void *out, float *lse);

  /* Forget all tokens; what is held serves again. */
  kvc_status (*reset)(kvc_cache *cache);

  /* The stored tokens of an owner in ascending position: how many; then for
   * those numbered from <= n < to (counted among the stored) their keys
   * [kv_heads, to - from, head_dim], rotated as stored, values
   * [kv_heads, to - from, value_dim] and positions [to - from]. Codes come as
   * code * scale rounded, then + zero rounded. Each pointer may be NULL. */
  kvc_status (*stored)(kvc_cache *cache, int32_t layer, int64_t *out);
  kvc_status (*read)(kvc_cache *cache, int32_t layer, int64_t from, int64_t to,
                     float *keys, float *values, int64_t *positions);

  /* Of one layer; a reader's are all zero but seen. */
  kvc_status (*stats)(kvc_cache *cache, int32_t layer, kvc_stats *out);
  /* The byte plan of one layer for a sequence of `tokens` (0 to 2^40), without
   * a cache; padding is 0. Refused where create would be for the CPU. */
  kvc_status (*plan)(int32_t layer, int64_t tokens, kvc_bytes *out);

  /* The text of the cache's last error, "" after a success. With NULL: of the
   * last error of this thread that had no cache to keep it: of a call whose
   * cache was NULL, and of create, merge, plan, info and layer_info, after
   * whose success it is "". It stays until this thread's next such call. */
  const char *(*last_error)(const kvc_cache *cache);
  const char *(*status_name)(kvc_status status);

  /* Back to a length of `tokens` (first_position excluded), as after that many
   * steps: layers that are longer forget what came later, others stay as they
   * are. Exact down to the longest length so far less `rollback` (so far: since
   * a load, or since one went back farther than that), and further where
   * nothing that was stored then was evicted or coded since; else KVC_GONE, and
   * its text says of which layer what is gone. `tokens` beyond
   * the longest layer is KVC_INVALID_ARGUMENT. */
  kvc_status (*truncate)(kvc_cache *cache, int64_t tokens);

  /* A second cache with the same tokens. Both share the pages of now, which
   * are copied one by one as either writes to them; from here on they are
   * distinct caches, for distinct threads and to be destroyed in any order. The
   * fork has its cache's first position, learned sinks and allocator. Of
   * `options` it takes `threads`, `parallel_for` and `error`; the rest is zero.
   * NULL: its cache's parallel_for, and no threads. */
  kvc_status (*fork)(kvc_cache *cache, const kvc_options *options,
                     kvc_cache **out);

  /* A snapshot: what is stored, in an order that depends on nothing but the
   * tokens and what the spec says of storing them; what rollback holds is not
   * in it. The same tokens give the same bytes on every target.
   *  - save writes another file beside `path` (.kvc-, and six characters),
   *    gives it that name at the end, and syncs both; where it fails (KVC_IO),
   *    `path` is as it was, unless the text says that the file is written and
   *    its folder could not be synced. A new file has the mode 0600, one that
   *    takes an old one's place the old one's. A link is followed, to a file
   *    that there need not be yet. Folders, FIFOs, sockets and devices are
   *    refused.
   *  - load takes the place of all that the cache had, and wants a cache of the
   *    same first position. Other files are refused with the reason
   *    (KVC_SNAPSHOT; KVC_IO: it cannot be read; KVC_OUT_OF_MEMORY), and the
   *    cache is as it was. A reader has been where its owner is.
   *  - save_to and load_from do the same with the caller's own stream. */
  kvc_status (*save)(kvc_cache *cache, const char *path);
  kvc_status (*load)(kvc_cache *cache, const char *path);
  kvc_status (*save_to)(kvc_cache *cache, kvc_write write, void *user);
  kvc_status (*load_from)(kvc_cache *cache, kvc_read read, void *user);
} kvc_library_table;

typedef const kvc_library_table *(*kvc_library_function)(void);

#ifdef __cplusplus
}
#endif

#endif /* KVC_KVC_H */
