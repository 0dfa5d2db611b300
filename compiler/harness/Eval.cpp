//===- Eval.cpp - kvc eval: what specs cost in fidelity -------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Eval.h"

#include "compiler/files/OutputFile.h"
#include "compiler/harness/Crash.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/FullAttention.h"
#include "compiler/harness/HeldPages.h"
#include "compiler/harness/Progress.h"
#include "compiler/harness/Replay.h"
#include "compiler/harness/Safetensors.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <limits>

using namespace llvm;

namespace kvc::harness {

double Fidelity::error() const {
  double sum = 0;
  for (const LayerFidelity &layer : layers)
    sum += layer.error * layer.error;
  return layers.empty() ? 0
                        : std::sqrt(sum / static_cast<double>(layers.size()));
}

int64_t Fidelity::bytes() const {
  int64_t sum = 0;
  for (const LayerFidelity &layer : layers)
    sum += layer.bytes;
  return sum;
}

double Fidelity::bitsPerNumber() const {
  return numbers
             ? 8 * static_cast<double>(bytes()) / static_cast<double>(numbers)
             : 0;
}

//===----------------------------------------------------------------------===//
// One layer's distance
//===----------------------------------------------------------------------===//

namespace {
/// Squares of a difference and of what it is a difference from.
struct Distance {
  double difference = 0, full = 0;

  void add(const Distance &other) {
    difference += other.difference;
    full += other.full;
  }
  double relative() const {
    if (difference == 0)
      return 0;
    return full == 0 ? std::numeric_limits<double>::infinity()
                     : std::sqrt(difference / full);
  }
};

/// One layer's rows, as they come.
class LayerDistance {
public:
  LayerDistance(const LayerTrace &input, ArrayRef<float> full)
      : width(input.shape.heads * input.shape.valueDim), position(input.start),
        full(full) {}

  void take(ArrayRef<float> rows);
  LayerFidelity result(int64_t bytes) const {
    return {all.relative(), worst, worstPosition, bytes};
  }

private:
  int64_t width, position;
  ArrayRef<float> full; ///< of the rows that are to come
  Distance all;
  double worst = 0;
  int64_t worstPosition = 0;
};
} // namespace

void LayerDistance::take(ArrayRef<float> rows) {
  for (; !rows.empty(); rows = rows.drop_front(width)) {
    Distance row;
    for (auto [a, b] : zip(rows.take_front(width), full.take_front(width))) {
      const double difference = static_cast<double>(a) - b;
      row.add({difference * difference, static_cast<double>(b) * b});
    }
    all.add(row);
    if (row.relative() > worst) {
      worst = row.relative();
      worstPosition = position;
    }
    ++position;
    full = full.drop_front(width);
  }
}

//===----------------------------------------------------------------------===//
// The specs
//===----------------------------------------------------------------------===//

namespace {
/// Specs of one model: they have one full cache.
struct Group {
  std::string key;
  std::vector<size_t> specs; ///< numbers
};

class Evaluation {
public:
  Evaluation(const EvalOptions &options, bool &ourFault)
      : options(options), ourFault(ourFault) {}

  /// All that is wrong with the specs, and with the trace for them, before any
  /// work.
  Error prepare();
  Error run();
  std::vector<Fidelity> results() const;

private:
  Error read(const std::string &path);
  Error addToGroup(size_t number);
  Error checkTarget() const;
  Error runGroup(const Group &group);
  Expected<Fidelity> runSpec(size_t number, const Trace &trace,
                             ArrayRef<std::vector<float>> full);
  std::string title(size_t number) const;

