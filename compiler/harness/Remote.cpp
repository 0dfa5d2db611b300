//===- Remote.cpp - a library that runs under a runner --------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Remote.h"

#include "compiler/harness/Crash.h"
#include "compiler/harness/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MachO.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

extern char **environ;

using namespace llvm;

namespace kvc::harness {

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

/// Starts the command with `end` of a socket as its input and output; -1 with
/// errno where it cannot.
static int spawn(ArrayRef<const char *> command, int end) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, end, STDOUT_FILENO);
  pid_t process = -1;
  errno = posix_spawnp(&process, command.front(), &actions, nullptr,
                       const_cast<char *const *>(command.data()), environ);
  const bool started = errno == 0;
  posix_spawn_file_actions_destroy(&actions);
  return started ? process : -1;
}

Expected<std::unique_ptr<Remote>> Remote::start(StringRef runner,
                                                StringRef library) {
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  SmallVector<const char *> command;
  cl::TokenizeGNUCommandLine(runner, saver, command);
  if (command.empty())
    return userError("the runner is empty");
  command.push_back(saver.save(library).data());
  command.push_back(nullptr);

  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
    return userError(Twine("no socket for a runner: ") + std::strerror(errno));
  for (int end : ends)
    fcntl(end, F_SETFD, FD_CLOEXEC);
  std::unique_ptr<Remote> remote(new Remote);
  remote->socket = ends[0];
  remote->process = spawn(command, ends[1]);
  const std::string why = std::strerror(errno);
  ::close(ends[1]);
  if (remote->process < 0)
    return userError("'" + library + "' needs the runner '" + runner +
                     "', which does not start: " + why);

  kvc_remote_greeting &greeting = remote->greeting;
  if (!remote->receive(&greeting, sizeof greeting) ||
      greeting.magic != KVC_REMOTE_MAGIC)
    return userError("'" + library + "' needs the runner '" + runner +
                     "', which does not answer as kvc-remote does" +
                     (remote->ended.empty() ? "" : ": " + remote->ended));
  std::string problem(greeting.text, 0);
  remote->receive(problem.data(), problem.size());
  if (!problem.empty())
    return userError("cannot open '" + library + "' under '" + runner +
                     "': " + problem);
  return remote;
}

Remote::~Remote() {
  closeTable(*this);
  // It ends with its input.
  if (socket >= 0)
    ::close(socket);
  if (process > 0)
    waitpid(process, nullptr, 0);
}

void Remote::noteEnd() {
  if (process <= 0)
    return;
  ::close(socket);
  socket = -1;
  int status = 0;
  waitpid(process, &status, 0);
  process = -1;
  if (WIFSIGNALED(status))
    ended = std::string("the runner was ended by signal ") +
            strsignal(WTERMSIG(status));
  else if (WEXITSTATUS(status) == KVC_REMOTE_FLOATS)
    ended = "the library left other float settings than it found: rounding, "
            "flushing, traps or exception flags";
  else
    ended = "the runner ended with code " + std::to_string(WEXITSTATUS(status));
}

bool Remote::send(const void *data, size_t bytes) {
  const char *at = static_cast<const char *>(data);
  while (bytes && process > 0) {
    const ssize_t done = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      noteEnd();
      break;
    }
    at += done;
    bytes -= static_cast<size_t>(done);
  }
  return !bytes && process > 0;
}

bool Remote::receive(void *data, size_t bytes) {
  char *at = static_cast<char *>(data);
  while (bytes && process > 0) {
    const ssize_t done = ::read(socket, at, bytes);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0) {
      noteEnd();
      break;
    }
    at += done;
    bytes -= static_cast<size_t>(done);
  }
  return !bytes && process > 0;
}

bool Remote::answerWrite(const RemoteCall &call) {
  uint64_t count = 0;
  if (!receive(&count, sizeof count))
    return false;
  std::vector<char> bytes(count);
  if (count && !receive(bytes.data(), count))
    return false;
  const auto reply =
      static_cast<uint64_t>(call.write(call.user, bytes.data(), count));
  return send(&reply, sizeof reply);
}

bool Remote::answerRead(const RemoteCall &call) {
  uint64_t count = 0;
  if (!receive(&count, sizeof count))
    return false;
  std::vector<char> bytes(count);
  const uint64_t reply = call.read(call.user, bytes.data(), count);
  return send(&reply, sizeof reply) && send(bytes.data(), reply);
}

std::optional<uint64_t> Remote::call(const RemoteCall &call) {
  const kvc_remote_request request = {
      KVC_REMOTE_CALL,     call.function,        call.arguments.size(),
      call.buffers.size(), call.pointers.size(), CallSettings::current()};
  std::string message;
  auto put = [&](const void *data, size_t bytes) {
    message.append(static_cast<const char *>(data), bytes);
  };
  put(&request, sizeof request);
  put(call.arguments.data(), call.arguments.size() * sizeof call.arguments[0]);
  put(call.buffers.data(), call.buffers.size() * sizeof call.buffers[0]);
  put(call.pointers.data(), call.pointers.size() * sizeof call.pointers[0]);
  for (size_t i = 0; i < call.buffers.size(); ++i)
    put(call.memory[i], call.buffers[i].bytes);
  if (!send(message.data(), message.size()))
    return std::nullopt;
  uint64_t kind = 0, result = 0;
  for (;;) {
    if (!receive(&kind, sizeof kind))
      return std::nullopt;
    if (kind == KVC_REMOTE_RESULT)
      break;
    if (!(kind == KVC_REMOTE_WRITE ? answerWrite(call) : answerRead(call)))
      return std::nullopt;
  }
  if (!receive(&result, sizeof result))
    return std::nullopt;
  for (size_t i = 0; i < call.buffers.size(); ++i)
    if (call.buffers[i].comes_back &&
        !receive(call.memory[i], call.buffers[i].bytes) &&
        call.buffers[i].bytes)
      return std::nullopt;
  return result;
}

