//===- Report.cpp - kvc report: what caches take, in bytes ----------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Report.h"

#include "compiler/files/OutputFile.h"
#include "compiler/harness/Files.h"
#include "dialect/KVOps.h"

using namespace llvm;

namespace kvc::harness {

static void add(LayerBytes &to, const LayerBytes &from) {
  to.plan.codes += from.plan.codes;
  to.plan.scales += from.plan.scales;
  to.plan.residual += from.plan.residual;
  to.plan.sinks += from.plan.sinks;
  to.plan.originals += from.plan.originals;
  to.plan.rollback += from.plan.rollback;
  to.padding += from.padding;
}

LayerBytes Report::sum() const {
  LayerBytes sum;
  for (const LayerBytes &layer : layers)
    add(sum, layer);
  return sum;
}

int64_t Report::full(int64_t width) const {
  int64_t bytes = 0;
  for (int64_t number : numbers)
    bytes += width * number;
  return bytes;
}

//===----------------------------------------------------------------------===//
// CachePlan
//===----------------------------------------------------------------------===//

Expected<CachePlan> CachePlan::create(Model &model, StringRef spec,
                                      StringRef target) {
  auto models = model.module().getOps<kv::ModelOp>();
  if (!hasSingleElement(models))
    return userError("'" + spec +
                     "' has not one kv.model: no model is left "
                     "whose bytes could be counted");
  auto held = expectHeld(model.module(), target);
  if (!held)
    return held.takeError();
  kv::ModelOp op = *models.begin();
  CachePlan plan;
  plan.file = spec.str();
  plan.modelName = op.getSymName().str();
  for (auto [number, layer] : enumerate(op.getLayers())) {
    Layer entry{layer.getPolicy(), layer.getShape(), (*held)[number], number};
    for (const Layer &other : plan.layers)
      if (other.policy == entry.policy && other.shape == entry.shape) {
        entry.like = other.like;
        break;
      }
    plan.layers.push_back(std::move(entry));
  }
  return plan;
}

int64_t CachePlan::fullest() const {
  int64_t tokens = 0;
  for (const Layer &layer : layers) {
    auto time = layer.policy.getTime();
    if (layer.policy.getDepth().stores())
      tokens = std::max(tokens, time.getLimit().value_or(time.getSinks() +
                                                         time.getCapacity()));
  }
  return std::min(tokens, limit());
}

int64_t CachePlan::telling() const {
  // Windows of 128 to 4096 tokens are met at 4096 to 65536.
  constexpr int64_t windows = 16;
  if (limit() < INT64_MAX || fullest() > INT32_MAX / windows / 2)
    return fullest();
  return static_cast<int64_t>(PowerOf2Ceil(windows * fullest()));
}

int64_t CachePlan::limit() const {
  int64_t tokens = INT64_MAX;
  for (const Layer &layer : layers)
    if (layer.policy.getDepth().stores())
      tokens = std::min(tokens,
                        layer.policy.getTime().getLimit().value_or(INT64_MAX));
  return tokens;
}

Error CachePlan::check(int64_t tokens) const {
  if (tokens <= limit())
    return Error::success();
  for (auto [number, layer] : enumerate(layers)) {
    auto most = layer.policy.getTime().getLimit();
    if (most && layer.policy.getDepth().stores() && tokens > *most)
      return userError("'" + file + "': layer " + Twine(number) +
                       " stores at most " + Twine(*most) +
                       " tokens (its context), not " + Twine(tokens));
  }
  return Error::success();
}

int64_t CachePlan::numbersOf(const Layer &layer, int64_t tokens) const {
  return tokens * layer.shape.getKvHeads() *
         (layer.shape.getHeadDim() + layer.shape.getValueDim());
}

std::vector<Report> CachePlan::at(ArrayRef<int64_t> lengths) const {
  std::vector<Report> reports(lengths.size());
  for (auto [report, tokens] : zip(reports, lengths)) {
    report.spec = file;
    report.name = modelName;
    report.tokens = tokens;
  }
  for (auto [number, layer] : enumerate(layers)) {
    HeldPages pages = layer.empty;
    int64_t seen = 0;
    for (Report &report : reports) {
      report.numbers.push_back(numbersOf(layer, report.tokens));
      if (layer.like != number) {
        const LayerBytes same = report.layers[layer.like];
        report.layers.push_back(same);
        continue;
      }
      pages.appendEach(report.tokens - seen);
      seen = report.tokens;
      LayerBytes bytes;
      bytes.plan = reference::planBytes(layer.policy, layer.shape, seen);
      bytes.padding = pages.bytes() - bytes.used();
      report.layers.push_back(bytes);
    }
  }
  return reports;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

namespace {
/// Lines of a plot from length 0 on.
class Plotter {
public:
  explicit Plotter(int64_t longest) : longest(longest) {}
  void add(const CachePlan &plan);
  Error write(StringRef path) const;

private:
  static constexpr int64_t Samples = 400;
  int64_t longest;
  std::vector<PlotLine> lines, full;
};
} // namespace

void Plotter::add(const CachePlan &plan) {
  const int64_t end = std::min(longest, plan.limit());
  std::vector<int64_t> lengths = {0};
  for (int64_t i = 1; i <= Samples; ++i) {
    // Past 2^53 / 400 the product would be too large.
    const int64_t length = end / Samples * i + end % Samples * i / Samples;
    if (length > lengths.back())
      lengths.push_back(length);
  }
  PlotLine line{plan.name().str(), {}};
  for (const PlotLine &other : lines)
    if (other.name == line.name)
      line.name = plan.spec().str();
  PlotLine half{line.name, {}, true};
  for (const Report &report : plan.at(lengths)) {
    line.points.emplace_back(report.tokens, report.sum().held());
    half.points.emplace_back(report.tokens, report.full(2));
  }
  lines.push_back(std::move(line));
  // Specs of one model have one full cache, as long as the longest has it.
  for (PlotLine &other : full) {
    const auto &[tokens, bytes] = other.points.back();
    const auto &[newTokens, newBytes] = half.points.back();
    if (static_cast<__int128>(bytes) * newTokens !=
        static_cast<__int128>(newBytes) * tokens)
      continue;
    if (newTokens > tokens)
      other.points = std::move(half.points);
    return;
  }
  full.push_back(std::move(half));
}

Error Plotter::write(StringRef path) const {
  std::vector<PlotLine> all = lines;
  for (PlotLine line : full) {
    line.name = full.size() > 1 ? "f16, full: " + line.name : "f16, full";
    all.push_back(std::move(line));
  }
  return writeWhole(path, [&](raw_ostream &os) { printPlot(all, os); });
}

/// All lengths in the order of the options, each computed on the way up.
static std::vector<Report> inOrder(const CachePlan &plan,
                                   ArrayRef<int64_t> tokens) {
  std::vector<int64_t> ascending(tokens);
  llvm::sort(ascending);
  std::vector<Report> reports = plan.at(ascending), result;
  for (int64_t length : tokens)
    result.push_back(
        reports[lower_bound(ascending, length) - ascending.begin()]);
  return result;
}

namespace {
/// A model and what its cache takes.
struct Subject {
  std::unique_ptr<Model> model;
  std::unique_ptr<CachePlan> plan;
};
} // namespace

static Expected<Subject> open(StringRef spec, const ReportOptions &options) {
  // One of dozens: no threads of its own.
  auto model = Model::load(spec, /*threads=*/false);
  if (!model)
    return model.takeError();
  auto plan = CachePlan::create(**model, spec, options.target);
  if (!plan)
    return plan.takeError();
  for (int64_t tokens : options.tokens)
    if (Error error = plan->check(tokens))
      return error;
  return Subject{std::move(*model),
                 std::make_unique<CachePlan>(std::move(*plan))};
}

static Error plot(ArrayRef<Subject> subjects, int64_t longest, StringRef path) {
  Plotter plotter(longest);
  for (const Subject &subject : subjects)
    plotter.add(*subject.plan);
  return plotter.write(path);
}

Error report(const ReportOptions &options, raw_ostream &os) {
  std::vector<Subject> subjects;
  Error errors = Error::success();
  for (const std::string &spec : options.specs) {
    auto subject = open(spec, options);
    if (subject)
      subjects.push_back(std::move(*subject));
    else
      errors = joinErrors(std::move(errors), subject.takeError());
  }
  if (errors)
    return errors;
  std::vector<Report> reports;
  int64_t longest = 0;
  for (const Subject &subject : subjects) {
    std::vector<int64_t> tokens = options.tokens;
    if (tokens.empty())
      tokens.push_back(subject.plan->telling());
    for (Report &report : inOrder(*subject.plan, tokens))
      reports.push_back(std::move(report));
    longest = std::max(longest, *llvm::max_element(tokens));
  }
  if (!options.plot.empty())
    if (Error error = plot(subjects, longest, options.plot))
      return error;
  if (options.json)
    printJson(reports, os);
  else
    printReports(reports, os);
  return Error::success();
}

} // namespace kvc::harness
