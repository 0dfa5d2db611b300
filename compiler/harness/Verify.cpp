//===- Verify.cpp - kvc verify: a library against the reference -----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Verify.h"

#include "compiler/harness/Crash.h"
#include "compiler/harness/Files.h"
#include "compiler/harness/Play.h"
#include "compiler/harness/Progress.h"
#include "compiler/harness/Together.h"
#include "compiler/harness/Trace.h"
#include "compiler/harness/VerifyInputs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace llvm;

namespace kvc::harness {

Expected<Subject> openSubject(const VerifyOptions &options, bool &ourFault) {
  Subject subject;
  auto opened = openOrCompile(options.subject, options.target, options.runner,
                              subject.model, ourFault);
  if (!opened)
    return opened.takeError();
  subject.library = std::make_unique<LoadedLibrary>(std::move(*opened));
  if (!options.against.empty()) {
    auto model = Model::load(options.against);
    if (!model)
      return model.takeError();
    subject.model = std::move(*model);
  }
  if (subject.model)
    return subject;
  StringRef spec = subject.library->info().spec;
  if (spec.empty())
    return userError("'" + options.subject +
                     "' carries no spec; say with --spec what it is to be "
                     "held against");
  auto model = Model::fromSpec(spec, options.subject + " (its spec)");
  if (!model)
    return model.takeError();
  subject.model = std::move(*model);
  return subject;
}

namespace {
/// Where the tokens of a check come from.
using Source =
    function_ref<std::optional<TokenInput>(int64_t layer, int64_t token)>;

/// Checks one library, kind by kind of input.
class Verifier {
public:
  /// A crash is told on `crashes`.
  Verifier(const Subject &subject, raw_ostream &os, raw_ostream &crashes)
      : library(*subject.library), module(subject.model->module()), os(os),
        crashes(crashes) {}

  void printTitle();
  Error checkKind(InputKind kind);
  /// All calls in a random order, under odd float environments; and that
  /// sequences which share calls or threads give what each gives alone.
  Error checkCalls();
  /// Truncate, fork, save, load and reset, under such environments too.
  Error checkOperations();
  Error checkTrace(StringRef path);
  VerifyResult take() { return std::move(result); }

private:
  struct Check {
    std::string name;
    int64_t first = 0;
    bool distinctOnly = false; ///< one layer of each kernel will do
    bool errors = false;       ///< also calls that must be refused
  };
  Error run(const Check &check, ArrayRef<LayerSchedule> schedules,
            Comparison &comparison, Source source);
  bool runLayer(const Check &check, const LayerSchedule &schedule,
                Comparison &comparison, int64_t layer, int64_t token,
                const TokenInput &input);
  bool finish(const Check &check, ArrayRef<LayerSchedule> schedules,
              Comparison &comparison, Source source);
  void print(const Check &check, int64_t tokens, const Worst &worst,
             StringRef miss);
  /// Of the row that was printed last; "": none.
  void addMiss(StringRef miss);

