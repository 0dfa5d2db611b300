//===- NeonKernels.h - attention by hand, in NEON intrinsics ----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What YardstickKernels.h is for AVX2, for any Armv8.2 CPU: 4 query heads and
// one head of keys and values, of 128 channels. A record has 64 tokens: scales
// and zeros of keys a channel, keys, scales and zeros of values a token,
// values. 16 tokens of keys, or channels of values, lie side by side. With 4
// heads that is 16 sums, half of the registers; what meets all lanes is taken
// from a lane of a register. It needs no library but C's.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_BENCH_NEONKERNELS_H
#define KVC_TEST_BENCH_NEONKERNELS_H

#include <arm_neon.h>
#include <stdint.h>

namespace kvc::neon {

constexpr int Group = 4, Dim = 128, Tokens = 64;
constexpr int Across = 16;         ///< lanes side by side
constexpr int Strips = Across / 4; ///< vectors of them
constexpr int Ahead = 4096;        ///< so far ahead lines are asked for
constexpr float Log2E = 1.44269504f;

#define KVC_INLINE inline __attribute__((always_inline))

KVC_INLINE void ask(const void *from) {
  __builtin_prefetch(static_cast<const char *>(from) + Ahead, 0, 2);
}
KVC_INLINE float greater(float a, float b) { return a > b ? a : b; }

constexpr float Terms[] = {9.6181291e-3f, 5.5504109e-2f, 2.4022651e-1f,
                           6.9314718e-1f, 1.0f};
/// 2^x for x <= 0: the whole part goes into the exponent, the rest into a
/// polynomial (relative error 3e-6).
KVC_INLINE float32x4_t exp2Of(float32x4_t x) {
  x = vmaxq_f32(x, vdupq_n_f32(-126));
  const float32x4_t whole = vrndnq_f32(x), f = vsubq_f32(x, whole);
  float32x4_t p = vdupq_n_f32(1.3333558e-3f);
  for (float c : Terms)
    p = vfmaq_f32(vdupq_n_f32(c), p, f);
  const int32x4_t exponent = vshlq_n_s32(vcvtq_s32_f32(whole), 23);
  return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p), exponent));
}
KVC_INLINE float exp2Of(float x) {
  return vgetq_lane_f32(exp2Of(vdupq_n_f32(x)), 0);
}

/// 8 halves as floats.
KVC_INLINE void halves(const float16_t *from, float32x4_t (&to)[2]) {
  const float16x8_t both = vld1q_f16(from);
  to[0] = vcvt_f32_f16(vget_low_f16(both));
  to[1] = vcvt_high_f32_f16(both);
}

//===----------------------------------------------------------------------===//
// Sums of operand times what is stored
//===----------------------------------------------------------------------===//

/// Floats in 16 bits. A row is `Across` numbers that meet one of the operand's.
struct Halves {
  using Stored = float16_t;
  using Operand = float;
  using Sum = float32x4_t;
  static constexpr int Bits = 16;
  static constexpr int Together = 4; ///< numbers of a register of the operand

  static KVC_INLINE float32x4_t load(const float *from) {
    return vld1q_f32(from);
  }
  template <int Lane>
  static KVC_INLINE void add(const float16_t *row,
                             const float32x4_t (&x)[Group],
                             float32x4_t (&sums)[Group][Strips]) {
    float32x4_t low[2], high[2];
    halves(row, low), halves(row + 8, high);
    for (int head = 0; head < Group; ++head) {
      float32x4_t(&to)[Strips] = sums[head];
      to[0] = vfmaq_laneq_f32(to[0], low[0], x[head], Lane);
      to[1] = vfmaq_laneq_f32(to[1], low[1], x[head], Lane);
      to[2] = vfmaq_laneq_f32(to[2], high[0], x[head], Lane);
      to[3] = vfmaq_laneq_f32(to[3], high[1], x[head], Lane);
    }
  }
  static KVC_INLINE void addAll(const float16_t *from,
                                const float32x4_t (&x)[Group],
                                float32x4_t (&sums)[Group][Strips]) {
    ask(from), ask(from + 2 * Across);
    add<0>(from, x, sums);
    add<1>(from + Across, x, sums);
    add<2>(from + 2 * Across, x, sums);
    add<3>(from + 3 * Across, x, sums);
  }
};

