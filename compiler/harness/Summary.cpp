//===- Summary.cpp - what specs keep, cost and lose, a line each ----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Crash.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/Progress.h"
#include "compiler/harness/Replay.h"
#include "compiler/harness/Verify.h"
#include "compiler/harness/VerifyInputs.h"
#include "compiler/spec/Resolve.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace kvc::harness {

namespace {
/// One row of the table.
struct Row {
  std::string name, policy;
  int64_t seen = 0, stored = 0;
  int64_t used = 0, half = 0; ///< bytes, and those of a full cache in f16
  double error = 0, bound = 0;
  int64_t outputs = 0;     ///< rows compared
  double microseconds = 0; ///< a token, all layers
  std::string miss;
};
} // namespace

static std::string describe(const spec::Precision &plane) {
  if (!plane.coded)
    return std::string(spec::floatTypeName(plane.type));
  std::string text = formatv("{0}-bit per {1}/{2}", plane.bits, plane.per,
                             plane.groupAll ? std::string("all")
                                            : std::to_string(plane.group));
  if (plane.residual)
    text += formatv(" after {0}", plane.residual);
  return text;
}

/// A layer's policy in the spec's words.
static std::string describe(const spec::Layer &layer) {
  std::string text = formatv("keys {0}, values {1}, ", describe(layer.keys),
                             describe(layer.values));
  if (layer.sink)
    text += formatv("sink {0}, ", layer.sink);
  text += layer.window ? formatv("window {0}", *layer.window).str() : "all";
  if (layer.positions != "absolute")
    text += ", positions in the " + layer.positions;
  return text;
}

static std::string describe(const spec::Spec &spec) {
  std::string text = describe(spec.layers.front());
  int64_t readers = 0, others = 0;
  for (const spec::Layer &layer : spec.layers) {
    if (layer.share)
      ++readers;
    else if (describe(layer) != text)
      ++others;
  }
  auto count = [&](int64_t layers, StringRef one, StringRef several) {
    if (layers == 1)
      text += formatv("; 1 layer {0}", one);
    else if (layers > 1)
      text += formatv("; {0} layers {1}", layers, several);
  };
  count(others, "differs", "differ");
  count(readers, "reads another's", "read another's");
  return text;
}

static double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Counts bytes and tokens of all layers at the end.
static void measure(const Subject &subject, const Comparison &comparison,
                    Row &row) {
  const LoadedLibrary &library = *subject.library;
  for (size_t layer = 0; layer < library.layers().size(); ++layer) {
    kvc_stats stats = {};
    stats.size = sizeof stats;
    LibraryCall("stats", static_cast<int64_t>(layer))
        .run(library->stats, comparison.cache().get(),
             static_cast<int32_t>(layer), &stats);
    const LayerShape &shape = library.layers()[layer];
    row.seen = std::max(row.seen, stats.seen);
    row.stored = std::max(row.stored, stats.stored);
    row.used += usedBytes(stats);
    row.half +=
        stats.seen * shape.kvHeads * (shape.headDim + shape.valueDim) * 2;
  }
}

static Expected<Row> runTrace(const Subject &subject, StringRef path) {
  const LoadedLibrary &library = *subject.library;
  auto trace = readTrace(path, library.layers(), library.io());
  if (!trace)
    return trace.takeError();
  Trial trial(formatv("{0}: ", library.info().name), outs());
  auto made =
      Comparison::create(library, subject.model->module(), 0, trace->sinks());
  if (!made)
    return made.takeError();
  Comparison &comparison = **made;
  const auto schedules = makeSchedule(comparison.reference(), trace->tokens);
  Row row;
  Progress progress;
  std::vector<double> tokens;
  for (int64_t token = 0; token < trace->tokens && row.miss.empty(); ++token) {
    progress.show(Twine(library.info().name) + ": token " + Twine(token));
    const size_t before = comparison.times().size();
    for (size_t i = 0; i < schedules.size() && row.miss.empty(); ++i) {
      const LayerTrace &layer = trace->layers[i];
      if (!layer.has(token) || token >= schedules[i].length)
        continue;
      const auto number = static_cast<int64_t>(i);
      if (!comparison.step(number,
                           {layer.queryAt(token).vec(),
                            layer.keyAt(token).vec(),
                            layer.valueAt(token).vec()},
                           schedules[i].compares(token + 1)) ||
          (schedules[i].marked(token + 1) && !comparison.compareStored(number)))
        row.miss = comparison.miss();
    }
    double sum = 0;
    for (double time : ArrayRef(comparison.times()).drop_front(before))
      sum += time;
    tokens.push_back(sum * 1e6);
  }
  measure(subject, comparison, row);
  row.name = library.info().name;
  row.policy = subject.model->getSpec() ? describe(*subject.model->getSpec())
                                        : std::string("IR");
  row.error = comparison.worst().relative;
  row.bound = comparison.worst().out;
  row.outputs = comparison.worst().rows;
  row.microseconds = median(std::move(tokens));
  return row;
}

/// A line of numbers a spec, and what it says below: policies are too long for
/// a column.
static void print(ArrayRef<Row> rows, raw_ostream &os) {
  size_t width = 4;
  for (const Row &row : rows)
    width = std::max(width, row.name.size());
  auto pad = [&](StringRef text, size_t to) {
    os << text;
    os.indent(static_cast<unsigned>(to - std::min(to, text.size()) + 2));
  };
  pad("spec", width);
  os << formatv("{0,6}{1,8}{2,11}{3,8}{4,11}{5,11}{6,8}{7,11}\n", "seen",
                "stored", "error", "/bound", "bytes", "f16 bytes", "ratio",
                "us a token");
  for (const Row &row : rows) {
    pad(row.name, width);
    os << formatv(
        "{0,6}{1,8}{2,11:e2}{3,8:f3}{4,11}{5,11}{6,8:f3}{7,11:f1}\n", row.seen,
        row.stored, row.error, row.bound, row.used, row.half,
        row.half ? static_cast<double>(row.used) / static_cast<double>(row.half)
                 : 0.0,
        row.microseconds);
    os << "  " << row.policy << "\n";
    if (!row.miss.empty())
      os << "  miss: " << row.miss << "\n";
  }
}

Expected<bool> summarize(ArrayRef<std::string> specs,
                         const VerifyOptions &options, bool &ourFault,
                         raw_ostream &os) {
  std::vector<Row> rows;
  for (const std::string &spec : specs) {
    VerifyOptions one = options;
    one.subject = spec;
    auto subject = openSubject(one, ourFault);
    if (!subject)
      return subject.takeError();
    auto row = runTrace(*subject, options.trace);
    if (!row)
      return row.takeError();
    rows.push_back(std::move(*row));
  }
  print(rows, os);
  int64_t outputs = 0;
  double worst = 0;
  std::vector<std::string> wrong;
  for (const Row &row : rows) {
    outputs += row.outputs;
    worst = std::max(worst, row.bound);
    if (!row.miss.empty())
      wrong.push_back(row.name);
  }
  printVerdict(formatv("{0} specs", rows.size()).str(), outputs, worst, wrong,
               os);
  return wrong.empty();
}

} // namespace kvc::harness
