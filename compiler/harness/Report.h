//===- Report.h - kvc report: what caches take, in bytes --------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The byte plan of specs by layer, and what pages take besides: what `stats` of
// their libraries would say after so many decode steps, without the libraries.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_REPORT_H
#define KVC_COMPILER_HARNESS_REPORT_H

#include "compiler/harness/HeldPages.h"
#include "compiler/harness/Model.h"
#include "compiler/reference/BytePlan.h"

namespace kvc::harness {

/// What one layer takes.
struct LayerBytes {
  reference::BytePlan plan;
  int64_t padding = 0; ///< held in pages and not used

  int64_t used() const { return plan.total(); }
  int64_t held() const { return used() + padding; }
};

/// What one spec's cache takes at one length.
struct Report {
  std::string spec; ///< its file, as it was named
  std::string name;
  int64_t tokens = 0;
  std::vector<LayerBytes> layers;
  /// By layer, how many numbers a full cache of the layer has. That of a reader
  /// counts: not to have one is what sharing saves.
  std::vector<int64_t> numbers;

  LayerBytes sum() const;
  /// Bytes of full caches of all layers, `width` a number.
  int64_t full(int64_t width) const;
};

/// What the cache of one model takes while it is filled by decode steps.
class CachePlan {
public:
  /// `target` as CompileOptions has it.
  static llvm::Expected<CachePlan> create(Model &model, llvm::StringRef spec,
                                          llvm::StringRef target);

  llvm::StringRef spec() const { return file; }
  llvm::StringRef name() const { return modelName; }
  /// The length at which every layer holds the most tokens that it stores.
  int64_t fullest() const;
  /// The length that says most: the context; where every layer has a window,
  /// one far beyond the longest, since a cache that stays as it is saves what a
  /// full one goes on to take.
  int64_t telling() const;
  /// The most tokens that a sequence may have.
  int64_t limit() const;
  /// An error that names the layer where a sequence cannot be so long.
  llvm::Error check(int64_t tokens) const;

  /// At each of `lengths`, which ascend and were checked.
  std::vector<Report> at(llvm::ArrayRef<int64_t> lengths) const;
  Report at(int64_t tokens) const { return at(llvm::ArrayRef(tokens)).front(); }

private:
  struct Layer {
    kv::PolicyAttr policy;
    kv::ShapeAttr shape;
    HeldPages empty; ///< before the first token
    size_t like;     ///< the first layer that takes the same
  };
  int64_t numbersOf(const Layer &layer, int64_t tokens) const;

  std::string file, modelName;
  std::vector<Layer> layers;
};

struct ReportOptions {
  std::vector<std::string> specs;
  std::vector<int64_t> tokens; ///< empty: each spec's telling()
  std::string target;          ///< as CompileOptions has it
  bool json = false;
  std::string plot; ///< SVG; "": not written
};

/// Prints the report of each spec at each length, and what else is asked for.
llvm::Error report(const ReportOptions &options, llvm::raw_ostream &os);

/// For people: by layer, like layers together, and in all; of several reports
/// also a line each.
void printReports(llvm::ArrayRef<Report> reports, llvm::raw_ostream &os);

/// For programs: an array with an object for each report.
void printJson(llvm::ArrayRef<Report> reports, llvm::raw_ostream &os);

/// A line of the plot: bytes of all layers at each length.
struct PlotLine {
  std::string name;
  std::vector<std::pair<int64_t, int64_t>> points; ///< (tokens, bytes)
  bool reference = false; ///< one that others are seen against
};
/// An SVG of the lines: bytes against tokens.
void printPlot(llvm::ArrayRef<PlotLine> lines, llvm::raw_ostream &os);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_REPORT_H
