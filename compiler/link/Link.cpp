//===- Link.cpp - lld in process ------------------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/link/Link.h"
#include "lld/Common/Driver.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/MemoryBuffer.h"

#include <mutex>
#include <vector>

LLD_HAS_DRIVER(elf)

namespace kvc {

bool linkShared(llvm::StringRef object, llvm::StringRef output,
                llvm::StringRef soname, std::string &error) {
  // lld keeps its state in globals.
  static std::mutex linker;
  std::lock_guard<std::mutex> lock(linker);
  const std::string from = object.str(), to = output.str(), name = soname.str();
  std::vector<const char *> arguments{
      "ld.lld",     "-shared",       from.c_str(), "-o",
      to.c_str(),   "-soname",       name.c_str(), "--hash-style=gnu",
      "--build-id", "--gc-sections", "-z",         "relro",
      "-z",         "now",           "-z",         "noexecstack"};
  llvm::raw_string_ostream os(error);
  lld::Result result =
      lld::lldMain(arguments, os, os, {{lld::Gnu, &lld::elf::link}});
  return result.retCode == 0;
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