  const LoadedLibrary &library;
  mlir::ModuleOp module;
  raw_ostream &os, &crashes;
  Progress progress;
  VerifyResult result;
};
} // namespace

void Verifier::printTitle() {
  os << formatv("{0}: layers {1}, kernels {2}, {3}\n", library.info().name,
                library.info().layers, library.info().kernels,
                library.info().target);
  os << formatv("{0,-18}{1,8}{2,9}{3,9}{4,12}{5,12}{6,12}\n", "input", "tokens",
                "rows", "stored", "out/bound", "lse/bound", "error");
}

void Verifier::print(const Check &check, int64_t tokens, const Worst &worst,
                     StringRef miss) {
  progress.clear();
  os << formatv("{0,-18}{1,8}{2,9}{3,9}{4,12:f4}{5,12:f4}{6,12:e2}\n",
                check.name, tokens, worst.rows, worst.stores, worst.out,
                worst.lse, worst.relative);
  result.rows.push_back({check.name, tokens, worst, {}});
  addMiss(miss);
}

void Verifier::addMiss(StringRef miss) {
  if (miss.empty())
    return;
  result.rows.back().misses.push_back(miss.str());
  os << "  miss: " << miss << "\n";
}

/// One token of one layer; calls that are refused come before the token that
/// they would be.
bool Verifier::runLayer(const Check &check, const LayerSchedule &schedule,
                        Comparison &comparison, int64_t layer, int64_t token,
                        const TokenInput &input) {
  const int64_t length = schedule.length;
  const bool errors = check.errors && (token == 0 || token == length / 2 ||
                                       token == length - 1);
  // A reader of nothing has no order to break yet.
  if (errors && !comparison.compareErrors(layer, input))
    return false;
  if (!comparison.step(layer, input, schedule.compares(token + 1)))
    return false;
  return !schedule.marked(token + 1) || comparison.compareStored(layer);
}

bool Verifier::finish(const Check &check, ArrayRef<LayerSchedule> schedules,
                      Comparison &comparison, Source source) {
  if (!check.errors)
    return true;
  for (auto [layer, schedule] : enumerate(schedules))
    if (auto input = source(static_cast<int64_t>(layer), schedule.length))
      if (!comparison.compareFull(static_cast<int64_t>(layer), *input))
        return false;
  return true;
}

Error Verifier::run(const Check &check, ArrayRef<LayerSchedule> schedules,
                    Comparison &comparison, Source source) {
  int64_t length = 0;
  for (const LayerSchedule &schedule : schedules)
    if (!check.distinctOnly || schedule.distinct)
      length = std::max(length, schedule.length);
  bool good = true;
  for (int64_t token = 0; good && token < length; ++token) {
    if (token % 16 == 0)
      progress.show(check.name + ": token " + Twine(token) + " of " +
                    Twine(length));
    for (size_t i = 0; good && i < schedules.size(); ++i) {
      const LayerSchedule &schedule = schedules[i];
      const auto layer = static_cast<int64_t>(i);
      if (token >= schedule.length ||
          (check.distinctOnly && !schedule.distinct))
        continue;
      if (auto input = source(layer, token))
        good = runLayer(check, schedule, comparison, layer, token, *input);
    }
  }
  if (good)
    finish(check, schedules, comparison, source);
  print(check, length, comparison.worst(), comparison.miss());
  return Error::success();
}

Error Verifier::checkKind(InputKind kind) {
  Check check;
  check.name = inputName(kind).str();
  Trial trial(check.name + "\n  miss: ", crashes);
  check.errors = kind == InputKind::Gaussian;
  check.distinctOnly = !check.errors;
  // Positions far from 0 enter rotation, and nothing else.
  check.first = kind == InputKind::Outliers ? 100'000'000 : 0;
  auto comparison = Comparison::create(library, module, check.first,
                                       makeSinks(/*seed=*/1, library.layers()));
  if (!comparison)
    return comparison.takeError();
  if (kind == InputKind::Gaussian)
    (*comparison)->setRandom();
  const reference::Reference &model = (*comparison)->reference();
  return run(check, makeSchedule(model), **comparison,
             [&](int64_t layer, int64_t token) {
               return std::optional<TokenInput>(makeInput(
                   kind, /*seed=*/1, layer, token, library.layers()[layer],
                   model.stores(layer), library.io()));
             });
}

Error Verifier::checkCalls() {
  Check check;
  check.name = "calls";
  Trial trial(check.name + "\n  miss: ", crashes);
  CallSettings settings;
  auto comparison = Comparison::create(library, module, 0,
                                       makeSinks(/*seed=*/1, library.layers()));
  if (!comparison)
    return comparison.takeError();
  Play play(std::move(*comparison), library, /*seed=*/1);
  const std::string miss = play.runCalls();
  print(check, play.getLength(), play.worst(), miss);
  addMiss(compareTogether(library, /*seed=*/1));
  return Error::success();
}

Error Verifier::checkOperations() {
  Check check;
  check.name = "operations";
  Trial trial(check.name + "\n  miss: ", crashes);
  CallSettings settings;
  progress.show(check.name);
  auto comparison = Comparison::create(library, module, 0,
                                       makeSinks(/*seed=*/1, library.layers()));
  if (!comparison)
    return comparison.takeError();
  Play play(std::move(*comparison), library, /*seed=*/1);
  const std::string miss = play.runEachOperation();
  print(check, play.getLength(), play.worst(), miss);
  return Error::success();
}

Error Verifier::checkTrace(StringRef path) {
  auto trace = readTrace(path, library.layers(), library.io());
  if (!trace)
    return trace.takeError();
  Check check;
  check.name = "recorded";
  Trial trial(check.name + "\n  miss: ", crashes);
  auto comparison = Comparison::create(library, module, 0, trace->sinks());
  if (!comparison)
    return comparison.takeError();
  return run(check, makeSchedule((*comparison)->reference(), trace->tokens),
             **comparison,
             [&](int64_t layer, int64_t token) -> std::optional<TokenInput> {
               const LayerTrace &input = trace->layers[layer];
               if (!input.has(token))
                 return std::nullopt;
               return TokenInput{input.queryAt(token).vec(),
                                 input.keyAt(token).vec(),
                                 input.valueAt(token).vec()};
             });
}

bool VerifyResult::right() const {
  return all_of(rows, [](const VerifyRow &row) { return row.misses.empty(); });
}

void printVerdict(StringRef what, int64_t outputs, double worst,
                  ArrayRef<std::string> wrong, raw_ostream &os) {
  if (wrong.empty())
    os << formatv("right: {0}, {1} outputs, worst {2:f2} of what is allowed\n",
                  what, outputs, worst);
  else
    os << formatv("WRONG: {0} of {1} missed: {2}\n", wrong.size(), what,
                  join(wrong, ", "));
}

static void printVerdict(const VerifyResult &result, raw_ostream &os) {
  Worst all;
  std::vector<std::string> wrong;
  for (const VerifyRow &row : result.rows) {
    all.join(row.worst);
    if (!row.misses.empty())
      wrong.push_back(row.input);
  }
  printVerdict(formatv("{0} kinds of input", result.rows.size()).str(),
               all.rows, std::max(all.out, all.lse), wrong, os);
}

/// JSON has no word for infinity.
static json::Value finite(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

static void printJson(const VerifyResult &result, const kvc_info &info,
                      raw_ostream &os) {
  json::OStream json(os, 2);
  json.object([&] {
    json.attribute("name", info.name);
    json.attribute("target", info.target);
    json.attribute("layers", info.layers);
    json.attribute("kernels", info.kernels);
    json.attribute("right", result.right());
    json.attributeArray("inputs", [&] {
      for (const VerifyRow &row : result.rows)
        json.object([&] {
          json.attribute("input", row.input);
          json.attribute("tokens", row.tokens);
          json.attribute("rows", row.worst.rows);
          json.attribute("stored", row.worst.stores);
          json.attribute("out", finite(row.worst.out));
          json.attribute("lse", finite(row.worst.lse));
          json.attribute("error", finite(row.worst.relative));
          json.attributeArray("misses", [&] {
            for (const std::string &miss : row.misses)
              json.value(miss);
          });
        });
    });
  });
  os << "\n";
}

Expected<VerifyResult> verify(const Subject &subject, StringRef trace,
                              raw_ostream &os, bool json) {
  // A crash ends the process: what is printed of it is not JSON.
  raw_ostream &table = json ? nulls() : os, &crashes = json ? errs() : os;
  // Whether the two belong together is said before anything is printed.
  {
    Trial trial("miss: ", crashes);
    auto fits =
        Comparison::create(*subject.library, subject.model->module(), 0,
                           makeSinks(/*seed=*/1, subject.library->layers()));
    if (!fits)
      return fits.takeError();
  }
  Verifier verifier(subject, table, crashes);
  verifier.printTitle();
  for (InputKind kind : allInputKinds())
    if (Error error = verifier.checkKind(kind))
      return error;
  if (Error error = verifier.checkCalls())
    return error;
  if (Error error = verifier.checkOperations())
    return error;
  if (!trace.empty())
    if (Error error = verifier.checkTrace(trace))
      return error;
  VerifyResult result = verifier.take();
  if (json)
    printJson(result, subject.library->info(), os);
  else
    printVerdict(result, os);
  return result;
}

} // namespace kvc::harness