/// Codes of 8 bits, as 16 bits: products of them and of i16 go to i32.
struct Codes8 {
  using Stored = uint8_t;
  using Operand = int16_t;
  using Sum = int32x4_t;
  static constexpr int Bits = 8;
  static constexpr int Together = 8;
  static constexpr float Top = 32767, TopWeight = 32000, Middle = 127.5f;
  static constexpr double Bound = 2e-3;

  static KVC_INLINE int16x8_t load(const int16_t *from) {
    return vld1q_s16(from);
  }
  template <int Lane>
  static KVC_INLINE void add(const uint8_t *row, const int16x8_t (&x)[Group],
                             int32x4_t (&sums)[Group][Strips]) {
    const uint8x16_t codes = vld1q_u8(row);
    const int16x8_t low = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(codes)));
    const int16x8_t high = vreinterpretq_s16_u16(vmovl_high_u8(codes));
    for (int head = 0; head < Group; ++head) {
      int32x4_t(&to)[Strips] = sums[head];
      to[0] = vmlal_laneq_s16(to[0], vget_low_s16(low), x[head], Lane);
      to[1] = vmlal_high_laneq_s16(to[1], low, x[head], Lane);
      to[2] = vmlal_laneq_s16(to[2], vget_low_s16(high), x[head], Lane);
      to[3] = vmlal_high_laneq_s16(to[3], high, x[head], Lane);
    }
  }
  static KVC_INLINE void addAll(const uint8_t *from,
                                const int16x8_t (&x)[Group],
                                int32x4_t (&sums)[Group][Strips]) {
    ask(from), ask(from + 64);
    add<0>(from, x, sums);
    add<1>(from + Across, x, sums);
    add<2>(from + 2 * Across, x, sums);
    add<3>(from + 3 * Across, x, sums);
    add<4>(from + 4 * Across, x, sums);
    add<5>(from + 5 * Across, x, sums);
    add<6>(from + 6 * Across, x, sums);
    add<7>(from + 7 * Across, x, sums);
  }
};

/// Codes of 4 or 2 bits, four at a time as bytes. A word of 32 bits has the
/// codes of one lane: code 4 s + k is in byte k, above s others.
template <int BitsOfCode> struct SmallCodes {
  using Stored = uint8_t;
  using Operand = int8_t;
  using Sum = int32x4_t;
  static constexpr int Bits = BitsOfCode;
  static constexpr int Together = 16;
  static constexpr float Top = 127, TopWeight = 127;
  static constexpr float Middle = ((1 << Bits) - 1) / 2.0f;
  static constexpr double Bound = 0.1;

  static KVC_INLINE int8x16_t load(const int8_t *from) {
    return vld1q_s8(from);
  }

  /// Four codes of each word.
  template <int Step> static KVC_INLINE int8x16_t codes(uint8x16_t words) {
    constexpr int Steps = 8 / Bits;
    if constexpr (Step)
      words = vshrq_n_u8(words, Step * Bits);
    if constexpr (Step + 1 < Steps)
      words = vandq_u8(words, vdupq_n_u8((1 << Bits) - 1));
    return vreinterpretq_s8_u8(words);
  }
  template <int Lane, int Step>
  static KVC_INLINE void add(const uint8x16_t (&words)[Strips],
                             const int8x16_t (&x)[Group],
                             int32x4_t (&sums)[Group][Strips]) {
    int8x16_t some[Strips];
    for (int strip = 0; strip < Strips; ++strip)
      some[strip] = codes<Step>(words[strip]);
    for (int head = 0; head < Group; ++head)
      for (int strip = 0; strip < Strips; ++strip)
        sums[head][strip] =
            vdotq_laneq_s32(sums[head][strip], some[strip], x[head], Lane);
  }
  static KVC_INLINE void addAll(const uint8_t *from,
                                const int8x16_t (&x)[Group],
                                int32x4_t (&sums)[Group][Strips]) {
    uint8x16_t words[Strips];
    ask(from);
    for (int strip = 0; strip < Strips; ++strip)
      words[strip] = vld1q_u8(from + 16 * strip);
    add<0, 0>(words, x, sums);
    add<1, 1>(words, x, sums);
    if constexpr (Bits == 2) {
      add<2, 2>(words, x, sums);
      add<3, 3>(words, x, sums);
    } else {
      ask(from + 64);
      for (int strip = 0; strip < Strips; ++strip)
        words[strip] = vld1q_u8(from + 64 + 16 * strip);
      add<2, 0>(words, x, sums);
      add<3, 1>(words, x, sums);
    }
  }
};

