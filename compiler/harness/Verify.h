//===- Verify.h - kvc verify: a library against the reference ---*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_VERIFY_H
#define KVC_COMPILER_HARNESS_VERIFY_H

#include "compiler/harness/Comparison.h"
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

/// What was found on one kind of input.
struct VerifyRow {
  std::string input;
  int64_t tokens = 0;
  Worst worst;
  std::vector<std::string> misses; ///< the first of each comparison
};

struct VerifyResult {
  std::vector<VerifyRow> rows; ///< in the order in which they ran
  bool right() const;
};

/// Prints a line for each kind of input with the first miss, and a verdict;
/// with `json` all that as one object.
llvm::Expected<VerifyResult> verify(const Subject &subject,
                                    llvm::StringRef trace,
                                    llvm::raw_ostream &os, bool json = false);

/// Runs the trace through each subject; prints a line for each: what it is,
/// tokens, the largest error, bytes against f16, time; then a verdict. Whether
/// all was right.
llvm::Expected<bool> summarize(llvm::ArrayRef<std::string> specs,
                               const VerifyOptions &options, bool &ourFault,
                               llvm::raw_ostream &os);

/// The last line: whether `what` were right, of so many outputs; the worst as a
/// share of its bound. `wrong` are the names of those that missed.
void printVerdict(llvm::StringRef what, int64_t outputs, double worst,
                  llvm::ArrayRef<std::string> wrong, llvm::raw_ostream &os);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_VERIFY_H
