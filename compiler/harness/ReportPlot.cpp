//===- ReportPlot.cpp - bytes against tokens, as SVG ----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;

namespace kvc::harness {

namespace {
/// One axis: its ticks are round numbers of a unit.
struct Axis {
  double end = 1;      ///< the largest value
  double step = 1;     ///< between ticks
  double unit = 1;     ///< what a label counts
  std::string measure; ///< the unit's name
};

/// Draws the lines into a frame, the legend below it.
class Plot {
public:
  Plot(ArrayRef<PlotLine> lines, raw_ostream &os);
  void print();

private:
  static constexpr double Width = 860, Left = 84, Right = 24, Top = 24,
                          Height = 400, Legend = 64, LegendRow = 20;
  size_t legendColumns() const;
  double x(double tokens) const;
  double y(double bytes) const;
  void printStyle();
  void printAxes();
  void printLine(size_t number);
  void printLegend();
  std::string strokeOf(size_t number) const;

  ArrayRef<PlotLine> lines;
  raw_ostream &os;
  Axis tokens, bytes;
};
} // namespace

/// 1, 2 or 5 times a power of ten, so that there are at most `most` steps.
static double roundStep(double range, int most) {
  const double least = range / most;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least)
      return factor * power;
  return 10 * power;
}

static Axis byteAxis(double largest) {
  Axis axis;
  const char *names[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t name = 0;
  while (largest / axis.unit >= 1024 && name + 1 < std::size(names)) {
    axis.unit *= 1024;
    ++name;
  }
  axis.measure = names[name];
  axis.step = roundStep(largest / axis.unit, 8) * axis.unit;
  axis.end = std::ceil(largest / axis.step) * axis.step;
  return axis;
}

Plot::Plot(ArrayRef<PlotLine> lines, raw_ostream &os) : lines(lines), os(os) {
  int64_t longest = 1, largest = 1;
  for (const PlotLine &line : lines)
    for (const auto &[length, size] : line.points) {
      longest = std::max(longest, length);
      largest = std::max(largest, size);
    }
  tokens.end = static_cast<double>(longest);
  tokens.step = std::max(1.0, roundStep(tokens.end, 8));
  tokens.measure = "tokens";
  bytes = byteAxis(static_cast<double>(largest));
}

double Plot::x(double tokens) const {
  return Left + tokens / this->tokens.end * (Width - Left - Right);
}
double Plot::y(double bytes) const {
  return Top + Height - bytes / this->bytes.end * Height;
}

/// A number without digits that say nothing.
static std::string brief(double value) {
  std::string text;
  raw_string_ostream(text) << format("%g", value);
  return text;
}

static std::string coordinate(double value) { return formatv("{0:f1}", value); }

/// What may stand in a document whatever a file is called.
static std::string escaped(StringRef text) {
  std::string result;
  raw_string_ostream os(result);
  // XML has no other control characters, not even written as entities.
  std::string plain = text.str();
  for (char &c : plain)
    if (static_cast<unsigned char>(c) < ' ')
      c = '?';
  printHTMLEscaped(plain, os);
  return result;
}

std::string Plot::strokeOf(size_t number) const {
  if (lines[number].reference)
    return R"(stroke="#888" stroke-dasharray="2 4")";
  // Colours that are told apart by most eyes; then the same, dashed.
  static const char *colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                  "#e69f00", "#56b4e9", "#000000"};
  static const char *dashes[] = {"", "9 4", "3 3", "9 3 2 3"};
  const size_t count = std::size(colours);
  std::string stroke = formatv("stroke=\"{0}\"", colours[number % count]);
  const size_t dash = number / count % std::size(dashes);
  if (dash)
    stroke += formatv(" stroke-dasharray=\"{0}\"", dashes[dash]);
  return stroke;
}

void Plot::printStyle() {
  os << "<style>text{font:12px sans-serif;fill:#222}"
        ".grid{stroke:#ddd}.axis{stroke:#222}"
        ".line{fill:none;stroke-width:2}</style>\n";
}