const char *Remote::text(uint64_t address) {
  const kvc_remote_request request = {KVC_REMOTE_TEXT, address, 0, 0, 0, 0};
  uint64_t length = 0;
  std::string &text = texts[address];
  if (!send(&request, sizeof request) || !receive(&length, sizeof length))
    return ended.c_str();
  text.resize(length);
  receive(text.data(), length);
  return text.c_str();
}

//===----------------------------------------------------------------------===//
// Which runner
//===----------------------------------------------------------------------===//

namespace {
/// What a library is for, as far as there is something to run it by.
enum class Platform { Other, X86_64Linux, Aarch64Linux, Arm64MacOS };
} // namespace

static Platform platformOfElf(StringRef bytes) {
  if (bytes.size() < sizeof(ELF::Elf64_Ehdr))
    return Platform::Other;
  switch (support::endian::read16le(bytes.data() +
                                    offsetof(ELF::Elf64_Ehdr, e_machine))) {
  case ELF::EM_X86_64:
    return Platform::X86_64Linux;
  case ELF::EM_AARCH64:
    return Platform::Aarch64Linux;
  default:
    return Platform::Other;
  }
}

/// What the file at `path` is for; nothing where it is no library of any.
static std::optional<Platform> platformOf(StringRef path) {
  auto head = MemoryBuffer::getFileSlice(path, sizeof(ELF::Elf64_Ehdr), 0);
  if (!head)
    return std::nullopt;
  StringRef bytes = (*head)->getBuffer();
  if (bytes.starts_with(ELF::ElfMagic))
    return platformOfElf(bytes);
  if (bytes.size() < sizeof(MachO::mach_header_64) ||
      support::endian::read32le(bytes.data()) != MachO::MH_MAGIC_64)
    return std::nullopt;
  const uint32_t cpu = support::endian::read32le(
      bytes.data() + offsetof(MachO::mach_header_64, cputype));
  return cpu == MachO::CPU_TYPE_ARM64 ? Platform::Arm64MacOS : Platform::Other;
}

static Platform platformHere() {
  const Triple triple(sys::getProcessTriple());
  if (triple.isOSDarwin())
    return triple.isAArch64() ? Platform::Arm64MacOS : Platform::Other;
  return triple.isAArch64()                   ? Platform::Aarch64Linux
         : triple.getArch() == Triple::x86_64 ? Platform::X86_64Linux
                                              : Platform::Other;
}

/// Where the programs kvc-remote-... are: beside the program that asks, as in a
/// build, or where cmake --install puts them, seen from its folder.
static SmallVector<std::string, 2> remoteFolders() {
  static const int inThis = 0;
  const std::string tool =
      sys::fs::getMainExecutable(nullptr, const_cast<int *>(&inThis));
  const StringRef beside = sys::path::parent_path(tool);
  SmallString<128> installed(beside);
  sys::path::append(installed, KVC_LIBEXEC);
  sys::path::remove_dots(installed, /*remove_dot_dot=*/true);
  return {beside.str(), installed.str().str()};
}

Expected<std::string> runnerFor(StringRef path) {
  const auto platform = platformOf(path);
  const Platform here = platformHere();
  if (!platform || (*platform == here && here != Platform::Other))
    return "";
  if (const char *runner = std::getenv("KVC_RUNNER"))
    return runner;
  const bool apple = *platform == Platform::Arm64MacOS;
  if (!apple && *platform != Platform::Aarch64Linux)
    return userError("'" + path +
                     "' is for another machine; say with --runner what runs "
                     "its programs");
  const std::string name =
      apple ? "kvc-remote-arm64-macos" : "kvc-remote-aarch64-linux";
  const auto folders = remoteFolders();
  const auto *folder = find_if(folders, [&](const std::string &candidate) {
    return sys::fs::can_execute(candidate + "/" + name);
  });
  if (folder == folders.end())
    return userError(
        "'" + path + "' is for " + (apple ? "arm64 macOS" : "aarch64") +
        ", and there is no '" + name + "' in '" + join(folders, "' or '") +
        "': it is not built where there is no C library for aarch64 when kvc "
        "is configured (on Debian libc6-dev-arm64-cross and "
        "libgcc-12-dev-arm64-cross)" +
        (apple ? ", nor without the tests, nor on another system than Linux"
               : "") +
        "; or say with --runner what runs it");
  const char *emulator = here == Platform::Aarch64Linux
                             ? ""
                             : "qemu-aarch64 -L /usr/aarch64-linux-gnu ";
  return emulator + ("'" + *folder + "/" + name + "'");
}

} // namespace kvc::harness
