/*===- Cpu.c - what macOS says that a CPU has -------------------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * Names as Apple documents them ("Determining instruction set
 * characteristics"), bits as in Linux's arch/arm64/include/uapi/asm/hwcap.h. To
 * any other name the answer is that there is none, as an older macOS answers to
 * later ones.
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Imports.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

enum { FIRST = 16, SECOND = 26 }; /* AT_HWCAP, AT_HWCAP2 */

static const struct {
  const char *name;
  unsigned long word;
  uint64_t bits;
} features[] = {
    {"hw.optional.floatingpoint", FIRST, 1 << 0},
    {"hw.optional.AdvSIMD", FIRST, 1 << 1},
    {"hw.optional.neon", FIRST, 1 << 1},
    {"hw.optional.armv8_crc32", FIRST, 1 << 7},
    {"hw.optional.armv8_1_atomics", FIRST, 1 << 8},
    {"hw.optional.arm.FEAT_LSE", FIRST, 1 << 8},
    {"hw.optional.neon_fp16", FIRST, 1 << 9 | 1 << 10},
    {"hw.optional.arm.FEAT_FP16", FIRST, 1 << 9 | 1 << 10},
    {"hw.optional.arm.FEAT_RDM", FIRST, 1 << 12},
    {"hw.optional.arm.FEAT_JSCVT", FIRST, 1 << 13},
    {"hw.optional.arm.FEAT_FCMA", FIRST, 1 << 14},
    {"hw.optional.arm.FEAT_LRCPC", FIRST, 1 << 15},
    {"hw.optional.arm.FEAT_DotProd", FIRST, 1 << 20},
    {"hw.optional.arm.FEAT_FHM", FIRST, 1 << 23},
    {"hw.optional.arm.FEAT_LSE2", FIRST, 1 << 25},
    {"hw.optional.arm.FEAT_LRCPC2", FIRST, 1 << 26},
    {"hw.optional.arm.FEAT_FlagM", FIRST, 1 << 27},
    {"hw.optional.arm.FEAT_I8MM", SECOND, 1 << 13},
    {"hw.optional.arm.FEAT_BF16", SECOND, 1 << 14},
    {"hw.optional.arm.FEAT_SME", SECOND, 1 << 23},
    {"hw.optional.arm.FEAT_CSSC", SECOND, UINT64_C(1) << 34},
};

/* An int, 4 bytes; -1 and the error number where there is no answer. */
int appleSysctlbyname(const char *name, void *old, size_t *old_size,
                      const void *new, size_t new_size) {
  int32_t has = -1;
  for (size_t i = 0; i < sizeof features / sizeof features[0]; ++i)
    if (strcmp(features[i].name, name) == 0)
      has =
          (getauxval(features[i].word) & features[i].bits) == features[i].bits;
  errno = new || new_size ? EPERM : has < 0 ? ENOENT : 0;
  if (!errno && old && (!old_size || *old_size < sizeof has))
    errno = ENOMEM;
  if (errno)
    return -1;
  if (old)
    memcpy(old, &has, sizeof has);
  if (old_size)
    *old_size = sizeof has;
  return 0;
}
