/* What no library of kvc does, one thing a name that is defined; without any it
 * gives no table and is otherwise good. */
#include "kvc/kvc.h"

extern void free(void *memory);
extern int open(const char *path, int flags, ...);
extern int abs(int number);
extern int optind;

#if defined(THREAD_LOCAL)
static _Thread_local volatile int number;
#elif defined(CONSTRUCTOR)
static volatile int number;
__attribute__((constructor)) static void begin(void) { number = 1; }
#else
static volatile int number;
#endif

#if defined(WRITES_CONST)
/* An address, so that the loader writes it and nobody afterwards. */
static void (*const function)(void *) = free;
#endif

__attribute__((visibility("default")))
const kvc_library_table *kvc_library(void) {
#if defined(X18_AND_RETURN)
  __asm__ volatile("mov x18, #1");
#elif defined(X18_AND_CALL)
  __asm__ volatile("mov x18, #1");
  free(0);
#elif defined(X18_OF_A_CALL)
  /* What a call may leave there cannot be relied upon, nor is it known. */
  __asm__ volatile("mov x9, x18\n\tstr x9, %0" : "=m"(number) : : "x9");
  free(0);
#elif defined(WRITES_TEXT)
  *(volatile char *)kvc_library = 1;
#elif defined(WRITES_CONST)
  void (**place)(void *) = (void (**)(void *))&function;
  __asm__ volatile("" : "+r"(place));
  *place = 0;
#elif defined(VARIADIC)
  number = open("/dev/null", 0, 1);
#elif defined(UNKNOWN)
  number = abs(number);
#elif defined(DATA)
  number = optind;
#endif
  number++;
  return 0;
}
