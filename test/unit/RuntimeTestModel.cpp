//===- RuntimeTestModel.cpp - a model made by hand --------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler would generate.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTestModel.h"

#include "kvc/kvc.h"
#include "runtime/Generated.h"
#include "runtime/Platform.h"

#include <bit>

namespace kvc::test {

namespace {

/// All tables are longer than all-token tests run, or as short as the
/// window allows: a step needs window + 1 tokens of floats (4 a page).
constexpr int64_t longTable = 1 << 14;

template <int32_t Number> struct Kernel {
  static constexpr Policy policy = policies[Number];
  static constexpr int64_t floatPages = Number == SmallTable ? 1
                                        : policy.window      ? 4
                                                             : longTable;
  static constexpr int64_t codePages = policy.window ? 2 : 1;
  static constexpr int64_t keyFloatPages = policy.flush ? 1 : floatPages;
  static constexpr kvc_gen_stream streams[streamCount] = {
      {KVC_STREAM_SINK, 0, pageTokens[KeySinks], pageBytes[KeySinks], 1},
      {KVC_STREAM_ORIGINAL, policy.sink, pageTokens[KeyFloats],
       pageBytes[KeyFloats], keyFloatPages},
      {KVC_STREAM_CODE, policy.sink, pageTokens[KeyCodes], pageBytes[KeyCodes],
       codePages},
      {KVC_STREAM_SINK, 0, pageTokens[ValueSinks], pageBytes[ValueSinks], 1},
      {KVC_STREAM_ORIGINAL, policy.sink, pageTokens[ValueFloats],
       pageBytes[ValueFloats], floatPages}};

  static float *row(const kvc_gen_view *view, int64_t stream, int64_t token,
                    int64_t channels) {
    const kvc_gen_stream &shape = streams[stream];
    int64_t slot = token - shape.origin;
    int64_t page = slot / shape.page_tokens % shape.table_pages;
    return static_cast<float *>(view->tables[stream][page]) +
           slot % shape.page_tokens * channels;
  }

  static float turnOver(float value) {
    return std::bit_cast<float>(~std::bit_cast<uint32_t>(value));
  }

  static float key(const kvc_gen_view *view, int64_t seen, int64_t token,
                   int64_t channel) {
    if (token < policy.sink)
      return row(view, KeySinks, token, headDim)[channel];
    if (token >= policy.coded(seen))
      return row(view, KeyFloats, token, headDim)[channel];
    return turnOver(row(view, KeyCodes, token, headDim)[channel]);
  }

  static float value(const kvc_gen_view *view, int64_t token, int64_t channel) {
    int64_t stream = token < policy.sink ? ValueSinks : ValueFloats;
    return row(view, stream, token, valueDim)[channel];
  }

  static void ranges(int64_t seen, int64_t *out) {
    int64_t first = policy.first(seen), coded = policy.coded(seen);
    int64_t bounds[2 * streamCount] = {0,
                                       policy.sinks(seen),
                                       first > coded ? first : coded,
                                       seen,
                                       first,
                                       coded,
                                       0,
                                       policy.sinks(seen),
                                       first,
                                       seen};
    for (int64_t i = 0; i < 2 * streamCount; ++i)
      out[i] = bounds[i];
  }

  static void indices(int64_t seen, int64_t *out) {
    out[0] = seen - 1;
    out[1] = policy.stored(seen) - 1;
  }

  static void plan(int64_t seen, int64_t *out) {
    int64_t coded = policy.coded(seen) - policy.first(seen);
    coded = coded > 0 ? coded : 0;
    int64_t body = seen - policy.first(seen);
    out[0] = policy.stored(seen);
    out[1] = coded * 4 * headDim;
    out[2] = 0;
    out[3] = (body - coded) * 4 * headDim + body * 4 * valueDim;
    out[4] = policy.sinks(seen) * 4 * (headDim + valueDim);
    out[5] = out[6] = 0;
  }

  static void rotate(const float *x, const float *angles, float *out) {
    float c = angles ? angles[0] : 1, s = angles ? angles[1] : 0;
    out[0] = x[0] * c - x[1] * s;
    out[1] = x[0] * s + x[1] * c;
  }

  static int64_t append(const kvc_gen_view *view, int64_t token, const void *k,
                        const void *v, const float *angles) {
    bool sink = token < policy.sink;
    rotate(static_cast<const float *>(k), angles,
           row(view, sink ? KeySinks : KeyFloats, token, headDim));
    float *values = row(view, sink ? ValueSinks : ValueFloats, token, valueDim);
    for (int64_t i = 0; i < valueDim; ++i)
      values[i] = static_cast<const float *>(v)[i];
    return values[0] == 1000; // something to count
  }

  static int64_t code(const kvc_gen_view *view, int64_t seen) {
    int64_t begin = policy.coded(seen - 1), end = policy.coded(seen);
    if (begin < policy.first(seen))
      begin = policy.first(seen);
    for (int64_t token = begin; token < end; ++token)
      if (token >= policy.sink)
        for (int64_t i = 0; i < headDim; ++i)
          row(view, KeyCodes, token, headDim)[i] =
              turnOver(row(view, KeyFloats, token, headDim)[i]);
    return end > begin && policy.flush;
  }

  static void attend(const kvc_gen_view *view, int64_t seen, const void *q,
                     const float *const *angles, void *out, float *lse,
                     const float *) {
    for (int64_t head = 0; head < policy.heads; ++head) {
      float body[headDim], sink[headDim];
      const float *query = static_cast<const float *>(q) + head * headDim;
      rotate(query, angles[0], body);
      rotate(query, angles[policy.sink ? 1 : 0], sink);
      float *result = static_cast<float *>(out) + head * valueDim;
      result[0] = result[1] = result[2] = 0;
      for (int64_t t = 0; t < seen; ++t) {
        if (t == policy.sinks(seen))
          t = policy.first(seen);
        const float *rotated = t < policy.sink ? sink : body;
        float score = rotated[0] * key(view, seen, t, 0) +
                      rotated[1] * key(view, seen, t, 1);
        for (int64_t i = 0; i < valueDim; ++i)
          result[i] += value(view, t, i) + score;
      }
      if (lse)
        lse[head] = static_cast<float>(policy.stored(seen));
    }
  }

  static void read(const kvc_gen_view *view, int64_t seen, int64_t from,
                   int64_t to, int64_t firstRow, int64_t, float *keys,
                   float *values) {
    for (int64_t t = from; t < to; ++t) {
      int64_t out = firstRow + t - from;
      for (int64_t i = 0; keys && i < headDim; ++i)
        keys[out * headDim + i] = key(view, seen, t, i);
      for (int64_t i = 0; values && i < valueDim; ++i)
        values[out * valueDim + i] = value(view, t, i);
    }
  }

  static void live(int64_t seen, int64_t *out) {
    out[0] = policy.sinks(seen);
    out[1] = policy.first(seen);
  }

  static constexpr kvc_gen_kernel kernel = {policy.heads,
                                            kvHeads,
                                            headDim,
                                            valueDim,
                                            policy.limit,
                                            streamCount,
                                            streams,
                                            policy.rope < 0 ? 0
                                            : policy.sink   ? 2
                                                            : 1,
                                            ranges,
                                            indices,
                                            plan,
                                            append,
                                            code,
                                            attend,
                                            read,
                                            live,
                                            0};
};

constexpr kvc_gen_layer layers[LayerCount] = {
    {&Kernel<AllFloats>::kernel, 0, AllFloats, 0, "all"},
    {&Kernel<StreamCoded>::kernel, 1, StreamCoded, 1, "sink 2, window 10"},
    {&Kernel<AllReader>::kernel, 2, AllFloats, 0, "share 0"},
    {&Kernel<Limited>::kernel, 3, Limited, -1, "context 5"},
    {&Kernel<StreamReader>::kernel, 4, StreamCoded, 1, "share 1"},
    {&Kernel<SmallTable>::kernel, 5, SmallTable, 0, "small table"}};

constexpr kvc_gen_rope ropes[2] = {{1, ropeFactor[0], &ropeFrequency[0]},
                                   {1, ropeFactor[1], &ropeFrequency[1]}};

} // namespace

} // namespace kvc::test

extern "C" const kvc_gen_model kvc_generated = {KVC_GENERATED_VERSION,
                                                "toy",
                                                "kvc: 1",
                                                "x86-64-v3",
                                                KVC_F32,
                                                kvc::runtime::CpuX86_64V2 |
                                                    kvc::runtime::CpuF16c,
                                                kvc::test::LayerCount,
                                                6,
                                                2,
                                                kvc::test::layers,
                                                kvc::test::ropes};
