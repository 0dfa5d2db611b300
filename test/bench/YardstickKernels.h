//===- YardstickKernels.h - attention by hand, in intrinsics ----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A record has 64 tokens of one head of keys and values: for keys a scale and
// a zero a channel, then words with tokens on the lanes; for values a scale and
// a zero a token, then words with channels on the lanes. Records lie in the
// order in which they are read. All query heads of a head of keys go through a
// record together.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_BENCH_YARDSTICKKERNELS_H
#define KVC_TEST_BENCH_YARDSTICKKERNELS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <immintrin.h>
#include <numbers>
#include <random>

namespace kvc::yardstick {

constexpr int Tokens = 64; ///< of a record
/// So far ahead lines are asked for.
constexpr int Ahead = 4096;

inline void ask(const void *from) {
  _mm_prefetch(static_cast<const char *>(from) + Ahead, _MM_HINT_T0);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// 2^x for x <= 0: the whole part goes into the exponent, the rest into a
/// polynomial (relative error 3e-6).
inline __m256 exp2Of(__m256 x) {
  x = _mm256_max_ps(x, _mm256_set1_ps(-126));
  const __m256 whole =
      _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m256 f = _mm256_sub_ps(x, whole);
  __m256 p = _mm256_set1_ps(1.3333558e-3f);
  for (float c :
       {9.6181291e-3f, 5.5504109e-2f, 2.4022651e-1f, 6.9314718e-1f, 1.0f})
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(c));
  const __m256i shifted = _mm256_slli_epi32(_mm256_cvtps_epi32(whole), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), shifted));
}
inline float exp2Of(float x) {
  return _mm256_cvtss_f32(exp2Of(_mm256_set1_ps(x)));
}

inline float sumOf(__m256 x) {
  __m128 y = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  y = _mm_add_ps(y, _mm_movehl_ps(y, y));
  return _mm_cvtss_f32(_mm_add_ss(y, _mm_movehdup_ps(y)));
}
inline float greatestOf(__m256 x) {
  __m128 y = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  y = _mm_max_ps(y, _mm_movehl_ps(y, y));
  return _mm_cvtss_f32(_mm_max_ss(y, _mm_movehdup_ps(y)));
}
inline __m256 absolute(__m256 x) {
  return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}
