//===- Link.cpp - lld in process ------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/link/Link.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"

#include <mutex>
#include <vector>

LLD_HAS_DRIVER(elf)
LLD_HAS_DRIVER(macho)

// libSystem.tbd as an array.
extern const unsigned char kvc_libsystem_tbd[];
extern const unsigned long kvc_libsystem_tbd_size;

namespace kvc {

/// The oldest macOS that a library runs on: that of the triple of its code.
static constexpr const char *MacOSVersion = "13.0";

using Arguments = std::vector<const char *>;

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

static bool linkElf(const std::string &object, const std::string &output,
                    const std::string &name, std::string &error) {
  return runLinker({"ld.lld", "-shared", object.c_str(), "-o", output.c_str(),
                    "-soname", name.c_str(), "--hash-style=gnu", "--build-id",
                    "--gc-sections", "-z", "relro", "-z", "now", "-z",
                    "noexecstack"},
                   error);
}

/// What is used of libSystem stands in for Apple's own list of what it has.
static bool linkMachO(const std::string &object, const std::string &output,
                      const std::string &name, std::string &error) {
  llvm::SmallString<128> system;
  int descriptor;
  if (auto code = llvm::sys::fs::createTemporaryFile("libSystem", "tbd",
                                                     descriptor, system)) {
    error = code.message();
    return false;
  }
  llvm::FileRemover remove(system);
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << llvm::StringRef(reinterpret_cast<const char *>(kvc_libsystem_tbd),
                        kvc_libsystem_tbd_size);
  os.close();
  if (os.has_error()) {
    error = os.error().message();
    os.clear_error();
    return false;
  }
  // Whoever loads it says where it lies. lld signs it ad hoc, and calls it in
  // its signature what -final_output says.
  const std::string installName = "@rpath/" + name;
  return runLinker({"ld64.lld", "-arch", "arm64", "-platform_version", "macos",
                    MacOSVersion, MacOSVersion, "-dylib", "-install_name",
                    installName.c_str(), "-final_output", name.c_str(),
                    "-dead_strip", "-o", output.c_str(), object.c_str(),
                    system.c_str()},
                   error);
}

bool linkShared(llvm::StringRef object, llvm::StringRef output,
                llvm::StringRef name, std::string &error) {
  llvm::file_magic format;
  if (auto code = llvm::identify_magic(object, format)) {
    error = code.message();
    return false;
  }
  auto link = format == llvm::file_magic::macho_object ? linkMachO : linkElf;
  return link(object.str(), output.str(), name.str(), error);
}

bool archiveObject(llvm::StringRef object, llvm::StringRef member,
                   llvm::raw_ostream &os, std::string &error) {
  // The symbol table at its head is what a linker looks names up in.
  llvm::NewArchiveMember only(llvm::MemoryBufferRef(object, member));
  const llvm::object::Archive::Kind kind = only.detectKindFromObject();
  auto archive = llvm::writeArchiveToBuffer(
      only, llvm::SymtabWritingMode::NormalSymtab, kind,
      /*Deterministic=*/true, /*Thin=*/false);
  if (archive)
    os << (*archive)->getBuffer();
  else
    error = llvm::toString(archive.takeError());
  return static_cast<bool>(archive);
}

} // namespace kvc
