//===- Targets.cpp - --target and --cpu -----------------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Commands.h"
#include "compiler/harness/Files.h"
#include "compiler/target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using kvc::harness::userError;

namespace kvc::driver {

std::vector<std::string> targetNames() {
  std::vector<std::string> names = Target::names();
  names.push_back("host");
  return names;
}

std::vector<std::string> cpuNames() {
  std::vector<std::string> all;
  for (const std::string &name : Target::names())
    for (std::string &cpu : Target::cpus(name))
      all.push_back(std::move(cpu));
  return all;
}

Expected<std::string> chooseTarget(const Arguments &arguments,
                                   StringRef implied) {
  std::string target = arguments.get("--target", implied);
  if (!arguments.has("--cpu"))
    return target;
  if (target.empty())
    target = Target::defaultName();
  const std::vector<std::string> cpus = Target::cpus(target);
  const std::string cpu = arguments.get("--cpu");
  if (cpus.empty()) {
    std::vector<std::string> able;
    for (std::string &name : Target::names())
      if (!Target::cpus(name).empty())
        able.push_back(std::move(name));
    return userError("'--cpu' is of " + join(able, ", ") +
                     ": there is no choice of CPUs for target " + target);
  }
  if (!is_contained(cpus, cpu))
    return userError("'--cpu' is one of " + join(cpus, ", ") + ", not '" + cpu +
                     "'");
  return cpu == cpus.front() ? target : target + "/" + cpu;
}

} // namespace kvc::driver
