//===- BenchReport.cpp - what kvc bench prints ----------------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Bench.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace kvc::harness {

static double megabytes(int64_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

/// Nanoseconds for each token that a layer attends to.
static double perAttended(const BenchRow &row) {
  return row.attends
             ? row.seconds.median * 1e9 / static_cast<double>(row.attends)
             : 0;
}

void printTable(const BenchResult &result, raw_ostream &os) {
  size_t width = 7;
  for (const BenchLibrary &library : result.libraries)
    width = std::max(width, library.name.size());
  auto pad = [&](StringRef text) {
    os << text;
    os.indent(static_cast<unsigned>(width - text.size()));
  };
  for (const BenchLibrary &library : result.libraries) {
    pad(library.name);
    os << formatv("  layers {0}, kernels {1}, {2}: {3}\n", library.layers,
                  library.kernels, library.target, library.subject);
  }
  os << formatv("medians of {0} rounds; a round walks {1:f1} MB of each "
                "library's caches, or as near as sequences come; the "
                "last-level cache has {2:f1} MB\n\n",
                result.rounds, megabytes(result.walk), megabytes(result.cache));
  pad("library");
  os << formatv("{0,8}{1,8}{2,7}{3,11}{4,12}{5,8}{6,10}{7,12}{8,8}{9,8}{10,8}"
                "\n",
                "threads", "tokens", "caches", "MB walked", "us a token",
                "spread", "ns attend", "MB a token", "GB/s", "of read",
                "ratio");
  int64_t tokens = -1;
  for (const BenchRow &row : result.rows) {
    if (tokens >= 0 && tokens != row.tokens)
      os << "\n";
    tokens = row.tokens;
    const double spread =
        (row.seconds.high - row.seconds.low) / row.seconds.median;
    pad(result.libraries[row.library].name);
    os << formatv("{0,8}{1,8}{2,7}{3,11:f1}{4,12:f1}{5,8:P0}{6,10:f1}{7,12:f3}"
                  "{8,8:f2}{9,8:P0}{10,8:f3}\n",
                  row.threads, row.tokens, row.caches, megabytes(row.walked),
                  row.seconds.median * 1e6, spread, perAttended(row),
                  megabytes(row.bytes), row.bytesPerSecond / 1e9, row.share,
                  row.ratio);
  }
  os << formatv("\n{0,7}{1,8}{2,10}{3,10}\n", "threads", "tokens", "1 stream",
                "4 streams");
  for (const BandwidthRow &row : result.bandwidth)
    os << formatv("{0,7}{1,8}{2,10:f2}{3,10:f2} GB/s of memory read between "
                  "them\n",
                  row.threads, row.tokens, row.one / 1e9, row.four / 1e9);
}

void printJson(const BenchResult &result, raw_ostream &os) {
  json::Array libraries, rows, bandwidth;
  for (const BenchLibrary &library : result.libraries)
    libraries.push_back(json::Object{{"subject", library.subject},
                                     {"name", library.name},
                                     {"target", library.target},
                                     {"layers", library.layers},
                                     {"kernels", library.kernels}});
  for (const BenchRow &row : result.rows)
    rows.push_back(json::Object{{"library", static_cast<int64_t>(row.library)},
                                {"threads", row.threads},
                                {"tokens", row.tokens},
                                {"caches", row.caches},
                                {"walked", row.walked},
                                {"seconds", row.seconds.median},
                                {"low", row.seconds.low},
                                {"high", row.seconds.high},
                                {"bytes", row.bytes},
                                {"attends", row.attends},
                                {"bytes_per_second", row.bytesPerSecond},
                                {"share", row.share},
                                {"ratio", row.ratio}});
  for (const BandwidthRow &row : result.bandwidth)
    bandwidth.push_back(json::Object{{"tokens", row.tokens},
                                     {"threads", row.threads},
                                     {"one_stream", row.one},
                                     {"four_streams", row.four}});
  json::Value value = json::Object{
      {"rounds", result.rounds}, {"walk", result.walk},
      {"cache", result.cache},   {"libraries", std::move(libraries)},
      {"rows", std::move(rows)}, {"bandwidth", std::move(bandwidth)}};
  os << formatv("{0:2}\n", value);
}

} // namespace kvc::harness
