/*===- FloatSetting.h - odd float environments to call a library under -*- C -*-
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * What a library computes does not depend on the environment of the thread that
 * calls it, and it leaves that as it was (semantics.md). These are settings
 * that hosts have and that would be felt. On other CPUs than x86-64 and aarch64
 * all are the default. Not every CPU has traps, nor does every emulator.
 *
 *===------------------------------------------------------------------------===*/

#ifndef KVC_COMPILER_HARNESS_REMOTE_FLOATSETTING_H
#define KVC_COMPILER_HARNESS_REMOTE_FLOATSETTING_H

#include <stdint.h>

enum {
  KVC_FLOATS_AS_THEY_ARE = 0,
  KVC_FLOATS_TRAP = 1,  /* every exception ends the process, inexact too */
  KVC_FLOATS_FLUSH = 2, /* subnormal numbers are zeros, read and made */
  KVC_FLOATS_UP = 3,
  KVC_FLOATS_DOWN = 4,
  KVC_FLOATS_TO_ZERO = 5,
  KVC_FLOATS_SETTINGS = 6
};

/* A thread's registers: the settings, and which exceptions happened. */
typedef struct kvc_float_registers {
  uint64_t control, flags;
} kvc_float_registers;

#if defined(__x86_64__)
static inline kvc_float_registers kvc_floats_read(void) {
  uint32_t value;
  __asm__ volatile("stmxcsr %0" : "=m"(value) : : "memory");
  kvc_float_registers registers = {value & ~UINT32_C(0x3f), value & 0x3f};
  return registers;
}
static inline void kvc_floats_write(kvc_float_registers registers) {
  const uint32_t value = (uint32_t)(registers.control | registers.flags);
  __asm__ volatile("ldmxcsr %0" : : "m"(value) : "memory");
}
static inline uint64_t kvc_floats_control(uint64_t setting) {
  switch (setting) {
  case KVC_FLOATS_TRAP:
    return 0;
  case KVC_FLOATS_FLUSH:
    return 0x9fc0; /* FTZ, DAZ */
  case KVC_FLOATS_UP:
    return 0x5f80;
  case KVC_FLOATS_DOWN:
    return 0x3f80;
  case KVC_FLOATS_TO_ZERO:
    return 0x7f80;
  default:
    return 0x1f80;
  }
}
#elif defined(__aarch64__)
static inline kvc_float_registers kvc_floats_read(void) {
  kvc_float_registers registers;
  __asm__ volatile("mrs %0, fpcr" : "=r"(registers.control) : : "memory");
  __asm__ volatile("mrs %0, fpsr" : "=r"(registers.flags) : : "memory");
  return registers;
}
static inline void kvc_floats_write(kvc_float_registers registers) {
  __asm__ volatile("msr fpsr, %0" : : "r"(registers.flags) : "memory");
  __asm__ volatile("msr fpcr, %0" : : "r"(registers.control) : "memory");
}
static inline uint64_t kvc_floats_control(uint64_t setting) {
  switch (setting) {
  case KVC_FLOATS_TRAP:
    return 0x9f00;
  case KVC_FLOATS_FLUSH:
    return UINT64_C(1) << 24 | UINT64_C(1) << 19; /* FZ, FZ16 */
  case KVC_FLOATS_UP:
    return UINT64_C(1) << 22;
  case KVC_FLOATS_DOWN:
    return UINT64_C(2) << 22;
  case KVC_FLOATS_TO_ZERO:
    return UINT64_C(3) << 22;
  default:
    return 0;
  }
}
#else
static inline kvc_float_registers kvc_floats_read(void) {
  kvc_float_registers registers = {0, 0};
  return registers;
}
static inline void kvc_floats_write(kvc_float_registers registers) {
  (void)registers;
}
static inline uint64_t kvc_floats_control(uint64_t setting) {
  (void)setting;
  return 0;
}
#endif

/* The setting without any flag; what was there before comes back by
 * kvc_floats_write. */
static inline void kvc_floats_set(uint64_t setting) {
  kvc_float_registers registers = {kvc_floats_control(setting), 0};
  kvc_floats_write(registers);
}

/* Whether both are the same to the bit. */
static inline int kvc_floats_same(kvc_float_registers a,
                                  kvc_float_registers b) {
  return a.control == b.control && a.flags == b.flags;
}

#endif /* KVC_COMPILER_HARNESS_REMOTE_FLOATSETTING_H */