  const EvalOptions &options;
  bool &ourFault;
  std::vector<spec::Spec> specs;
  std::vector<std::optional<Fidelity>> rows; ///< by spec
  std::vector<Group> groups;
  std::vector<int64_t> tokens; ///< of the trace, by group
};
} // namespace

/// What a trace must have for the spec's model.
static std::vector<LayerShape> shapesOf(const spec::Spec &spec) {
  std::vector<LayerShape> shapes;
  for (auto [number, layer] : enumerate(spec.layers))
    shapes.push_back({layer.heads, layer.kvHeads, layer.headDim, layer.valueDim,
                      layer.share.value_or(static_cast<int64_t>(number)),
                      layer.learnedSinks});
  return shapes;
}

static Element ioOf(const spec::Spec &spec) {
  switch (spec.io) {
  case spec::FloatType::F16:
    return Element::F16;
  case spec::FloatType::BF16:
    return Element::BF16;
  case spec::FloatType::F32:
    break;
  }
  return Element::F32;
}

Error Evaluation::read(const std::string &path) {
  if (!Model::isSpec(path))
    return userError("'" + path +
                     "' is no spec (.yaml, .yml): kvc eval asks it what a full "
                     "cache of the same model is");
  spec::Diagnostics diags;
  auto spec = spec::parseSpecFile(path, diags);
  if (!spec)
    return userError(StringRef(diags.str()).rtrim());
  specs.push_back(std::move(*spec));
  return Error::success();
}

Error Evaluation::addToGroup(size_t number) {
  const spec::Spec &spec = specs[number];
  const std::string key = spec::withFullCache(spec, 1).canonical;
  auto group = find_if(groups, [&](const Group &g) { return g.key == key; });
  if (group == groups.end()) {
    auto trace = readTrace(options.trace, shapesOf(spec), ioOf(spec));
    if (!trace)
      return userError("'" + spec.file + "' is not of the trace's model: " +
                       toString(trace.takeError()));
    tokens.push_back(trace->tokens);
    groups.push_back({key, {}});
    group = std::prev(groups.end());
  }
  const int64_t length = tokens[group - groups.begin()];
  for (auto [layer, entry] : enumerate(spec.layers))
    if (!entry.window && entry.context < length)
      return userError("'" + spec.file + "': layer " + Twine(layer) +
                       " stores at most " + Twine(entry.context) +
                       " tokens (its context), the trace has " + Twine(length));
  group->specs.push_back(number);
  return Error::success();
}

Error Evaluation::prepare() {
  auto trace = SafetensorsFile::open(options.trace);
  Error errors = trace ? Error::success() : trace.takeError();
  for (const std::string &path : options.specs)
    errors = joinErrors(std::move(errors), read(path));
  if (errors)
    return errors;
  rows.resize(specs.size());
  for (size_t number = 0; number < specs.size(); ++number)
    errors = joinErrors(std::move(errors), addToGroup(number));
  return errors ? std::move(errors) : checkTarget();
}

/// A target that is none would be said once a spec, behind a full cache.
Error Evaluation::checkTarget() const {
  auto model = Model::load(options.specs.front(), /*threads=*/false);
  if (!model)
    return model.takeError();
  auto held = expectHeld((*model)->module(), options.target);
  return held ? Error::success() : held.takeError();
}

std::string Evaluation::title(size_t number) const {
  return formatv("spec {0} of {1}, {2}: ", number + 1, specs.size(),
                 specs[number].name);
}

Expected<Fidelity> Evaluation::runSpec(size_t number, const Trace &trace,
                                       ArrayRef<std::vector<float>> full) {
  auto model = Model::load(options.specs[number], /*threads=*/false);
  if (!model)
    return model.takeError();
  CompileOptions compile;
  compile.target = options.target;
  auto library = openCompiled(**model, compile, options.runner);
  if (!library) {
    ourFault = ourFault ||
               (options.target.empty() && !library.errorIsA<OutputError>());
    return library.takeError();
  }
  Trial trial(specs[number].name + ": ", outs());
  auto cache = library->create(0, trace.sinks());
  if (!cache)
    return cache.takeError();
  std::vector<LayerDistance> distances;
  for (auto [input, rows] : zip(trace.layers, full))
    distances.emplace_back(input, rows);
  if (Error error =
          replay(*library, *cache, trace, {0, trace.tokens, 0, title(number)},
                 [&](size_t layer, const Output &rows) {
                   distances[layer].take(rows.out);
                 }))
    return error;
  Fidelity result{specs[number].file, specs[number].name, trace.tokens, {}};
  for (auto [layer, input] : enumerate(trace.layers)) {
    const LayerShape &shape = input.shape;
    const int64_t width = shape.kvHeads * (shape.headDim + shape.valueDim);
    result.full += trace.tokens * width;
    int64_t bytes = 0;
    if (shape.owner == static_cast<int64_t>(layer)) {
      auto stats = statsOf(*library, *cache, layer);
      if (!stats)
        return stats.takeError();
      bytes = usedBytes(*stats);
      result.numbers += stats->stored * width;
    }
    result.layers.push_back(distances[layer].result(bytes));
  }
  return result;
}

Error Evaluation::runGroup(const Group &group) {
  const spec::Spec &first = specs[group.specs.front()];
  auto trace = readTrace(options.trace, shapesOf(first), ioOf(first));
  if (!trace)
    return trace.takeError();
  auto full = attendInFull(first, *trace);
  if (!full)
    return full.takeError();
  Progress progress;
  Error errors = Error::success();
  for (size_t number : group.specs) {
    progress.show(title(number) + "compiling");
    auto row = runSpec(number, *trace, *full);
    if (row)
      rows[number] = std::move(*row);
    else
      errors = joinErrors(std::move(errors),
                          userError("'" + specs[number].file +
                                    "': " + toString(row.takeError())));
  }
  return errors;
}

Error Evaluation::run() {
  Error errors = Error::success();
  for (const Group &group : groups)
    errors = joinErrors(std::move(errors), runGroup(group));
  return errors;
}

std::vector<Fidelity> Evaluation::results() const {
  std::vector<Fidelity> all;
  for (const auto &row : rows)
    if (row)
      all.push_back(*row);
  return all;
}

Error evaluate(const EvalOptions &options, bool &ourFault, raw_ostream &os) {
  Evaluation evaluation(options, ourFault);
  if (Error error = evaluation.prepare())
    return error;
  Error errors = evaluation.run();
  const std::vector<Fidelity> all = evaluation.results();
  if (all.empty())
    return errors;
  if (options.json)
    printJson(all, os);
  else
    printTable(all, os);
  return errors;
}

} // namespace kvc::harness