/// Bytes of `count` rows of lanes side by side.
constexpr int bytesOf(int bits, int count) { return count * Across * bits / 8; }

/// sums[head][strip] of `Count` rows; row `head` of the operand is `Stride`
/// long.
template <typename Kind, int Count, int Stride>
KVC_INLINE void sum(const typename Kind::Stored *from,
                    const typename Kind::Operand *operand,
                    typename Kind::Sum (&sums)[Group][Strips]) {
  for (auto &head : sums)
    for (auto &one : head)
      one = {};
  constexpr int Size = bytesOf(Kind::Bits, Kind::Together);
#pragma clang loop unroll(disable)
  for (int i = 0; i < Count; i += Kind::Together) {
    decltype(Kind::load(operand)) x[Group];
    for (int head = 0; head < Group; ++head)
      x[head] = Kind::load(operand + head * Stride + i);
    Kind::addAll(from, x, sums);
    from += Size / sizeof(typename Kind::Stored);
  }
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Of the heads: the greatest logit so far, the sum of weights, and the
/// weighted sum of values.
struct State {
  float greatest[Group], sum[Group];
  alignas(16) float out[Group][Dim];

  void clear() {
    for (int head = 0; head < Group; ++head) {
      greatest[head] = -1e30f, sum[head] = 0;
      for (float &x : out[head])
        x = 0;
    }
  }
  /// Factors of what was there and of what comes with this greatest logit.
  KVC_INLINE void join(int head, float tile, float weights, float &before,
                       float &now) {
    const float next = greater(greatest[head], tile);
    before = exp2Of(greatest[head] - next);
    now = exp2Of(tile - next);
    greatest[head] = next;
    sum[head] = sum[head] * before + weights * now;
  }
};

/// Logits become weights relative to the record's greatest.
KVC_INLINE void weigh(float (&tile)[Group][Tokens], float (&greatest)[Group],
                      float (&sums)[Group]) {
  for (int head = 0; head < Group; ++head) {
    float32x4_t most = vld1q_f32(tile[head]);
    for (int t = 4; t < Tokens; t += 4)
      most = vmaxq_f32(most, vld1q_f32(tile[head] + t));
    greatest[head] = vmaxvq_f32(most);
    const float32x4_t all = vdupq_n_f32(greatest[head]);
    float32x4_t sum = {};
    for (int t = 0; t < Tokens; t += 4) {
      const float32x4_t w = exp2Of(vsubq_f32(vld1q_f32(tile[head] + t), all));
      vst1q_f32(tile[head] + t, w);
      sum = vaddq_f32(sum, w);
    }
    sums[head] = vaddvq_f32(sum);
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Keys and values in f16.
struct Floats {
  static constexpr double Bound = 2e-5;
  struct Record {
    float16_t keys[Tokens / Across][Dim][Across];
    float16_t values[Dim / Across][Tokens][Across];
  };

  static KVC_INLINE void addKeys(const float (&q)[Group][Dim],
                                 const Record &record,
                                 float (&tile)[Group][Tokens]) {
#pragma clang loop unroll(disable)
    for (int block = 0; block < Tokens / Across; ++block) {
      float32x4_t sums[Group][Strips];
      sum<Halves, Dim, Dim>(record.keys[block][0], q[0], sums);
      for (int head = 0; head < Group; ++head)
        for (int strip = 0; strip < Strips; ++strip)
          vst1q_f32(tile[head] + block * Across + strip * 4, sums[head][strip]);
    }
  }
  static KVC_INLINE void addValues(const float (&tile)[Group][Tokens],
                                   const Record &record,
                                   const float (&before)[Group],
                                   const float (&now)[Group], State &state) {
#pragma clang loop unroll(disable)
    for (int block = 0; block < Dim / Across; ++block) {
      float32x4_t sums[Group][Strips];
      sum<Halves, Tokens, Tokens>(record.values[block][0], tile[0], sums);
      for (int head = 0; head < Group; ++head)
        for (int strip = 0; strip < Strips; ++strip) {
          float *out = state.out[head] + block * Across + strip * 4;
          const float32x4_t old = vmulq_n_f32(vld1q_f32(out), before[head]);
          vst1q_f32(out, vfmaq_n_f32(old, sums[head][strip], now[head]));
        }
    }
  }

  static double key(const Record &record, int t, int d) {
    return record.keys[t / Across][d][t % Across];
  }
  static double value(const Record &record, int t, int d) {
    return record.values[d / Across][t][d % Across];
  }
};

/// Keys and values in codes.
template <typename Kind> struct Coded {
  static constexpr double Bound = Kind::Bound;
  using Number = typename Kind::Operand;
  struct Record {
    float16_t keyScale[Dim], keyZero[Dim];
    uint8_t keys[Tokens / Across][bytesOf(Kind::Bits, Dim)];
    float16_t valueScale[Tokens], valueZero[Tokens];
    uint8_t values[Dim / Across][bytesOf(Kind::Bits, Tokens)];
  };

  /// Numbers of `from * up`, and the middle code times what that lost.
  template <int Count>
  static KVC_INLINE float round(const float *from, float up, Number *to) {
    float32x4_t lost = {};
#pragma clang loop unroll(disable)
    for (int i = 0; i < Count; i += 16) {
      int16x4_t some[4];
      for (int j = 0; j < 4; ++j) {
        const float32x4_t x = vmulq_n_f32(vld1q_f32(from + i + 4 * j), up);
        const int32x4_t n = vcvtnq_s32_f32(x);
        lost = vaddq_f32(lost, vsubq_f32(x, vcvtq_f32_s32(n)));
        some[j] = vmovn_s32(n);
      }
      const int16x8_t low = vcombine_s16(some[0], some[1]),
                      high = vcombine_s16(some[2], some[3]);
      if constexpr (sizeof(Number) == 2)
        vst1q_s16(to + i, low), vst1q_s16(to + i + 8, high);
      else
        vst1q_s8(to + i, vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
    }
    return vaddvq_f32(lost) * Kind::Middle;
  }

  /// operand = from * scale in whole numbers; the sum of from * zero, and the
  /// middle code times what rounding lost. `up` is 0 where the greatest of
  /// from * scale is to become Top.
  template <int Count>
  static KVC_INLINE float fold(const float *from, const float16_t *scale,
                               const float16_t *zero, float &up, Number *to) {
    alignas(16) float scaled[Count];
    float32x4_t most = {}, zeros = {};
    for (int i = 0; i < Count; i += 8) {
      float32x4_t scales[2], rests[2];
      halves(scale + i, scales), halves(zero + i, rests);
      for (int j = 0; j < 2; ++j) {
        const float32x4_t x = vld1q_f32(from + i + 4 * j);
        const float32x4_t y = vmulq_f32(x, scales[j]);
        most = vmaxq_f32(most, vabsq_f32(y));
        zeros = vfmaq_f32(zeros, x, rests[j]);
        vst1q_f32(scaled + i + 4 * j, y);
      }
    }
    if (up == 0)
      up = Kind::Top / greater(vmaxvq_f32(most), 1e-30f);
    return vaddvq_f32(zeros) + round<Count>(scaled, up, to) / up;
  }

  static KVC_INLINE void addKeys(const float (&q)[Group][Dim],
                                 const Record &record,
                                 float (&tile)[Group][Tokens]) {
    alignas(16) Number operand[Group][Dim];
    float factor[Group], rest[Group];
    for (int line = 0; line < Dim * 4; line += 64)
      ask(reinterpret_cast<const char *>(record.keyScale) + line);
    for (int head = 0; head < Group; ++head) {
      float up = 0;
      rest[head] = fold<Dim>(q[head], record.keyScale, record.keyZero, up,
                             operand[head]);
      factor[head] = 1 / up;
    }
#pragma clang loop unroll(disable)
    for (int block = 0; block < Tokens / Across; ++block) {
      int32x4_t sums[Group][Strips];
      sum<Kind, Dim, Dim>(record.keys[block], operand[0], sums);
      for (int head = 0; head < Group; ++head)
        for (int strip = 0; strip < Strips; ++strip)
          vst1q_f32(tile[head] + block * Across + strip * 4,
                    vfmaq_n_f32(vdupq_n_f32(rest[head]),
                                vcvtq_f32_s32(sums[head][strip]),
                                factor[head]));
    }
  }

  static KVC_INLINE void addValues(const float (&tile)[Group][Tokens],
                                   const Record &record,
                                   const float (&before)[Group],
                                   const float (&now)[Group], State &state) {
    alignas(16) Number operand[Group][Tokens];
    float rest[Group], factor[Group];
    float32x4_t most = {};
    for (int t = 0; t < Tokens; t += 8) {
      float32x4_t scales[2];
      halves(record.valueScale + t, scales);
      most = vmaxq_f32(most, vmaxq_f32(scales[0], scales[1]));
    }
    float up = Kind::TopWeight / greater(vmaxvq_f32(most), 1e-30f);
    for (int line = 0; line < Tokens * 4; line += 64)
      ask(reinterpret_cast<const char *>(record.valueScale) + line);
    for (int head = 0; head < Group; ++head) {
      rest[head] =
          now[head] * fold<Tokens>(tile[head], record.valueScale,
                                   record.valueZero, up, operand[head]);
      factor[head] = now[head] / up;
    }
#pragma clang loop unroll(disable)
    for (int block = 0; block < Dim / Across; ++block) {
      int32x4_t sums[Group][Strips];
      sum<Kind, Tokens, Tokens>(record.values[block], operand[0], sums);
      for (int head = 0; head < Group; ++head)
        for (int strip = 0; strip < Strips; ++strip) {
          float *out = state.out[head] + block * Across + strip * 4;
          float32x4_t x = vfmaq_n_f32(vdupq_n_f32(rest[head]), vld1q_f32(out),
                                      before[head]);
          x = vfmaq_n_f32(x, vcvtq_f32_s32(sums[head][strip]), factor[head]);
          vst1q_f32(out, x);
        }
    }
  }

  /// Code `i` of a lane, of rows that are `bytes` of a block.
  static double code(const uint8_t *block, int i, int lane) {
    if constexpr (Kind::Bits == 8)
      return block[i * Across + lane];
    constexpr int OfWord = 32 / Kind::Bits;
    const uint8_t *word = block + (i / OfWord * Across + lane) * 4;
    const int within = i % OfWord;
    return word[within % 4] >> (within / 4 * Kind::Bits) &
           ((1 << Kind::Bits) - 1);
  }
  static double key(const Record &record, int t, int d) {
    return code(record.keys[t / Across], d, t % Across) * record.keyScale[d] +
           record.keyZero[d];
  }
  static double value(const Record &record, int t, int d) {
    return code(record.values[d / Across], t, d % Across) *
               record.valueScale[t] +
           record.valueZero[t];
  }
};

/// One record more.
template <typename Kernel>
KVC_INLINE void take(const float (&q)[Group][Dim],
                     const typename Kernel::Record &record, State &state) {
  alignas(16) float tile[Group][Tokens];
  float greatest[Group], sums[Group], before[Group], now[Group];
  Kernel::addKeys(q, record, tile);
  weigh(tile, greatest, sums);
  for (int head = 0; head < Group; ++head)
    state.join(head, greatest[head], sums[head], before[head], now[head]);
  Kernel::addValues(tile, record, before, now, state);
}

} // namespace kvc::neon

#endif // KVC_TEST_BENCH_NEONKERNELS_H