inline __m256 halves(const uint16_t *from) {
  return _mm256_cvtph_ps(
      _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
}
inline float half(uint16_t bits) { return _cvtsh_ss(bits); }
inline __m256i words(const void *from) {
  return _mm256_load_si256(static_cast<const __m256i *>(from));
}
inline __m256i everywhere(uint32_t word) {
  return _mm256_set1_epi32(static_cast<int>(word));
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// A word holds PerWord codes of one lane, in Passes steps: each step takes
/// some of them and meets one word of the packed operand.
template <int Bits> struct Codes {
  static constexpr int PerWord = 32 / Bits;
  static constexpr int Passes = Bits == 2 ? 4 : 2;
  static constexpr bool Bytes = Bits != 8; ///< operand in bytes, else halves
  static constexpr float Top = Bytes ? 127.0f : 32767.0f;
  /// Of weights, whose sum over 64 tokens stays below 2^31.
  static constexpr float TopWeight = Bytes ? 127.0f : 32000.0f;
  /// Words whose products 16-bit sums hold.
  static constexpr int Chunk = Bits == 4 ? 4 : 8;
  static constexpr float Middle = ((1 << Bits) - 1) / 2.0f;

  static __m256i step(__m256i word, int pass) {
    if constexpr (Bits == 8) {
      return pass ? _mm256_srli_epi16(word, 8)
                  : _mm256_and_si256(word, everywhere(0x00ff00ff));
    } else {
      const uint32_t mask = Bits == 4 ? 0x0f0f0f0f : 0x03030303;
      return _mm256_and_si256(_mm256_srli_epi16(word, pass * Bits),
                              everywhere(mask));
    }
  }

  /// Packs 8 numbers (16 for 2 bits) for the steps of their words.
  static void pack(const __m256i *numbers, uint32_t *to) {
    const __m256i r = numbers[0];
    if constexpr (Bits == 8) {
      const __m256i upper = _mm256_shuffle_epi32(r, _MM_SHUFFLE(3, 2, 3, 2));
      const __m256i pair =
          _mm256_blend_epi16(r, _mm256_slli_epi32(upper, 16), 0xaa);
      _mm_storeu_si128(reinterpret_cast<__m128i *>(to),
                       _mm256_castsi256_si128(_mm256_permute4x64_epi64(
                           pair, _MM_SHUFFLE(3, 2, 2, 0))));
    } else if constexpr (Bits == 4) {
      const __m256i bytes = _mm256_shuffle_epi8(
          r, _mm256_setr_epi8(0, 8, -1, -1, 4, 12, -1, -1, -1, -1, -1, -1, -1,
                              -1, -1, -1, -1, -1, 0, 8, -1, -1, 4, 12, -1, -1,
                              -1, -1, -1, -1, -1, -1));
      _mm_storel_epi64(reinterpret_cast<__m128i *>(to),
                       _mm_or_si128(_mm256_castsi256_si128(bytes),
                                    _mm256_extracti128_si256(bytes, 1)));
    } else {
      // Byte k of word s is number 4 k + s.
      const __m256i mask = everywhere(0xff);
      const __m256i a = _mm256_and_si256(r, mask),
                    b = _mm256_and_si256(numbers[1], mask);
      const __m128i low =
          _mm_or_si128(_mm256_castsi256_si128(a),
                       _mm_slli_epi32(_mm256_extracti128_si256(a, 1), 8));
      const __m128i high =
          _mm_or_si128(_mm_slli_epi32(_mm256_castsi256_si128(b), 16),
                       _mm_slli_epi32(_mm256_extracti128_si256(b, 1), 24));
      _mm_storeu_si128(reinterpret_cast<__m128i *>(to),
                       _mm_or_si128(low, high));
    }
  }

  /// sums[head][strip] of `Count` words, `Strips` vectors side by side.
  template <int Group, int Strips, int Count>
  static void sum(const uint32_t *from, const uint32_t *operand, int stride,
                  __m256i (&sums)[Group][Strips]) {
    for (auto &head : sums)
      for (__m256i &one : head)
        one = _mm256_setzero_si256();
    constexpr int Some = std::min(Bytes ? Chunk : Count, Count);
    for (int begin = 0; begin < Count; begin += Some) {
      __m256i part[Group][Strips] = {};
      for (int word = begin; word < begin + Some; ++word) {
        const uint32_t *row = from + word * Strips * 8;
        for (int line = 0; line < Strips; line += 2)
          ask(row + line * 8);
        __m256i loaded[Strips];
        for (int strip = 0; strip < Strips; ++strip)
          loaded[strip] = words(row + strip * 8);
#pragma unroll
        for (int pass = 0; pass < Passes; ++pass) {
          __m256i codes[Strips];
          for (int strip = 0; strip < Strips; ++strip)
            codes[strip] = step(loaded[strip], pass);
#pragma unroll
          for (int head = 0; head < Group; ++head) {
            const __m256i x =
                everywhere(operand[head * stride + word * Passes + pass]);
            for (int strip = 0; strip < Strips; ++strip) {
              __m256i &to = part[head][strip];
              if constexpr (Bytes)
                to =
                    _mm256_add_epi16(to, _mm256_maddubs_epi16(codes[strip], x));
              else
                to = _mm256_add_epi32(to, _mm256_madd_epi16(codes[strip], x));
            }
          }
        }
      }
      for (int head = 0; head < Group; ++head)
        for (int strip = 0; strip < Strips; ++strip)
          sums[head][strip] = _mm256_add_epi32(
              sums[head][strip],
              Bytes ? _mm256_madd_epi16(part[head][strip], _mm256_set1_epi16(1))
                    : part[head][strip]);
    }
  }
};

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Of `Group` heads: the greatest logit so far, the sum of weights, and the
/// weighted sum of values.
template <int Group, int Dim> struct State {
  float greatest[Group], sum[Group];
  alignas(32) float out[Group][Dim];

  void clear() {
    std::fill_n(greatest, Group, -1e30f);
    std::fill_n(sum, Group, 0.0f);
    std::memset(out, 0, sizeof out);
  }
  /// Factors of what was there and of what comes with this greatest logit.
  void join(int head, float tile, float weights, float &before, float &now) {
    const float next = std::max(greatest[head], tile);
    before = exp2Of(greatest[head] - next);
    now = exp2Of(tile - next);
    greatest[head] = next;
    sum[head] = sum[head] * before + weights * now;
  }
  void merge(const State &other) {
    for (int head = 0; head < Group; ++head) {
      float before, now;
      join(head, other.greatest[head], other.sum[head], before, now);
      for (int d = 0; d < Dim; ++d)
        out[head][d] = out[head][d] * before + other.out[head][d] * now;
    }
  }
};

/// Logits become weights relative to the record's greatest.
template <int Group>
inline void weigh(float (&tile)[Group][Tokens], float (&greatest)[Group],
                  float (&sums)[Group]) {
  for (int head = 0; head < Group; ++head) {
    __m256 most = _mm256_load_ps(tile[head]);
    for (int t = 8; t < Tokens; t += 8)
      most = _mm256_max_ps(most, _mm256_load_ps(tile[head] + t));
    greatest[head] = greatestOf(most);
    const __m256 all = _mm256_set1_ps(greatest[head]);
    __m256 sum = _mm256_setzero_ps();
    for (int t = 0; t < Tokens; t += 8) {
      const __m256 w =
          exp2Of(_mm256_sub_ps(_mm256_load_ps(tile[head] + t), all));
      _mm256_store_ps(tile[head] + t, w);
      sum = _mm256_add_ps(sum, w);
    }
    sums[head] = sumOf(sum);
  }
}

constexpr int stripsFor(int group, int most) {
  return std::min(group >= 3 ? 2 : 8, most);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Keys and values in codes.
template <int Group, int Dim, int Bits> struct Coded {
  using C = Codes<Bits>;
  static constexpr int KeyStrips = stripsFor(Group, Tokens / 8);
  static constexpr int ValueStrips = stripsFor(Group, Dim / 8);
  static constexpr double Bound = C::Bytes ? 0.1 : 2e-3;

  struct Record {
    uint16_t keyScale[Dim], keyZero[Dim];
    uint32_t keys[Tokens / 8 / KeyStrips][Dim / C::PerWord][KeyStrips][8];
    uint16_t valueScale[Tokens], valueZero[Tokens];
    uint32_t values[Dim / 8 / ValueStrips][Tokens / C::PerWord][ValueStrips][8];
  };

  /// operand = q * scale in whole numbers; logit = sum * factor + rest.
  static void foldQuery(const float *q, const Record &record, uint32_t *operand,
                        float &factor, float &rest) {
    alignas(32) float scaled[Dim];
    __m256 most = _mm256_setzero_ps(), zeros = _mm256_setzero_ps();
    for (int d = 0; d < Dim; d += 8) {
      const __m256 x = _mm256_load_ps(q + d);
      const __m256 y = _mm256_mul_ps(x, halves(record.keyScale + d));
      most = _mm256_max_ps(most, absolute(y));
      zeros = _mm256_fmadd_ps(x, halves(record.keyZero + d), zeros);
      _mm256_store_ps(scaled + d, y);
    }
    const float up = C::Top / std::max(greatestOf(most), 1e-30f);
    const float lost = round<Dim>(scaled, up, operand);
    factor = 1 / up;
    rest = sumOf(zeros) + lost * factor;
  }

  /// Rounds and packs; the middle code times what rounding lost.
  template <int Count>
  static float round(const float *from, float up, uint32_t *operand) {
    constexpr int Step = Bits == 2 ? 16 : 8;
    __m256 lost = _mm256_setzero_ps();
    for (int i = 0; i < Count; i += Step) {
      __m256i numbers[Step / 8];
      for (int j = 0; j < Step / 8; ++j) {
        const __m256 x =
            _mm256_mul_ps(_mm256_load_ps(from + i + 8 * j), _mm256_set1_ps(up));
        numbers[j] = _mm256_cvtps_epi32(x);
        lost = _mm256_add_ps(lost,
                             _mm256_sub_ps(x, _mm256_cvtepi32_ps(numbers[j])));
      }
      C::pack(numbers, operand + i / C::PerWord * C::Passes);
    }
    return sumOf(lost) * C::Middle;
  }

  static void addKeys(const float (&q)[Group][Dim], const Record &record,
                      float (&tile)[Group][Tokens]) {
    constexpr int Words = Dim / C::PerWord, Stride = Words * C::Passes;
    uint32_t operand[Group * Stride];
    float factor[Group], rest[Group];
    for (int line = 0; line < Dim * 4; line += 64)
      ask(reinterpret_cast<const char *>(record.keyScale) + line);
    for (int head = 0; head < Group; ++head)
      foldQuery(q[head], record, operand + head * Stride, factor[head],
                rest[head]);
    for (int block = 0; block < Tokens / 8 / KeyStrips; ++block) {
      __m256i sums[Group][KeyStrips];
      C::template sum<Group, KeyStrips, Words>(record.keys[block][0][0],
                                               operand, Stride, sums);
      for (int head = 0; head < Group; ++head)
        for (int strip = 0; strip < KeyStrips; ++strip)
          _mm256_store_ps(tile[head] + (block * KeyStrips + strip) * 8,
                          _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[head][strip]),
                                          _mm256_set1_ps(factor[head]),
                                          _mm256_set1_ps(rest[head])));
    }
  }

  static void addValues(const float (&tile)[Group][Tokens],
                        const Record &record, const float (&before)[Group],
                        const float (&now)[Group], State<Group, Dim> &state) {
    constexpr int Words = Tokens / C::PerWord, Stride = Words * C::Passes;
    uint32_t operand[Group * Stride];
    float rest[Group];
    __m256 most = _mm256_setzero_ps();
    for (int t = 0; t < Tokens; t += 8)
      most = _mm256_max_ps(most, halves(record.valueScale + t));
    const float up = C::TopWeight / std::max(greatestOf(most), 1e-30f);
    for (int line = 0; line < Tokens * 4; line += 64)
      ask(reinterpret_cast<const char *>(record.valueScale) + line);
    for (int head = 0; head < Group; ++head) {
      alignas(32) float scaled[Tokens];
      __m256 zeros = _mm256_setzero_ps();
      for (int t = 0; t < Tokens; t += 8) {
        const __m256 w = _mm256_load_ps(tile[head] + t);
        zeros = _mm256_fmadd_ps(w, halves(record.valueZero + t), zeros);
        _mm256_store_ps(scaled + t,
                        _mm256_mul_ps(w, halves(record.valueScale + t)));
      }
      const float lost = round<Tokens>(scaled, up, operand + head * Stride);
      rest[head] = (sumOf(zeros) + lost / up) * now[head];
    }
    for (int block = 0; block < Dim / 8 / ValueStrips; ++block) {
      __m256i sums[Group][ValueStrips];
      C::template sum<Group, ValueStrips, Words>(record.values[block][0][0],
                                                 operand, Stride, sums);
      for (int head = 0; head < Group; ++head)
        for (int strip = 0; strip < ValueStrips; ++strip) {
          float *out = state.out[head] + (block * ValueStrips + strip) * 8;
          __m256 x =
              _mm256_fmadd_ps(_mm256_load_ps(out), _mm256_set1_ps(before[head]),
                              _mm256_set1_ps(rest[head]));
          x = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[head][strip]),
                              _mm256_set1_ps(now[head] / up), x);
          _mm256_store_ps(out, x);
        }
    }
  }

  static void fill(Record &record, std::minstd_rand &random) {
    auto number = [&](float least, float most) {
      return _cvtss_sh(least + (most - least) * static_cast<float>(random()) /
                                   std::minstd_rand::max(),
                       0);
    };
    auto some = [&](auto &words) {
      auto *to = reinterpret_cast<uint32_t *>(&words);
      for (size_t i = 0; i < sizeof words / 4; ++i)
        to[i] = random() << 16 ^ random();
    };
    const float step = 4.0f / ((1 << Bits) - 1);
    for (int d = 0; d < Dim; ++d) {
      record.keyScale[d] = number(0.5f * step, step);
      record.keyZero[d] = number(-3, -1);
    }
    for (int t = 0; t < Tokens; ++t) {
      record.valueScale[t] = number(0.5f * step, step);
      record.valueZero[t] = number(-3, -1);
    }
    some(record.keys), some(record.values);
  }
  static double code(uint32_t word, int slot) {
    return word >> (slot * Bits) & ((1u << Bits) - 1);
  }
  static double key(const Record &record, int t, int d) {
    const auto &block = record.keys[t / 8 / KeyStrips][d / C::PerWord];
    return code(block[t / 8 % KeyStrips][t % 8], d % C::PerWord) *
               half(record.keyScale[d]) +
           half(record.keyZero[d]);
  }
  static double value(const Record &record, int t, int d) {
    const auto &block = record.values[d / 8 / ValueStrips][t / C::PerWord];
    return code(block[d / 8 % ValueStrips][d % 8], t % C::PerWord) *
               half(record.valueScale[t]) +
           half(record.valueZero[t]);
  }
};

