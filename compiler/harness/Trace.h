//===- Trace.h - recorded queries, keys and values --------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_HARNESS_TRACE_H
#define KVC_COMPILER_HARNESS_TRACE_H

#include "compiler/harness/LoadedLibrary.h"

namespace kvc::harness {

class SafetensorsFile;

/// One layer of a trace, before rotation, rounded to io. A reader has q alone.
struct LayerTrace {
  LayerShape shape;
  int64_t rows = 0;  ///< of q: [rows, heads, head_dim]
  int64_t start = 0; ///< the token that row 0 stands for
  std::vector<float> q, k, v;
  std::vector<float> sinks; ///< [heads] where the layer takes learned sinks

  /// Whether there is a query for `token`.
  bool has(int64_t token) const {
    return token >= start && token < start + rows;
  }
  llvm::ArrayRef<float> queryAt(int64_t token) const;
  llvm::ArrayRef<float> keyAt(int64_t token) const;
  llvm::ArrayRef<float> valueAt(int64_t token) const;
};

struct Trace {
  int64_t tokens = 0;
  std::vector<LayerTrace> layers;

  LearnedSinks sinks() const;
};

/// Reads `layers.{i}.q|k|v`, and `layers.{i}.sinks` where a layer takes learned
/// sinks, for the layers given, which are to be all that the file has; what
/// else it has is not read. A reader with fewer rows than there are tokens has
/// the last ones.
llvm::Expected<Trace> readTrace(llvm::StringRef path,
                                llvm::ArrayRef<LayerShape> layers, Element io);
llvm::Expected<Trace> readTrace(const SafetensorsFile &file,
                                llvm::ArrayRef<LayerShape> layers, Element io);

} // namespace kvc::harness

#endif // KVC_COMPILER_HARNESS_TRACE_H
