//===- CpuTarget.h - from the tile level to a CPU's objects -----*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_TARGET_CPU_CPUTARGET_H
#define KVC_COMPILER_TARGET_CPU_CPUTARGET_H

#include "compiler/target/Target.h"
#include "llvm/Target/TargetMachine.h"

namespace kvc {

/// What tells one CPU target from another.
struct CpuDescription {
  std::string name;   ///< as --target takes it; NAME/CPU: with a --cpu
  std::string triple; ///< LLVM's
  std::string cpu;    ///< LLVM's
  std::string extras; ///< LLVM's features beyond those of `cpu`
  std::string tune;   ///< LLVM's CPU to order instructions for; "": `cpu`
  std::string anyCpu; ///< of functions that find out what the CPU lacks
  int64_t lanes;      ///< 32-bit lanes of a vector
  int64_t registers;  ///< vector registers
  std::string dot;    ///< of #kv.target
  int64_t features;   ///< runtime/Platform.h
  llvm::StringRef (*runtime)(); ///< bitcode
  /// The same with the checks of sanitizers; null: not built.
  llvm::StringRef (*sanitizedRuntime)();
};

/// One CPU: the tile level to vectors and loops, LLVM does the rest.
class CpuTarget : public Target {
public:
  explicit CpuTarget(CpuDescription description)
      : description(std::move(description)) {}

  static CpuDescription x86V3();
  static CpuDescription x86V4();
  static CpuDescription armLinux();
  /// One for each CPU that --cpu takes, Apple's oldest first.
  static std::vector<CpuDescription> armMacOS();

  llvm::StringRef name() const override { return description.name; }
  llvm::StringRef cpu() const { return description.cpu; }
  bool runsHere() const override;
  llvm::StringRef librarySuffix() const override;
  kv::TargetAttr attribute(mlir::MLIRContext *context) const override;
  void buildLoops(mlir::OpPassManager &passes) const override;
  void buildLLVM(mlir::OpPassManager &passes) const override;
  bool canSanitize() const override { return description.sanitizedRuntime; }
  bool finish(llvm::Module &module, bool sanitize,
              std::string &error) const override;
  bool emit(llvm::Module &module, bool assembly, llvm::raw_pwrite_stream &os,
            std::string &error) const override;

private:
  std::unique_ptr<llvm::TargetMachine> machine(std::string &error) const;
  bool linkRuntime(llvm::Module &module, bool sanitize,
                   std::string &error) const;

  CpuDescription description;
};

} // namespace kvc

#endif // KVC_COMPILER_TARGET_CPU_CPUTARGET_H
