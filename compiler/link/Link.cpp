//===- Link.cpp - lld in process ------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/link/Link.h"
#include "compiler/files/OutputFile.h"
#include "compiler/files/TemporaryFile.h"
#include "lld/Common/Driver.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/MemoryBuffer.h"

#include <fcntl.h>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

LLD_HAS_DRIVER(elf)
LLD_HAS_DRIVER(macho)

// libSystem.tbd as an array.
// NOLINTBEGIN(readability-identifier-naming)
extern const unsigned char kvc_libsystem_tbd[];
extern const unsigned long kvc_libsystem_tbd_size;
// NOLINTEND(readability-identifier-naming)

namespace kvc {

/// The oldest macOS that a library runs on: that of the triple of its code.
static constexpr const char *MacOSVersion = "13.0";

using Arguments = std::vector<const char *>;

static llvm::Error errorOf(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

static bool runLinker(const Arguments &arguments, std::string &error) {
  // lld keeps its state in globals.
  static std::mutex linker;
  std::lock_guard<std::mutex> lock(linker);
  llvm::raw_string_ostream os(error);
  lld::Result result = lld::lldMain(
      arguments, os, os,
      {{lld::Gnu, &lld::elf::link}, {lld::Darwin, &lld::macho::link}});
  return result.retCode == 0;
}

namespace {
/// What lld takes for its output: the end of a pipe. To a file it would write
/// by way of the file's pages in memory, and where the disk is full the process
/// would be ended.
class LinkerOutput {
public:
  LinkerOutput() : failed(::pipe(ends) != 0) {
    if (failed)
      return;
    for (int end : ends)
      ::fcntl(end, F_SETFD, FD_CLOEXEC);
    path = "/dev/fd/" + std::to_string(ends[1]);
    reader = std::thread([this] { readAll(); });
  }
  ~LinkerOutput() { finish(); }

  bool isOpen() const { return !failed; }
  const char *name() const { return path.c_str(); }
  /// All that was written.
  llvm::StringRef finish() {
    if (reader.joinable()) {
      ::close(ends[1]);
      reader.join();
      ::close(ends[0]);
    }
    return {bytes.data(), bytes.size()};
  }

private:
  void readAll() {
    char part[1 << 16];
    void *const at = part;
    ssize_t count = 0;
    while ((count = llvm::sys::RetryAfterSignal(-1, ::read, ends[0], at,
                                                sizeof part)) > 0)
      bytes.append(part, part + count);
  }

  int ends[2] = {-1, -1};
  bool failed;
  std::string path;
  std::thread reader;
  llvm::SmallVector<char, 0> bytes;
};
} // namespace

static llvm::Error run(const Arguments &arguments, LinkerOutput &output,
                       llvm::raw_ostream &os) {
  std::string error;
  if (!runLinker(arguments, error))
    return errorOf(error);
  os << output.finish();
  return llvm::Error::success();
}

static llvm::Error linkElf(const std::string &object, const std::string &name,
                           LinkerOutput &output, llvm::raw_ostream &os) {
  return run({"ld.lld", "-shared", object.c_str(), "-o", output.name(),
              "-soname", name.c_str(), "--hash-style=gnu", "--build-id",
              "--gc-sections", "-z", "relro", "-z", "now", "-z", "noexecstack"},
             output, os);
}

static llvm::Error linkMachO(const std::string &object, const std::string &name,
                             LinkerOutput &output, llvm::raw_ostream &os) {
  auto system = TemporaryFile::create("tbd");
  if (!system)
    return system.takeError();
  if (auto error = writeWhole(system->path(), [](llvm::raw_ostream &os) {
        os << llvm::StringRef(reinterpret_cast<const char *>(kvc_libsystem_tbd),
                              kvc_libsystem_tbd_size);
      }))
    return error;
  // Whoever loads it says where it lies. lld signs it ad hoc, and calls it in
  // its signature what -final_output says.
  const std::string installName = "@rpath/" + name;
  return run({"ld64.lld", "-arch", "arm64", "-platform_version", "macos",
              MacOSVersion, MacOSVersion, "-dylib", "-install_name",
              installName.c_str(), "-final_output", name.c_str(), "-dead_strip",
              "-o", output.name(), object.c_str(), system->path().c_str()},
             output, os);
}

llvm::Error linkShared(llvm::StringRef object, llvm::StringRef name,
                       llvm::raw_ostream &os) {
  llvm::file_magic format;
  if (auto code = llvm::identify_magic(object, format))
    return llvm::createFileError(object, code);
  LinkerOutput output;
  if (!output.isOpen())
    return errorOf("no pipe for lld: " + llvm::errnoAsErrorCode().message());
  auto link = format == llvm::file_magic::macho_object ? linkMachO : linkElf;
  return link(object.str(), name.str(), output, os);
}

llvm::Error archiveObject(llvm::StringRef object, llvm::StringRef member,
                          llvm::raw_ostream &os) {
  // The symbol table at its head is what a linker looks names up in.
  llvm::NewArchiveMember only(llvm::MemoryBufferRef(object, member));
  const llvm::object::Archive::Kind kind = only.detectKindFromObject();
  auto archive = llvm::writeArchiveToBuffer(
      only, llvm::SymtabWritingMode::NormalSymtab, kind,
      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return archive.takeError();
  os << (*archive)->getBuffer();
  return llvm::Error::success();
}

} // namespace kvc
