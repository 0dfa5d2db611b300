/*===- Generated.h - what the compiler generates for the runtime ----*- C -*-===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * The contract between generated code and the runtime. The runtime knows no
 * policy: how many tokens a stream holds, what is coded, which index a query
 * takes and what all that costs in bytes are generated functions of the
 * sequence's length. Tokens are counted from 0 here, first_position excluded.
 *
 * A *stream* is a run of tokens of one plane (keys or values) in one encoding,
 * in pages of a fixed number of tokens: the sinks, the originals (residual) or
 * the codes. At every length a stream holds one range [begin, end) of tokens;
 * neither ever falls as the length grows. A page is `page_bytes` bytes of
 * 32-bit words (a multiple of 64) and holds all kv heads of its tokens. It is
 * zero when new; when it is used again it holds what is left of older tokens,
 * which is finite.
 *
 * All structs are made of 64-bit members so that the compiler can lay them
 * out without knowing a target's rules.
 *
 *===------------------------------------------------------------------------===*/

#ifndef KVC_RUNTIME_GENERATED_H
#define KVC_RUNTIME_GENERATED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KVC_GENERATED_VERSION = 5, KVC_MAX_STREAMS = 8, KVC_MAX_QUERIES = 4 };

/* Bytes that the runtime keeps before each page; `held` counts them. */
enum { KVC_PAGE_HEADER = 64 };

/* kvc_gen_stream.kind */
enum { KVC_STREAM_SINK = 0, KVC_STREAM_ORIGINAL = 1, KVC_STREAM_CODE = 2 };

/* What a kernel sees of a layer's cache: a page table a stream. */
typedef struct kvc_gen_view {
  void **tables[KVC_MAX_STREAMS];
} kvc_gen_view;

typedef struct kvc_gen_stream {
  int64_t kind;
  int64_t origin;      /* first token that it can hold; page 0 begins there */
  int64_t page_tokens; /* tokens a page */
  int64_t page_bytes;
  /* Entries of its page table: the page of token t is entry
   * ((t - origin) / page_tokens) % table_pages. Never fewer than the pages
   * that a piece of a prefill can need at once: those of what was held before
   * it (with `rollback`), of what is held behind it and of its tokens. */
  int64_t table_pages;
  int64_t remade; /* 1: codes that `recode` makes anew, all of them */

  /* What a snapshot has of a token, in an order that no layout changes: of
   * each kv head `channels` elements of `bits` bits, codes or floats; and of
   * each block of `pair_tokens` tokens (counted from the origin; 0: there are
   * none) `pair_words` words a head of scales and zeros. Where `pair_type`, a
   * kvc_type, is not -1, these are a scale and a zero of that type by turns,
   * from the lowest bit on; the scale is a normal number above 0. */
  int64_t channels, bits, pair_tokens, pair_words, pair_type;
  /* A held token out of its page, and into it. elements: [kv_heads, channels],
   * each in the low bits of a word; pairs: [kv_heads, pair_words], those of the
   * token's block. Null where `remade`. */
  void (*save)(const kvc_gen_view *view, int64_t token, uint32_t *elements,
               uint32_t *pairs);
  void (*restore)(const kvc_gen_view *view, int64_t token,
                  const uint32_t *elements, const uint32_t *pairs);
} kvc_gen_stream;

/* Consecutive tokens of a sequence that ask, of one head of keys and the query
 * heads that meet it. Row r asks as the newest of seen + r tokens. It attends
 * to what a decode step there attends to, as far as it lies in [from, to).
 * Where seen + r is beyond `newest`, the length of what is held, it attends to
 * what is stored at `newest` less what seen + r no longer stores. A kernel may
 * look at all tokens of a stream from the first that any row attends to in it
 * to the last of the last row, as far as they lie in [from, to): they have
 * pages. */
typedef struct kvc_gen_rows {
  int64_t head; /* of keys */
  int64_t seen; /* of row 0, at least 1 */
  int64_t rows; /* 1 to the kernel's `rows` */
  int64_t newest;
  int64_t from, to;
  const void *q; /* [rows, heads, head_dim], io */
  /* angles[i], the query's i-th rotation, is [kernel rows][2][pairs]: for each
   * row the cosines, then the sines of its index (`indices` of seen + r).
   * Rows that do not ask need not be filled. */
  const float *angles[KVC_MAX_QUERIES];
  void *out;  /* [rows, heads, value_dim]: io, or f32 where `partial` */
  float *lse; /* [rows, heads] */
  int64_t partial;
  /* [heads]: a logit that the softmax starts with; null: it starts with none.
   * Of kernels that have `learned_sinks`. */
  const float *sinks;
} kvc_gen_rows;

/* Attention over a part of what a row attends to. */
typedef struct kvc_gen_part {
  const float *out; /* [rows, heads, value_dim] */
  const float *lse; /* [rows, heads] */
} kvc_gen_part;

/* Of a reader's kernel, which reads an owner's streams, the runtime calls
 * `indices`, `ranges`, `attend`, `attend_rows`, `merge` and `live` alone; the
 * rest may be null. */
