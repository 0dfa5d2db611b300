//===- Target.cpp - the targets that there are ----------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/target/Target.h"
#include "compiler/target/cpu/CpuTarget.h"
#include "llvm/TargetParser/Host.h"

namespace kvc {

/// All targets, in the order in which help texts name them: of one
/// architecture, what asks more comes later.
static const std::vector<CpuTarget> &all() {
  static const std::vector<CpuTarget> targets = [] {
    std::vector<CpuTarget> made;
    made.emplace_back(CpuTarget::x86V3());
    made.emplace_back(CpuTarget::x86V4());
    made.emplace_back(CpuTarget::armLinux());
    for (CpuDescription &description : CpuTarget::armMacOS())
      made.emplace_back(std::move(description));
    return made;
  }();
  return targets;
}

/// NAME and CPU of a target.
static std::pair<llvm::StringRef, llvm::StringRef>
partsOf(const CpuTarget &target) {
  auto [name, cpu] = target.name().split('/');
  return {name, cpu.empty() ? target.cpu() : cpu};
}

const Target *Target::find(llvm::StringRef name) {
  const Target *found = nullptr;
  for (const CpuTarget &target : all())
    if (name == "host" ? target.runsHere() : target.name() == name)
      found = &target;
  return found;
}

std::vector<std::string> Target::names() {
  std::vector<std::string> names;
  for (const CpuTarget &target : all())
    if (!target.name().contains('/'))
      names.push_back(target.name().str());
  return names;
}

std::vector<std::string> Target::cpus(llvm::StringRef name) {
  std::vector<std::string> cpus;
  for (const CpuTarget &target : all())
    if (partsOf(target).first == name)
      cpus.push_back(partsOf(target).second.str());
  if (cpus.size() == 1)
    cpus.clear();
  return cpus;
}

llvm::StringRef Target::defaultName() {
  const llvm::Triple here(llvm::sys::getProcessTriple());
  if (!here.isAArch64())
    return "x86-64-v3";
  return here.isMacOSX() ? "arm64-apple-macos" : "aarch64-linux";
}

} // namespace kvc
