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

#include <algorithm>
#include <bit>

namespace kvc::test {

std::atomic<int64_t> missingPages = 0;
std::atomic<int64_t> recodes = 0;
std::atomic<int64_t> wrongPairs = 0;

namespace {

/// Tables of layers that keep all tokens are longer than any test.
constexpr int64_t longTable = 1 << 14;

/// Pages of a stream that holds at most `tokens` at once, wherever they begin.
constexpr int64_t pagesFor(int64_t tokens, int64_t stream) {
  return (tokens + pageTokens[stream] - 2) / pageTokens[stream] + 1;
}

template <int32_t Number> struct Kernel {
  static constexpr Policy policy = policies[Number];
  static constexpr int64_t group = policy.heads / kvHeads;

  /// What a piece needs at once, no page more.
  static constexpr int64_t more = policy.rollback + policy.rows;
  static constexpr int64_t tablePages(int64_t stream) {
    if (stream == KeySinks || stream == ValueSinks)
      return 1;
    if (!policy.window)
      return stream == KeyCodes ? 1 : longTable;
    return pagesFor(policy.window + more, stream);
  }
  template <int64_t Stream>
  static constexpr kvc_gen_stream stream(int64_t kind) {
    constexpr bool codes = Stream == KeyCodes;
    const bool remade = codes && policy.remade;
    return {kind,
            kind == KVC_STREAM_SINK ? 0 : policy.sink,
            pageTokens[Stream],
            pageBytes[Stream],
            tablePages(Stream),
            remade,
            channelsOf(Stream),
            32,
            codes && policy.flush ? policy.flush : 0,
            codes && policy.flush ? 1 : 0,
            -1,
            remade ? nullptr : save<Stream>,
            remade ? nullptr : restore<Stream>};
  }
  static constexpr kvc_gen_stream streams[streamCount] = {
      stream<KeySinks>(KVC_STREAM_SINK), stream<KeyFloats>(KVC_STREAM_ORIGINAL),
      stream<KeyCodes>(KVC_STREAM_CODE), stream<ValueSinks>(KVC_STREAM_SINK),
      stream<ValueFloats>(KVC_STREAM_ORIGINAL)};

  //===--------------------------------------------------------------------===//
  // Where a token lies
  //===--------------------------------------------------------------------===//

  static void *page(const kvc_gen_view *view, int64_t stream, int64_t token) {
    const kvc_gen_stream &shape = streams[stream];
    int64_t page = (token - shape.origin) / shape.page_tokens;
    return view->tables[stream][page % shape.table_pages];
  }

  static float *row(const kvc_gen_view *view, int64_t stream, int64_t token,
                    int64_t head, int64_t channels) {
    const kvc_gen_stream &shape = streams[stream];
    int64_t slot = (token - shape.origin) % shape.page_tokens;
    return static_cast<float *>(page(view, stream, token)) +
           (slot * kvHeads + head) * channels;
  }

  static float turnOver(float value) {
    return std::bit_cast<float>(~std::bit_cast<uint32_t>(value));
  }

  /// In the form that the token has at length `seen`.
  static float key(const kvc_gen_view *view, int64_t seen, int64_t token,
                   int64_t head, int64_t channel) {
    if (token < policy.sink)
      return row(view, KeySinks, token, head, headDim)[channel];
    if (token >= policy.coded(seen))
      return row(view, KeyFloats, token, head, headDim)[channel];
    return turnOver(row(view, KeyCodes, token, head, headDim)[channel]) -
           (policy.remade ? static_cast<float>(seen) : 0);
  }

  static float value(const kvc_gen_view *view, int64_t token, int64_t head,
                     int64_t channel) {
    int64_t stream = token < policy.sink ? ValueSinks : ValueFloats;
    return row(view, stream, token, head, valueDim)[channel];
  }

  //===--------------------------------------------------------------------===//
  // Snapshots
  //===--------------------------------------------------------------------===//

  static constexpr int64_t channelsOf(int64_t stream) {
    return stream == ValueSinks || stream == ValueFloats ? valueDim : headDim;
  }

  /// Codes have no scales; what stands for them is their group's number.
  static uint32_t pairOf(int64_t token) {
    constexpr int64_t flush = policy.flush ? policy.flush : 1;
    return static_cast<uint32_t>(1 + (token - policy.sink) / flush);
  }

  template <int64_t Stream>
  static void save(const kvc_gen_view *view, int64_t token, uint32_t *elements,
                   uint32_t *pairs) {
    constexpr int64_t channels = channelsOf(Stream);
    for (int64_t head = 0; head < kvHeads; ++head) {
      for (int64_t i = 0; i < channels; ++i)
        elements[head * channels + i] = std::bit_cast<uint32_t>(
            row(view, Stream, token, head, channels)[i]);
      if (Stream == KeyCodes)
        pairs[head] = pairOf(token);
    }
  }

  template <int64_t Stream>
  static void restore(const kvc_gen_view *view, int64_t token,
                      const uint32_t *elements, const uint32_t *pairs) {
    constexpr int64_t channels = channelsOf(Stream);
    for (int64_t head = 0; head < kvHeads; ++head) {
      for (int64_t i = 0; i < channels; ++i)
        row(view, Stream, token, head, channels)[i] =
            std::bit_cast<float>(elements[head * channels + i]);
      if (Stream == KeyCodes && pairs[head] != pairOf(token))
        ++wrongPairs;
    }
  }

  //===--------------------------------------------------------------------===//
  // Functions of the length
  //===--------------------------------------------------------------------===//

  static void ranges(int64_t seen, int64_t *out) {
    int64_t first = std::max(policy.first(seen), policy.sink);
    int64_t coded = policy.coded(seen);
    int64_t bounds[2 * streamCount] = {0,
                                       policy.sinks(seen),
                                       policy.remade || first > coded ? first
                                                                      : coded,
                                       seen,
                                       first,
                                       coded,
                                       0,
                                       policy.sinks(seen),
                                       first,
                                       seen};
    std::copy(std::begin(bounds), std::end(bounds), out);
  }

  static void held(int64_t seen, int64_t reached, int64_t *out) {
    int64_t back[2 * streamCount];
    ranges(seen, out);
    ranges(std::max<int64_t>(0, reached - policy.rollback), back);
    for (int64_t i : {KeyFloats, KeyCodes, ValueFloats})
      out[2 * i] = std::min(out[2 * i], back[2 * i]);
  }

  static void indices(int64_t seen, int64_t *out) {
    out[0] = seen - 1;
    if (policy.sink)
      out[1] = policy.stored(seen) - 1;
  }

  static void plan(int64_t seen, int64_t reached, int64_t *out) {
    int64_t now[2 * streamCount], kept[2 * streamCount];
    ranges(seen, now);
    held(seen, reached, kept);
    auto bytes = [](const int64_t *range, int64_t stream) {
      int64_t tokens = range[2 * stream + 1] - range[2 * stream];
      return std::max<int64_t>(0, tokens) * tokenBytes[stream];
    };
    out[0] = policy.stored(seen);
    out[1] = bytes(now, KeyCodes);
    out[2] = 0;
    out[3] = bytes(now, KeyFloats) + bytes(now, ValueFloats);
    out[4] = bytes(now, KeySinks) + bytes(now, ValueSinks);
    out[5] = out[6] = 0;
    if (policy.remade) {
      out[3] = bytes(now, ValueFloats);
      out[5] = bytes(now, KeyFloats);
    }
    for (int64_t i = 0; i < streamCount; ++i)
      out[6] += bytes(kept, i) - bytes(now, i);
  }

  static void live(int64_t seen, int64_t *out) {
    out[0] = policy.sinks(seen);
    out[1] = policy.first(seen);
  }

  //===--------------------------------------------------------------------===//
  // Taking in and giving out
  //===--------------------------------------------------------------------===//

  static void rotate(const float *x, const float *angles, float *out) {
    float c = angles ? angles[0] : 1, s = angles ? angles[1] : 0;
    out[0] = x[0] * c - x[1] * s;
    out[1] = x[0] * s + x[1] * c;
  }

  static int64_t append(const kvc_gen_view *view, int64_t token, const void *k,
                        const void *v, const float *angles) {
    bool sink = token < policy.sink;
    const float *keys = static_cast<const float *>(k);
    const float *values = static_cast<const float *>(v);
    for (int64_t head = 0; head < kvHeads; ++head) {
      rotate(keys + head * headDim, angles,
             row(view, sink ? KeySinks : KeyFloats, token, head, headDim));
      std::copy_n(
          values + head * valueDim, valueDim,
          row(view, sink ? ValueSinks : ValueFloats, token, head, valueDim));
    }
    return values[0] == 1000; // something to count
  }

  static int64_t recode(const kvc_gen_view *view, int64_t seen) {
    ++recodes;
    int64_t first = std::max(policy.first(seen), policy.sink);
    for (int64_t token = first; token < seen; ++token)
      for (int64_t i = 0; i < kvHeads * headDim; ++i)
        row(view, KeyCodes, token, 0, headDim)[i] =
            turnOver(row(view, KeyFloats, token, 0, headDim)[i] +
                     static_cast<float>(seen));
    return first < seen ? remadeSaturated : 0;
  }

  static int64_t code(const kvc_gen_view *view, int64_t seen) {
    if (policy.remade)
      return 0;
    int64_t begin = policy.coded(seen - 1), end = policy.coded(seen);
    begin = std::max({begin, policy.first(seen), policy.sink});
    for (int64_t token = begin; token < end; ++token)
      for (int64_t i = 0; i < kvHeads * headDim; ++i)
        row(view, KeyCodes, token, 0, headDim)[i] =
            turnOver(row(view, KeyFloats, token, 0, headDim)[i]);
    return end > begin && policy.flush;
  }

  /// Loops as generated code does: in each stream, from where the tokens begin
  /// of the first row that has any, to where the last one's end, whoever meets
  /// them.
  static void meetPages(const kvc_gen_view *view, const kvc_gen_rows &rows) {
    for (int64_t i = 0; i < streamCount; ++i) {
      int64_t begin = INT64_MAX, end = 0;
      for (int64_t row = 0; row < rows.rows; ++row) {
        int64_t seen = rows.seen + row, held = std::min(seen, rows.newest);
        int64_t begins[2 * streamCount], ends[2 * streamCount];
        ranges(seen, begins);
        ranges(held, ends);
        begins[2 * KeyFloats] =
            std::max(begins[2 * KeyCodes], policy.coded(held));
        int64_t from = std::max(begins[2 * i], rows.from);
        end = std::min(ends[2 * i + 1], rows.to);
        if (from < end)
          begin = std::min(begin, from);
      }
      for (int64_t t = begin; t < end; ++t)
        if (!page(view, i, t))
          ++missingPages;
    }
  }

  static void attendRow(const kvc_gen_view *view, const kvc_gen_rows &rows,
                        int64_t number, int64_t head) {
    int64_t seen = rows.seen + number, held = std::min(seen, rows.newest);
    auto angles = [&](int64_t i) {
      return policy.rope < 0 ? nullptr : rows.angles[i] + number * 2;
    };
    int64_t place = number * policy.heads + head;
    const float *query = static_cast<const float *>(rows.q) + place * headDim;
    float body[headDim], sink[headDim];
    rotate(query, angles(0), body);
    rotate(query, angles(policy.sink ? 1 : 0), sink);
    float result[valueDim] = {}, count = rows.sinks ? rows.sinks[head] : 0;
    for (int64_t t = std::max<int64_t>(rows.from, 0);
         t < std::min(held, rows.to); ++t) {
      if (t >= policy.sink && t < policy.first(seen)) {
        t = std::min(policy.first(seen), held) - 1;
        continue;
      }
      const float *rotated = t < policy.sink ? sink : body;
      float score = rotated[0] * key(view, held, t, rows.head, 0) +
                    rotated[1] * key(view, held, t, rows.head, 1);
      for (int64_t i = 0; i < valueDim; ++i)
        result[i] += value(view, t, rows.head, i) + score;
      ++count;
    }
    std::copy_n(result, valueDim,
                static_cast<float *>(rows.out) + place * valueDim);
    rows.lse[place] = count;
  }

  static void attend(const kvc_gen_view *view, const kvc_gen_rows *rows) {
    meetPages(view, *rows);
    for (int64_t row = 0; row < rows->rows; ++row)
      for (int64_t head = 0; head < group; ++head)
        attendRow(view, *rows, row, rows->head * group + head);
  }

  static void merge(const kvc_gen_part *parts, int64_t count, int64_t row,
                    void *out, float *lse, int64_t) {
    auto sum = [&](const float *kvc_gen_part::*array, int64_t columns,
                   float *result) {
      std::fill_n(result, columns, 0.0f);
      for (int64_t part = 0; part < count; ++part)
        for (int64_t i = 0; i < columns; ++i)
          result[i] += (parts[part].*array)[row * columns + i];
    };
    sum(&kvc_gen_part::out, policy.heads * valueDim, static_cast<float *>(out));
    if (lse)
      sum(&kvc_gen_part::lse, policy.heads, lse);
  }

  static void read(const kvc_gen_view *view, int64_t seen, int64_t from,
                   int64_t to, int64_t firstRow, int64_t rows, float *keys,
                   float *values) {
    for (int64_t head = 0; head < kvHeads; ++head)
      for (int64_t t = from; t < to; ++t) {
        int64_t out = head * rows + firstRow + t - from;
        for (int64_t i = 0; keys && i < headDim; ++i)
          keys[out * headDim + i] = key(view, seen, t, head, i);
        for (int64_t i = 0; values && i < valueDim; ++i)
          values[out * valueDim + i] = value(view, t, head, i);
      }
  }

  static constexpr bool owns = !reads(Number);
  // A function that the runtime does not call is null.
  static constexpr kvc_gen_kernel kernel = {policy.heads,
                                            kvHeads,
                                            headDim,
                                            valueDim,
                                            policy.limit,
                                            policy.rollback,
                                            policy.rows,
                                            streamCount,
                                            streams,
                                            policy.rope < 0 ? 0
                                            : policy.sink   ? 2
                                                            : 1,
                                            ranges,
                                            owns ? held : nullptr,
                                            indices,
                                            owns ? plan : nullptr,
                                            owns ? append : nullptr,
                                            owns ? code : nullptr,
                                            attend,
                                            policy.rows > 1 ? attend : nullptr,
                                            merge,
                                            owns ? read : nullptr,
                                            live,
                                            policy.learnedSinks,
                                            owns &&policy.remade ? recode
                                                                 : nullptr,
                                            INT64_MAX};
};

template <int32_t Number>
constexpr kvc_gen_layer layer(int64_t chunk, const char *words) {
  return {&Kernel<Number>::kernel, Number, ownerOf(Number),
          policies[Number].rope,   chunk,  words};
}

constexpr kvc_gen_layer layers[LayerCount] = {
    layer<AllFloats>(-1, "all"),
    layer<StreamCoded>(policies[StreamCoded].rollback + 1,
                       "sink 2, window 10, rollback 3"),
    layer<AllReader>(-1, "share 0"),
    layer<Limited>(-1, "context 5"),
    layer<StreamReader>(-1, "share 1"),
    layer<Narrow>(-1, "sink 1, window 2"),
    layer<Sunk>(-1, "all, learned sinks"),
    layer<Remade>(policies[Remade].rollback + 1, "sink 1, window 6, anew"),
    layer<RemadeReader>(-1, "share 7")};

constexpr kvc_gen_rope ropes[2] = {{1, ropeFactor[0], &ropeFrequency[0]},
                                   {1, ropeFactor[1], &ropeFrequency[1]}};

} // namespace

} // namespace kvc::test

extern "C" const kvc_gen_model kvc_generated = {KVC_GENERATED_VERSION,
                                                "toy",
                                                "kvc: 1",
                                                "x86-64-v3",
                                                "0: toys\n",
                                                KVC_F32,
                                                kvc::runtime::CpuX86_64V2 |
                                                    kvc::runtime::CpuF16c,
                                                kvc::test::LayerCount,
                                                kvc::test::LayerCount,
                                                2,
                                                kvc::test::layers,
                                                kvc::test::ropes};