void Plot::printAxes() {
  auto text = [&](double atX, double atY, StringRef anchor,
                  const Twine &words) {
    os << formatv(R"(<text x="{0}" y="{1}" text-anchor="{2}">)",
                  coordinate(atX), coordinate(atY), anchor)
       << words << "</text>\n";
  };
  auto line = [&](StringRef kind, double x1, double y1, double x2, double y2) {
    os << formatv("<line class=\"{0}\" x1=\"{1}\" y1=\"{2}\" x2=\"{3}\" "
                  "y2=\"{4}\"/>\n",
                  kind, coordinate(x1), coordinate(y1), coordinate(x2),
                  coordinate(y2));
  };
  const double bottom = Top + Height, end = Width - Right;
  for (int i = 0; i * bytes.step <= bytes.end * 1.0001; ++i) {
    const double at = y(i * bytes.step);
    line("grid", Left, at, end, at);
    text(Left - 8, at + 4, "end", brief(i * bytes.step / bytes.unit));
  }
  for (int i = 0; i * tokens.step <= tokens.end * 1.0001; ++i) {
    const double at = x(i * tokens.step);
    line("grid", at, Top, at, bottom);
    text(at, bottom + 18, "middle",
         std::to_string(static_cast<int64_t>(i * tokens.step)));
  }
  line("axis", Left, Top, Left, bottom);
  line("axis", Left, bottom, end, bottom);
  text((Left + end) / 2, bottom + 38, "middle", tokens.measure);
  os << formatv("<text transform=\"translate(20 {0}) rotate(-90)\" "
                "text-anchor=\"middle\">{1}, all layers</text>\n",
                coordinate(Top + Height / 2), bytes.measure);
}

void Plot::printLine(size_t number) {
  const PlotLine &line = lines[number];
  os << "<polyline class=\"line\" " << strokeOf(number) << " points=\"";
  ListSeparator space(" ");
  for (const auto &[length, size] : line.points)
    os << space << coordinate(x(static_cast<double>(length))) << ","
       << coordinate(y(static_cast<double>(size)));
  os << "\"><title>" << escaped(line.name) << "</title></polyline>\n";
}

/// As many beside each other as the longest name leaves room for.
size_t Plot::legendColumns() const {
  size_t longest = 1;
  for (const PlotLine &line : lines)
    longest = std::max(longest, line.name.size());
  const double column = 50 + 7.2 * static_cast<double>(longest);
  return std::max<size_t>(1, static_cast<size_t>((Width - Left) / column));
}

void Plot::printLegend() {
  const size_t columns = legendColumns();
  const double column = (Width - Left) / static_cast<double>(columns);
  for (size_t i = 0; i < lines.size(); ++i) {
    const double atX = Left + static_cast<double>(i % columns) * column;
    const double atY =
        Top + Height + Legend + static_cast<double>(i / columns) * LegendRow;
    os << formatv("<line class=\"line\" {0} x1=\"{1}\" y1=\"{3}\" x2=\"{2}\" "
                  "y2=\"{3}\"/>\n",
                  strokeOf(i), coordinate(atX), coordinate(atX + 28),
                  coordinate(atY));
    os << formatv("<text x=\"{0}\" y=\"{1}\">{2}</text>\n",
                  coordinate(atX + 36), coordinate(atY + 4),
                  escaped(lines[i].name));
  }
}

void Plot::print() {
  const size_t rows = divideCeil(lines.size(), legendColumns());
  const double height =
      Top + Height + Legend + static_cast<double>(rows) * LegendRow;
  os << formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
                "height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n",
                brief(Width), brief(height));
  os << "<title>Bytes of KV caches against tokens</title>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  printStyle();
  printAxes();
  // What others are seen against lies below them.
  for (bool reference : {true, false})
    for (size_t i = 0; i < lines.size(); ++i)
      if (lines[i].reference == reference)
        printLine(i);
  printLegend();
  os << "</svg>\n";
}

void printPlot(ArrayRef<PlotLine> lines, raw_ostream &os) {
  Plot(lines, os).print();
}

} // namespace kvc::harness
