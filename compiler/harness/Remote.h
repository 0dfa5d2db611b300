//===- Remote.h - a library that runs under a runner ------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_REMOTE_H
#define KVC_COMPILER_HARNESS_REMOTE_H

#include "compiler/harness/remote/Protocol.h"
#include "kvc/kvc.h"
#include "llvm/Support/Error.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvc::harness {

/// One call of a function of the table: what goes there and what comes back.
class RemoteCall {
public:
  /// `function` is its offset in kvc_library_table.
  explicit RemoteCall(size_t function) : function(function) {}

  /// The bytes at `data`, which are written again where they come back.
  size_t buffer(const void *data, size_t bytes) {
    return add(const_cast<void *>(data), bytes, false);
  }
  size_t result(void *data, size_t bytes) { return add(data, bytes, true); }
  /// Puts the address of buffer `target` into `buffer` at `offset`.
  void point(size_t buffer, size_t offset, size_t target) {
    pointers.push_back({buffer, offset, target});
  }

  // Arguments, in the order of the function's.
  void pass(int64_t number) {
    arguments.push_back({KVC_REMOTE_NUMBER, static_cast<uint64_t>(number)});
  }
  /// A handle, which is an address there.
  void pass(const kvc_cache *handle) {
    arguments.push_back(
        {KVC_REMOTE_NUMBER, reinterpret_cast<uintptr_t>(handle)});
  }
  void passBuffer(size_t number) {
    arguments.push_back({KVC_REMOTE_BUFFER, number});
  }
  /// A buffer that comes back; null stays null.
  void passResult(void *data, size_t bytes) {
    if (data)
      passBuffer(result(data, bytes));
    else
      pass(int64_t{0});
  }

  /// A function of this process, which the library calls by way of another one
  /// there, with `user` of this process too. One of each kind a call; null
  /// stays null.
  void passFunction(kvc_write function, void *user) {
    write = function;
    passFunction(function != nullptr, KVC_REMOTE_WRITE, user);
  }
  void passFunction(kvc_read function, void *user) {
    read = function;
    passFunction(function != nullptr, KVC_REMOTE_READ, user);
  }

private:
  friend class Remote;
  void passFunction(bool there, uint64_t which, void *itsUser) {
    user = itsUser;
    if (there)
      arguments.push_back({KVC_REMOTE_FUNCTION, which});
    else
      pass(int64_t{0});
    pass(int64_t{0}); // its user there
  }
  size_t add(void *data, size_t bytes, bool comesBack) {
    buffers.push_back({bytes, comesBack});
    memory.push_back(static_cast<char *>(data));
    return buffers.size() - 1;
  }

  size_t function;
  std::vector<kvc_remote_argument> arguments;
  std::vector<kvc_remote_buffer> buffers;
  std::vector<kvc_remote_pointer> pointers;
  std::vector<char *> memory; ///< of buffers, here
  kvc_write write = nullptr;
  kvc_read read = nullptr;
  void *user = nullptr; ///< of both
};

/// A process that has a library open and calls its functions.
class Remote {
public:
  /// Starts `runner` (words, as a shell would part them) with the library's
  /// path behind them.
  static llvm::Expected<std::unique_ptr<Remote>> start(llvm::StringRef runner,
                                                       llvm::StringRef library);
  Remote(const Remote &) = delete;
  ~Remote();

  /// What the function returns; nothing where the process has ended.
  std::optional<uint64_t> call(const RemoteCall &call);
  /// The text at an address there. It stays until the next text of that
  /// address.
  const char *text(uint64_t address);
  /// The process's number.
  int64_t number() const { return process; }
  /// How the process ended; "": it runs.
  const std::string &end() const { return ended; }

  uint64_t version() const { return greeting.version; }
  uint64_t tableSize() const { return greeting.size; }

private:
  Remote() = default;
  bool send(const void *data, size_t bytes);
  bool receive(void *data, size_t bytes);
  bool answerWrite(const RemoteCall &call);
  bool answerRead(const RemoteCall &call);
  void noteEnd();

  int socket = -1, process = -1;
  kvc_remote_greeting greeting = {};
  std::string ended;
  std::map<uint64_t, std::string> texts;
};

/// The runner for the library at `path` where this process cannot load it; ""
/// where it can. KVC_RUNNER in the environment is asked first.
llvm::Expected<std::string> runnerFor(llvm::StringRef path);

/// A table whose functions call `remote`'s. They have no argument that says
/// which, so there is one such table at a time, until `remote` is forgotten.
llvm::Expected<const kvc_library_table *> openTable(Remote &remote);
void closeTable(const Remote &remote);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_REMOTE_H
