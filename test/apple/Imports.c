/*===- Imports.c - the functions that a dylib may call ----------------------===
 *
 * Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===------------------------------------------------------------------------===
 *
 * The list is short on purpose: whoever has the runtime call another function
 * of macOS looks up here how it differs from Linux's. It ends with those that
 * can never be in it.
 *
 *===------------------------------------------------------------------------===*/

#include "test/apple/Imports.h"
#include "test/apple/Image.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define THE_SAME(name) {"_" #name, (code)name}

static const struct {
  const char *name; /* as in Mach-O: C's, behind a _ */
  code function;
} imports[] = {
    /* Of any sizes and bytes alike. */
    THE_SAME(memcpy),
    THE_SAME(memmove),
    THE_SAME(memset),
    THE_SAME(bzero),
    THE_SAME(calloc),
    THE_SAME(free),
    /* Refuses alignments and sizes that glibc takes. */
    {"_aligned_alloc", (code)appleAlignedAlloc},
    /* malloc_trim(): all zones at once, without a goal. */
    {"_malloc_zone_pressure_relief", (code)appleZonePressureRelief},

    /* __errno_location(), with other numbers. */
    {"___error", (code)appleError},
    {"_strerror", (code)appleStrerror},

    /* `FILE *` is opaque, long and off_t have 64 bits, the numbers of fseek's
     * last argument are the same. */
    {"_fopen", (code)appleFopen},   /* other letters in the mode */
    {"_fdopen", (code)appleFdopen}, /* likewise */
    THE_SAME(fread),
    THE_SAME(fwrite),
    THE_SAME(fseek),
    THE_SAME(ftell),
    THE_SAME(ferror),
    THE_SAME(fflush),
    THE_SAME(fileno),
    THE_SAME(fclose),
    /* On macOS it does not wait for the drive's own cache; no caller sees. */
    THE_SAME(fsync),
    THE_SAME(rename),
    THE_SAME(unlink),
    THE_SAME(close),
    THE_SAME(mkstemp),
    THE_SAME(readlink),
    /* mode_t has 16 bits there, of which a caller fills a register. */
    {"_fchmod", (code)appleFchmod},
    {"_stat", (code)appleStat}, /* another struct */

    /* Other sizes, other ways to initialise them, other error numbers. */
    {"_pthread_mutex_init", (code)appleMutexInit},
    {"_pthread_mutex_destroy", (code)appleMutexDestroy},
    {"_pthread_mutex_lock", (code)appleMutexLock},
    {"_pthread_mutex_unlock", (code)appleMutexUnlock},
    {"_pthread_cond_init", (code)appleCondInit},
    {"_pthread_cond_destroy", (code)appleCondDestroy},
    {"_pthread_cond_wait", (code)appleCondWait},
    {"_pthread_cond_broadcast", (code)appleCondBroadcast},
    {"_pthread_attr_init", (code)appleAttrInit},
    {"_pthread_attr_destroy", (code)appleAttrDestroy},
    {"_pthread_attr_setstacksize", (code)appleAttrSetStackSize},
    {"_pthread_create", (code)appleCreate},
    {"_pthread_join", (code)appleJoin},
    /* A key has 64 bits there. */
    {"_pthread_key_create", (code)appleKeyCreate},
    {"_pthread_getspecific", (code)appleGetSpecific},
    {"_pthread_setspecific", (code)appleSetSpecific},
    THE_SAME(sched_yield),

    /* Linux has no such function; getauxval() knows what is asked. */
    {"_sysctlbyname", (code)appleSysctlbyname},
};

/* Apple passes arguments behind the `...` on the stack, Linux in registers. */
static const char *const variadic[] = {
    "_open",     "_openat",   "_fcntl",         "_ioctl",
    "_printf",   "_fprintf",  "_dprintf",       "_sprintf",
    "_snprintf", "_asprintf", "_scanf",         "_fscanf",
    "_sscanf",   "_syslog",   "_sem_open",      "_shm_open",
    "_semctl",   "_syscall",  "_execl",         "_execle",
    "_execlp",   "_ulimit",   "_err",           "_errx",
    "_warn",     "_warnx",    "___sprintf_chk", "___snprintf_chk",
    "_os_log",   "_wprintf",  "_fwprintf",      "_swprintf",
};

code findImport(image *image, const char *name) {
  for (size_t i = 0; i < sizeof imports / sizeof imports[0]; ++i)
    if (strcmp(imports[i].name, name) == 0)
      return imports[i].function;
  for (size_t i = 0; i < sizeof variadic / sizeof variadic[0]; ++i)
    if (strcmp(variadic[i], name) == 0) {
      refuse(image,
             "import '%s' is variadic: Apple passes such arguments "
             "otherwise than Linux, so that it cannot be tried here",
             name);
      return NULL;
    }
  refuse(image, "import '%.100s' is none that a library of kvc may have", name);
  return NULL;
}
