//===- Target.h - how the tile level becomes a CPU's library ----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_TARGET_TARGET_H
#define KVC_COMPILER_TARGET_TARGET_H

#include "compiler/target/TileTarget.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace kvc {

/// A target of libraries: how the tile level becomes its code, and how that is
/// written.
class Target : public TileTarget {
public:
  /// Whether this machine has what its code needs.
  virtual bool runsHere() const = 0;
  /// Loops to the LLVM dialect, with the library's entry points.
  virtual void buildLLVM(mlir::OpPassManager &passes) const = 0;

  /// The suffix that its shared libraries have, with its dot.
  virtual llvm::StringRef librarySuffix() const = 0;

  /// Whether its libraries can have sanitizers.
  virtual bool canSanitize() const = 0;
  /// Links the runtime into `module`, keeps only what a library exports, and
  /// optimises; with `sanitize`, both have the checks of sanitizers. False with
  /// `error` where that fails.
  virtual bool finish(llvm::Module &module, bool sanitize,
                      std::string &error) const = 0;
  /// Assembly or an object file of a finished module.
  virtual bool emit(llvm::Module &module, bool assembly,
                    llvm::raw_pwrite_stream &os, std::string &error) const = 0;

  /// The target of that name; "host" is the one that asks most of this machine
  /// and runs on it. Null where there is none. Where there is a choice of CPUs,
  /// NAME is the first of them and NAME/CPU that one; the first goes by NAME
  /// alone.
  static const Target *find(llvm::StringRef name);
  /// All names, without CPUs.
  static std::vector<std::string> names();
  /// The CPUs that the target of that name is to be had for; empty where the
  /// name itself says which.
  static std::vector<std::string> cpus(llvm::StringRef name);
  /// What is compiled for where nobody says: for this machine's architecture
  /// and system.
  static llvm::StringRef defaultName();
};

} // namespace kvc

#endif // KVC_COMPILER_TARGET_TARGET_H
