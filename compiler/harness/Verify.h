//===- Verify.h - kvc verify: a library against the reference ---*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_VERIFY_H
#define KVC_COMPILER_HARNESS_VERIFY_H

#include "compiler/harness/LoadedLibrary.h"
#include "compiler/harness/Model.h"

namespace kvc::harness {

struct VerifyOptions {
  std::string subject; ///< a library, a spec or IR
  std::string against; ///< a spec or IR; "": the subject's own
  std::string trace;   ///< "": none
  std::string target;  ///< as CompileOptions has it, where it is compiled
  std::string runner;  ///< as LoadedLibrary::open has it
};

/// A library and the model that it is held against.
struct Subject {
  std::unique_ptr<Model> model;
  std::unique_ptr<LoadedLibrary> library;
};

/// Opens or compiles what the options name. `ourFault` is set where a spec
/// that was accepted does not compile.
llvm::Expected<Subject> openSubject(const VerifyOptions &options,
                                    bool &ourFault);

/// Prints a line for each kind of input, and the first miss of each. Whether
/// all was right.
llvm::Expected<bool> verify(const Subject &subject, llvm::StringRef trace,
                            llvm::raw_ostream &os);

/// Runs the trace through each subject; prints a line for each: what it is,
/// tokens, the largest error, bytes against f16, time. Whether all was right.
llvm::Expected<bool> summarize(llvm::ArrayRef<std::string> specs,
                               const VerifyOptions &options, bool &ourFault,
                               llvm::raw_ostream &os);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_VERIFY_H
