/*===- Sha256.h - SHA-256 of some bytes -----------------------------*- C -*-===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===*/

#ifndef KVC_TEST_APPLE_SHA256_H
#define KVC_TEST_APPLE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };

void sha256(const uint8_t *bytes, size_t count, uint8_t hash[SHA256_BYTES]);

#endif /* KVC_TEST_APPLE_SHA256_H */
