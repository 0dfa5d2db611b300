/*===- Call.c - into the code of a dylib and out of it ----------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__aarch64__)

/* Where code of the dylib has changed x18: before it called `name`, or, null,
 * before it returned. */
__attribute__((noreturn, used)) static void x18Changed(const char *name) {
  fprintf(stderr,
          "kvc-remote: code of the library changed x18, which is Apple's own, "
          "before it %s%s\n",
          name ? "called " : "returned", name ? name : "");
  abort();
}

/* clang-format off */
__asm__(
    ".macro known register\n"
    "  movz \\register, #0x1818\n"
    "  movk \\register, #0xa99e, lsl #16\n"
    ".endm\n"

    /* enterCode(function, arguments) */
    ".text\n"
    ".type enterCode, %function\n"
    "enterCode:\n"
    "  stp x29, x30, [sp, #-16]!\n"
    "  mov x29, sp\n"
    "  mov x16, x0\n"
    "  mov x9, x1\n"
    "  ldp x0, x1, [x9]\n"
    "  ldp x2, x3, [x9, #16]\n"
    "  ldp x4, x5, [x9, #32]\n"
    "  ldp x6, x7, [x9, #48]\n"
    "  known x18\n"
    "  blr x16\n"
    "  known x9\n"
    "  cmp x18, x9\n"
    "  b.ne 1f\n"
    "  ldp x29, x30, [sp], #16\n"
    "  ret\n"
    "1:\n"
    "  mov x0, #0\n"
    "  b x18Changed\n"
    ".size enterCode, . - enterCode\n"

    /* A lent function comes here with its address in x16 and its name in x17.
     * None has arguments on the stack. */
    ".type leaveCode, %function\n"
    "leaveCode:\n"
    "  known x9\n"
    "  cmp x18, x9\n"
    "  b.ne 1f\n"
    "  stp x29, x30, [sp, #-16]!\n"
    "  mov x29, sp\n"
    "  blr x16\n"
    "  known x18\n"
    "  ldp x29, x30, [sp], #16\n"
    "  ret\n"
    "1:\n"
    "  mov x0, x17\n"
    "  b x18Changed\n"
    ".size leaveCode, . - leaveCode\n");
/* clang-format on */

uint64_t enterCode(code function, const uint64_t *arguments);
void leaveCode(void);

uint64_t enter(code function, const uint64_t arguments[8]) {
  return enterCode(function, arguments);
}

typedef struct lent {
  uint32_t instructions[4];
  code function;
  const char *name;
  code leave;
} lent;

uint64_t lend(code function, const char *name) {
  static const uint32_t instructions[4] = {
      0x58000090, /* ldr x16, function */
      0x580000b1, /* ldr x17, name */
      0x580000c9, /* ldr x9, leave */
      0xd61f0120, /* br x9 */
  };
  const size_t page = PAGE_SIZE_APPLE;
  static char *room;
  static size_t used;
  if (!room || used + sizeof(lent) > page) {
    room = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    used = 0;
    if (room == MAP_FAILED) {
      room = NULL;
      return 0;
    }
  }
  lent *made = (lent *)(room + used);
  const char *kept = strdup(name);
  if (!kept || mprotect(room, page, PROT_READ | PROT_WRITE))
    return 0;
  memcpy(made->instructions, instructions, sizeof instructions);
  made->function = function;
  made->name = kept;
  made->leave = leaveCode;
  if (mprotect(room, page, PROT_READ | PROT_EXEC))
    return 0;
  __builtin___clear_cache((char *)made, (char *)(made + 1));
  used += sizeof *made;
  return (uint64_t)(uintptr_t)made;
}

#else

/* On another machine a dylib can be checked and mapped, and not be called. */

uint64_t enter(code function, const uint64_t arguments[8]) {
  (void)function, (void)arguments;
  fprintf(stderr, "code for arm64 cannot be called here\n");
  abort();
}

uint64_t lend(code function, const char *name) {
  (void)name;
  return (uint64_t)(uintptr_t)function;
}

#endif
