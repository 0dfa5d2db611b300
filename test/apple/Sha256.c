/*===- Sha256.c - SHA-256 of some bytes -------------------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * As FIPS 180-4 has it, section 6.2.
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Sha256.h"

#include <string.h>

/* 32 bits of the cube roots of the first 64 primes, and of the square roots of
 * the first 8. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                    0xa54ff53a, 0x510e527f, 0x9b05688c,
                                    0x1f83d9ab, 0x5be0cd19};

enum { BLOCK = 64 };

static uint32_t turn(uint32_t word, unsigned by) {
  return word >> by | word << (32 - by);
}

static void addBlock(uint32_t state[8], const uint8_t *block) {
  uint32_t w[64];
  for (unsigned i = 0; i < 16; ++i)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
           (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
  for (unsigned i = 16; i < 64; ++i)
    w[i] = w[i - 16] + w[i - 7] +
           (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
           (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4],
           f = state[5], g = state[6], h = state[7];
  for (unsigned i = 0; i < 64; ++i) {
    const uint32_t first = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                           ((e & f) ^ (~e & g)) + constants[i] + w[i];
    const uint32_t second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
                            ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first;
    d = c, c = b, b = a, a = first + second;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void sha256(const uint8_t *bytes, size_t count, uint8_t hash[SHA256_BYTES]) {
  uint32_t state[8];
  memcpy(state, initial, sizeof state);
  size_t at = 0;
  for (; count - at >= BLOCK; at += BLOCK)
    addBlock(state, bytes + at);
  /* The rest, a bit, zeros and the count of bits in 8 bytes. */
  uint8_t last[2 * BLOCK] = {0};
  const size_t rest = count - at;
  if (rest)
    memcpy(last, bytes + at, rest);
  last[rest] = 0x80;
  const size_t end = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
  for (unsigned i = 0; i < 8; ++i)
    last[end - 1 - i] = (uint8_t)((uint64_t)count * 8 >> 8 * i);
  for (at = 0; at < end; at += BLOCK)
    addBlock(state, last + at);
  for (unsigned i = 0; i < SHA256_BYTES; ++i)
    hash[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}
