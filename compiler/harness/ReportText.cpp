//===- ReportText.cpp - reports as tables and as JSON ---------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Report.h"
#include "compiler/harness/Table.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace kvc::harness {

/// The lines of a byte plan, in the order of kvc_bytes.
static std::vector<std::pair<StringRef, int64_t>>
linesOf(const LayerBytes &bytes) {
  return {
      {"codes", bytes.plan.codes},         {"scales", bytes.plan.scales},
      {"residual", bytes.plan.residual},   {"sinks", bytes.plan.sinks},
      {"originals", bytes.plan.originals}, {"rollback", bytes.plan.rollback},
      {"padding", bytes.padding},          {"total", bytes.held()}};
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Layers as `at` writes them: 0..7, 9.
static std::string runsOf(ArrayRef<size_t> layers) {
  std::string text;
  for (size_t i = 0, j = 0; i < layers.size(); i = j) {
    for (j = i + 1; j < layers.size() && layers[j] == layers[j - 1] + 1; ++j)
      ;
    text += text.empty() ? "" : ", ";
    text += std::to_string(layers[i]);
    if (j > i + 1)
      text += ".." + std::to_string(layers[j - 1]);
  }
  return text;
}

static std::string share(int64_t bytes, int64_t of) {
  if (of == 0)
    return "-";
  return formatv("{0:f1}%",
                 100.0 * static_cast<double>(bytes) / static_cast<double>(of));
}

static std::vector<Table::Column> byteColumns() {
  std::vector<Table::Column> columns;
  for (const auto &[name, bytes] : linesOf({}))
    columns.push_back({name});
  columns.push_back({"of f16"});
  columns.push_back({"of f32"});
  return columns;
}

static void addCells(std::vector<std::string> &row, const LayerBytes &bytes,
                     int64_t numbers) {
  for (const auto &[name, line] : linesOf(bytes))
    row.push_back(std::to_string(line));
  // A full cache is counted without padding too.
  row.push_back(share(bytes.used(), 2 * numbers));
  row.push_back(share(bytes.used(), 4 * numbers));
}

static void printOne(const Report &report, raw_ostream &os) {
  os << report.name << " (" << report.spec << ") at " << report.tokens
     << " tokens, bytes\n";
  std::vector<Table::Column> columns = byteColumns();
  columns.insert(columns.begin(), {"layers", true});
  Table table(columns);
  // Like layers stand together, each with what it takes by itself.
  std::vector<bool> done(report.layers.size());
  for (size_t first = 0; first < done.size(); ++first) {
    if (done[first])
      continue;
    std::vector<size_t> like;
    for (size_t i = first; i < done.size(); ++i)
      if (!done[i] && report.numbers[i] == report.numbers[first] &&
          linesOf(report.layers[i]) == linesOf(report.layers[first])) {
        done[i] = true;
        like.push_back(i);
      }
    std::vector<std::string> row = {runsOf(like) +
                                    (like.size() > 1 ? ", each" : "")};
    addCells(row, report.layers[first], report.numbers[first]);
    table.add(std::move(row));
  }
  std::vector<std::string> all = {formatv("all {0}", done.size())};
  addCells(all, report.sum(), report.full(1));
  table.add(std::move(all));
  table.print(os);
  os << "a full cache: " << report.full(2) << " in f16, " << report.full(4)
     << " in f32; shares of it leave padding out\n";
}

/// A line a report, to be held against each other.
static void printSummary(ArrayRef<Report> reports, raw_ostream &os) {
  std::vector<Table::Column> columns = byteColumns();
  columns.insert(columns.begin(), {{"spec", true}, {"tokens"}});
  Table table(columns);
  for (const Report &report : reports) {
    const bool known = llvm::any_of(reports, [&](const Report &other) {
      return other.name == report.name && other.spec != report.spec;
    });
    std::vector<std::string> row = {known ? report.spec : report.name,
                                    std::to_string(report.tokens)};
    addCells(row, report.sum(), report.full(1));
    table.add(std::move(row));
  }
  table.print(os);
}

void printReports(ArrayRef<Report> reports, raw_ostream &os) {
  for (const Report &report : reports) {
    printOne(report, os);
    os << (reports.size() > 1 ? "\n" : "");
  }
  if (reports.size() > 1)
    printSummary(reports, os);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void writeOne(const Report &report, json::OStream &json) {
  json.object([&] {
    json.attribute("spec", report.spec);
    json.attribute("tokens", report.tokens);
    json.attributeArray("layers", [&] {
      for (const LayerBytes &layer : report.layers)
        json.object([&] {
          for (const auto &[name, bytes] : linesOf(layer))
            json.attribute(name, bytes);
        });
    });
    json.attribute("total", report.sum().held());
    json.attribute("f16", report.full(2));
    json.attribute("f32", report.full(4));
  });
}

void printJson(ArrayRef<Report> reports, raw_ostream &os) {
  json::OStream json(os, 2);
  json.array([&] {
    for (const Report &report : reports)
      writeOne(report, json);
  });
  os << "\n";
}

} // namespace kvc::harness
