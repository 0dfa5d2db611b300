//===- Crash.cpp - a library that crashes is reported ---------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Crash.h"

#include "llvm/Support/Signals.h"

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace kvc::harness {

namespace {

struct Signal {
  int number;
  std::string_view name;
};
// A compiler's trap is an illegal instruction on x86 and a breakpoint on Arm.
constexpr std::array<Signal, 6> signals = {{{SIGSEGV, "segmentation fault"},
                                            {SIGBUS, "bus error"},
                                            {SIGFPE, "arithmetic exception"},
                                            {SIGILL, "illegal instruction"},
                                            {SIGTRAP, "trap"},
                                            {SIGABRT, "abort"}}};

/// What the handler needs, made ready before: it may not take memory.
struct State {
  std::string title;
  bool terminal = false; ///< standard error: a line of progress stands there
  const char *function = nullptr; ///< of the call that runs; null: none does
  int64_t layer = -1, position = -1;
  std::array<struct sigaction, signals.size()> before;
};
State state;

// The call that is cut short may have used up the stack.
constexpr size_t stackBytes = 64 * 1024;
alignas(16) char handlerStack[stackBytes];

void put(std::string_view text, int to = STDOUT_FILENO) {
  while (!text.empty()) {
    const ssize_t written = ::write(to, text.data(), text.size());
    if (written <= 0)
      return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void put(std::string_view before, int64_t number) {
  if (number < 0)
    return;
  char digits[24];
  const char *const end =
      std::to_chars(digits, digits + sizeof digits, number).ptr;
  put(before);
  put({digits, static_cast<size_t>(end - digits)});
}

[[noreturn]] void report(std::string_view did, std::string_view what) {
  if (state.terminal)
    put("\r\x1b[K", STDERR_FILENO);
  put(state.title);
  put("the library ");
  put(did);
  put(" in ");
  put(state.function);
  put(" of layer ", state.layer);
  put(" at position ", state.position);
  put(": ");
  put(what);
  put("\n");
  // Temporary files go.
  llvm::sys::RunInterruptHandlers();
  _exit(EXIT_FAILURE);
}

/// A crash that is no library's goes to the handler that was there before.
void onSignal(int number) {
  for (size_t i = 0; i < signals.size(); ++i) {
    if (signals[i].number != number)
      continue;
    if (state.function)
      report("crashed", signals[i].name);
    sigaction(number, &state.before[i], nullptr);
    raise(number);
  }
}

} // namespace

// Settings take turns; 0: there are none.
static uint64_t turn = KVC_FLOATS_AS_THEY_ARE;

CallSettings::CallSettings(bool odd) {
  turn = odd ? KVC_FLOATS_TRAP : KVC_FLOATS_AS_THEY_ARE;
}

CallSettings::~CallSettings() { turn = before; }

uint64_t CallSettings::current() { return turn; }

LibraryCall::Floats::Floats() {
  if (turn == KVC_FLOATS_AS_THEY_ARE)
    return;
  mine = kvc_floats_read();
  kvc_floats_set(turn);
  // Bits that this CPU lacks stay 0.
  set = kvc_floats_read();
}

LibraryCall::Floats::~Floats() {
  if (turn == KVC_FLOATS_AS_THEY_ARE)
    return;
  const kvc_float_registers left = kvc_floats_read();
  kvc_floats_write(mine);
  if (++turn == KVC_FLOATS_SETTINGS)
    turn = KVC_FLOATS_TRAP;
  if (!kvc_floats_same(left, set))
    report("left other float settings than it found",
           "rounding, flushing, traps or exception flags");
}

Trial::Trial(std::string title, llvm::raw_ostream &os) {
  os.flush();
  state.title = std::move(title);
  state.terminal = isatty(STDERR_FILENO);
  stack_t stack = {};
  sigaltstack(nullptr, &stack);
  if (stack.ss_flags & SS_DISABLE) {
    stack = {};
    stack.ss_sp = handlerStack;
    stack.ss_size = stackBytes;
    sigaltstack(&stack, nullptr);
  }
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK;
  for (size_t i = 0; i < signals.size(); ++i)
    sigaction(signals[i].number, &action, &state.before[i]);
}

Trial::~Trial() {
  for (size_t i = 0; i < signals.size(); ++i)
    sigaction(signals[i].number, &state.before[i], nullptr);
}

// The compiler must not move what the handler reads behind the call that it
// is about: a signal is no call that it sees.
LibraryCall::LibraryCall(const char *function, int64_t layer,
                         int64_t position) {
  state.layer = layer;
  state.position = position;
  state.function = function;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

LibraryCall::~LibraryCall() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  state.function = nullptr;
}

} // namespace kvc::harness