/// Keys and values in f16.
template <int Group, int Dim> struct Floats {
  static constexpr int KeyStrips = stripsFor(Group, Tokens / 8);
  static constexpr int ValueStrips = stripsFor(Group, Dim / 8);
  static constexpr double Bound = 2e-5;

  struct Record {
    uint16_t keys[Tokens / 8 / KeyStrips][Dim][KeyStrips][8];
    uint16_t values[Dim / 8 / ValueStrips][Tokens][ValueStrips][8];
  };

  template <int Strips, int Count, int Stride>
  static void sum(const uint16_t *from, const float *operand,
                  __m256 (&sums)[Group][Strips]) {
    for (auto &head : sums)
      for (__m256 &one : head)
        one = _mm256_setzero_ps();
    for (int i = 0; i < Count; ++i) {
      const uint16_t *row = from + i * Strips * 8;
      if (i % std::max(1, 4 / Strips) == 0)
        ask(row);
      if (Strips > 4)
        ask(row + 32);
      __m256 numbers[Strips];
      for (int strip = 0; strip < Strips; ++strip)
        numbers[strip] = halves(row + strip * 8);
#pragma unroll
      for (int head = 0; head < Group; ++head) {
        const __m256 x = _mm256_broadcast_ss(operand + head * Stride + i);
        for (int strip = 0; strip < Strips; ++strip)
          sums[head][strip] =
              _mm256_fmadd_ps(x, numbers[strip], sums[head][strip]);
      }
    }
  }

  static void addKeys(const float (&q)[Group][Dim], const Record &record,
                      float (&tile)[Group][Tokens]) {
    for (int block = 0; block < Tokens / 8 / KeyStrips; ++block) {
      __m256 sums[Group][KeyStrips];
      sum<KeyStrips, Dim, Dim>(record.keys[block][0][0], q[0], sums);
      for (int head = 0; head < Group; ++head)
        for (int strip = 0; strip < KeyStrips; ++strip)
          _mm256_store_ps(tile[head] + (block * KeyStrips + strip) * 8,
                          sums[head][strip]);
    }
  }

  static void addValues(const float (&tile)[Group][Tokens],
                        const Record &record, const float (&before)[Group],
                        const float (&now)[Group], State<Group, Dim> &state) {
    for (int block = 0; block < Dim / 8 / ValueStrips; ++block) {
      __m256 sums[Group][ValueStrips];
      sum<ValueStrips, Tokens, Tokens>(record.values[block][0][0], tile[0],
                                       sums);
      for (int head = 0; head < Group; ++head)
        for (int strip = 0; strip < ValueStrips; ++strip) {
          float *out = state.out[head] + (block * ValueStrips + strip) * 8;
          const __m256 old =
              _mm256_mul_ps(_mm256_load_ps(out), _mm256_set1_ps(before[head]));
          _mm256_store_ps(out, _mm256_fmadd_ps(sums[head][strip],
                                               _mm256_set1_ps(now[head]), old));
        }
    }
  }

  static void fill(Record &record, std::minstd_rand &random) {
    auto *to = reinterpret_cast<uint16_t *>(&record);
    for (size_t i = 0; i < sizeof record / 2; ++i)
      to[i] = _cvtss_sh(
          4 * static_cast<float>(random()) / std::minstd_rand::max() - 2, 0);
  }
  static double key(const Record &record, int t, int d) {
    return half(record.keys[t / 8 / KeyStrips][d][t / 8 % KeyStrips][t % 8]);
  }
  static double value(const Record &record, int t, int d) {
    return half(
        record.values[d / 8 / ValueStrips][t][d / 8 % ValueStrips][d % 8]);
  }
};

} // namespace kvc::yardstick

#endif // KVC_TEST_BENCH_YARDSTICKKERNELS_H