typedef struct kvc_gen_kernel {
  int64_t heads, kv_heads, head_dim, value_dim;
  int64_t limit;    /* most tokens a sequence may have; -1: none */
  int64_t rollback; /* steps by which one can go back, at least */
  int64_t rows;     /* most rows of attend_rows, and tokens of a piece */
  int64_t streams;  /* entries of `stream` */
  const kvc_gen_stream *stream;
  int64_t queries; /* distinct query indices: 1 or 2 (0: no rotation) */

  /* out[2 s], out[2 s + 1]: begin and end of stream s at length `seen`, which
   * may be 0. Where end <= begin, it holds nothing. */
  void (*ranges)(int64_t seen, int64_t *out);
  /* Likewise what stays in pages at length `seen`, where the longest length so
   * far was `reached`: more than `ranges` by what `rollback` holds. */
  void (*held)(int64_t seen, int64_t reached, int64_t *out);
  /* out[i]: the index (first position excluded) that the query of the newest
   * of `seen` tokens takes for its i-th rotation. */
  void (*indices)(int64_t seen, int64_t *out);
  /* out[0]: tokens stored; out[1..6]: codes, scales, residual, sinks,
   * originals, rollback (kvc_bytes), where the longest length was `reached`. */
  void (*plan)(int64_t seen, int64_t reached, int64_t *out);

  /* Rotate token `token` (angles: of its index) and write it to the stream
   * that it enters. Returns how many values saturated. angles is null where
   * nothing is rotated. */
  int64_t (*append)(const kvc_gen_view *view, int64_t token, const void *k,
                    const void *v, const float *angles);
  /* Code what falls due at length `seen` (it was appended, and the streams
   * still hold what they held at seen - 1). Returns how many saturated. */
  int64_t (*code)(const kvc_gen_view *view, int64_t seen);
  /* Attend with one row; with as many as `rows` (null where that is 1). */
  void (*attend)(const kvc_gen_view *view, const kvc_gen_rows *rows);
  void (*attend_rows)(const kvc_gen_view *view, const kvc_gen_rows *rows);
  /* Join `count` parts of row `row`: out [heads, value_dim], io or f32 where
   * `partial`, lse [heads] or null. The order of the parts is that of the
   * sums. */
  void (*merge)(const kvc_gen_part *parts, int64_t count, int64_t row,
                void *out, float *lse, int64_t partial);
  /* Tokens [from, to) as f32, as kvc_library_table.read says; the token
   * count of the output's rows is `rows`, its first row `row`. There is at
   * least one token; all are stored, and all are sinks or none is. keys and
   * values may be null. */
  void (*read)(const kvc_gen_view *view, int64_t seen, int64_t from, int64_t to,
               int64_t row, int64_t rows, float *keys, float *values);
  /* What is stored at `seen`: tokens [0, out[0]), which are sinks, and
   * [out[1], seen); out[0] <= out[1] <= seen. */
  void (*live)(int64_t seen, int64_t *out);
  int64_t learned_sinks; /* 1: attend takes `sinks`, which a cache is created
                          * with; 0: it does not look at them */
  /* Make codes that depend on all that is stored anew, from originals that
   * stay: those of length `seen`, whose tokens have pages. What attends and
   * reads as of a length wants codes of that length. Returns how many scales
   * and zeros of them saturate. Null: there are no such codes. */
  int64_t (*recode)(const kvc_gen_view *view, int64_t seen);
  /* Where the nearest body token of a row lies further before it, lse is large
   * beside what parts differ by: attention is not cut by tokens then. */
  int64_t near;
} kvc_gen_kernel;

typedef struct kvc_gen_layer {
  const kvc_gen_kernel *kernel;
  int64_t kernel_number;
  int64_t owner; /* itself, or the layer whose streams it reads */
  int64_t rope;  /* entry of kvc_gen_model.rope; -1: no rotation */
  int64_t chunk; /* most tokens of one call, since readers follow; -1: any */
  const char *policy;
} kvc_gen_layer;

/* Frequencies of one rotary setting: angle = index * frequency[i], at most
 * 2^50; cosine and sine are multiplied by `factor`, then rounded once to f32.
 */
typedef struct kvc_gen_rope {
  int64_t pairs;
  double factor;
  const double *frequency;
} kvc_gen_rope;

typedef struct kvc_gen_model {
  int64_t version; /* KVC_GENERATED_VERSION */
  const char *name, *spec, *target;
  /* What a snapshot must have in common with a cache: what changes stored
   * values, of each layer that stores any, in lines. */
  const char *stored;
  int64_t io;       /* kvc_type */
  int64_t features; /* bits of CPU features needed; Platform.h names them */
  int64_t layers, kernels, ropes;
  const kvc_gen_layer *layer;
  const kvc_gen_rope *rope;
} kvc_gen_model;

/* The one symbol that generated code defines for the runtime. */
extern const kvc_gen_model kvc_generated;

#ifdef __cplusplus
}
#endif

#endif /* KVC_RUNTIME_GENERATED_H */
