//===- Target.cpp - the targets that there are ----------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/target/Target.h"
#include "compiler/target/cpu/CpuTarget.h"

namespace kvc {

/// All targets, in the order in which help texts name them: of one
/// architecture, what asks more comes later.
static const std::vector<const Target *> &all() {
  static const CpuTarget x86V3(CpuTarget::x86V3());
  static const CpuTarget x86V4(CpuTarget::x86V4());
  static const CpuTarget armLinux(CpuTarget::armLinux());
  static const std::vector<const Target *> targets{&x86V3, &x86V4, &armLinux};
  return targets;
}

const Target *Target::find(llvm::StringRef name) {
  const Target *found = nullptr;
  for (const Target *target : all())
    if (name == "host" ? target->runsHere() : target->name() == name)
      found = target;
  return found;
}

std::vector<std::string> Target::names() {
  std::vector<std::string> names;
  for (const Target *target : all())
    names.push_back(target->name().str());
  return names;
}

} // namespace kvc
