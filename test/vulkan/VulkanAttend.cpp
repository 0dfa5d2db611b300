//===- VulkanAttend.cpp - a kernel on a device against the reference ------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// vulkan-attend SPEC KERNEL.spv LANES LENGTH...
//
// One layer goes through one sequence. Keys and values are appended and coded
// on the CPU; at each of the lengths the query of the newest token attends on
// the device, by the kernel that `kvc compile --gpu vulkan` made of the spec,
// and on the CPU, by the same tile program. Both are held against the fp64
// reference within its bounds.
//
//===----------------------------------------------------------------------===//

#include "compiler/harness/Comparison.h"
#include "compiler/harness/Tolerance.h"
#include "test/vulkan/HostStep.h"
#include "test/vulkan/VulkanDevice.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <set>

using namespace kvc;
using namespace kvc::harness;
using namespace kvc::test;
using namespace llvm;

namespace {

ExitOnError exitOnError("vulkan-attend: ");

/// out and lse of one query, as a kernel writes them.
struct Result {
  std::vector<uint8_t> out;
  std::vector<float> lse;
};

/// Errors as fractions of their bounds.
struct Errors {
  double out = 0, lse = 0;
  void join(const Errors &other) {
    out = std::max(out, other.out);
    lse = std::max(lse, other.lse);
  }
  bool good() const { return out <= 1 && lse <= 1; }
};

template <typename T> Bytes bytesOf(ArrayRef<T> values) {
  const auto *data = reinterpret_cast<const uint8_t *>(values.data());
  return Bytes(data, data + values.size() * sizeof(T));
}

double fraction(double got, double want, double bound) {
  if (got == want)
    return 0;
  return std::isfinite(got) ? std::fabs(got - want) / bound : INFINITY;
}

class Trial {
public:
  Trial(Model &model, int64_t lanes, std::vector<uint32_t> words)
      : host(exitOnError(HostStep::create(model, lanes))),
        layer(shapeOf(model)), learned(makeSinks(/*seed=*/1, layer)),
        reference(exitOnError(
            reference::Reference::create(model.module(), 0, learned))),
        shape(reference->shape(0)) {
    mlir::Type io = shape.getIo();
    element = io.isF32() ? Element::F32 : Element::F16;
    const auto rotations = reference->policy(0).getPosition().getRotations();
    partial = !io.isF32();
    // view, q, angles, out (as f32 too), lse, learned sinks; seen, rows,
    // newest, from, to (whether f32 is meant).
    device.load(words, host->name() + "_attend",
                4 + rotations + partial + layer[0].learnedSinks, 5 + partial);
    if (device.subgroup() != lanes) {
      errs() << "vulkan-attend: " << device.name() << " has subgroups of "
             << device.subgroup() << ", the kernel is for " << lanes << "\n";
      std::exit(2);
    }
  }

  bool run(const std::set<int64_t> &lengths);

private:
  Result onDevice(const TokenInput &input);
  Result onHost(const TokenInput &input);
  Errors compare(const Result &got, const reference::Attended &want) const;

  /// Of all layers; the first one is tried.
  static std::vector<LayerShape> shapeOf(Model &model);

  VulkanDevice device;
  std::unique_ptr<HostStep> host;
  std::vector<LayerShape> layer;
  LearnedSinks learned;
  std::unique_ptr<reference::Reference> reference;
  kv::ShapeAttr shape;
  Element element;
  bool partial; ///< whether the kernel can also write f32
};

} // namespace

std::vector<LayerShape> Trial::shapeOf(Model &model) {
  std::vector<LayerShape> shapes;
  for (kv::ModelOp one : model.module().getOps<kv::ModelOp>())
    for (kv::LayerOp layer : one.getLayers()) {
      kv::ShapeAttr shape = layer.getShape();
      shapes.push_back({shape.getHeads(), shape.getKvHeads(),
                        shape.getHeadDim(), shape.getValueDim(),
                        static_cast<int64_t>(shapes.size()),
                        reference::startsWithLogit(layer.getPolicy())});
    }
  return shapes;
}

Result Trial::onDevice(const TokenInput &input) {
  Bytes view = bytesOf(host->words());
  Bytes query = narrow(element, input.q);
  std::vector<Bytes> angles;
  for (const auto &table : host->queryAngles())
    angles.push_back(bytesOf(ArrayRef(table)));
  Bytes out(shape.getHeads() * shape.getValueDim() * elementBytes(element));
  Bytes part(shape.getHeads() * shape.getValueDim() * sizeof(float));
  Bytes lse(shape.getHeads() * sizeof(float));
  std::vector<Bytes *> buffers{&view, &query};
  for (Bytes &table : angles)
    buffers.push_back(&table);
  buffers.push_back(&out);
  if (partial)
    buffers.push_back(&part);
  buffers.push_back(&lse);
  Bytes sinks = bytesOf(ArrayRef(learned[0]));
  if (layer[0].learnedSinks)
    buffers.push_back(&sinks);
  const auto seen = static_cast<int32_t>(host->seen());
  std::vector<int32_t> constants{seen, 1, seen, 0, INT32_MAX};
  if (partial)
    constants.push_back(0);
  device.run(buffers, constants, static_cast<uint32_t>(shape.getKvHeads()));
  const auto *numbers = reinterpret_cast<const float *>(lse.data());
  return {out, std::vector<float>(numbers, numbers + shape.getHeads())};
}

Result Trial::onHost(const TokenInput &input) {
  Bytes query = narrow(element, input.q);
  const auto angles = host->queryAngles();
  Result result;
  result.out.resize(shape.getHeads() * shape.getValueDim() *
                    elementBytes(element));
  result.lse.resize(shape.getHeads());
  for (int64_t head = 0; head < shape.getKvHeads(); ++head) {
    kvc_gen_rows rows = {};
    rows.head = head;
    rows.seen = rows.newest = host->seen();
    rows.rows = 1;
    rows.to = INT32_MAX;
    rows.q = query.data();
    for (auto [i, table] : enumerate(angles))
      rows.angles[i] = table.data();
    rows.out = result.out.data();
    rows.lse = result.lse.data();
    if (layer[0].learnedSinks)
      rows.sinks = learned[0].data();
    host->attend(rows);
  }
  return result;
}

Errors Trial::compare(const Result &got,
                      const reference::Attended &want) const {
  const int64_t dim = shape.getValueDim();
  const auto out = widen(element, got.out.data(), shape.getHeads() * dim);
  Errors worst;
  for (int64_t head = 0; head < shape.getHeads(); ++head) {
    const Tolerance tolerance(want, head, shape.getHeadDim(), element);
    for (int64_t d = head * dim; d < (head + 1) * dim; ++d) {
      const double wanted = tolerance.wanted(want.out[d]);
      worst.out =
          std::max(worst.out, fraction(out[d], wanted, tolerance.out(wanted)));
    }
    worst.lse = std::max(worst.lse, fraction(got.lse[head], want.lse[head],
                                             tolerance.lse(want.lse[head])));
  }
  return worst;
}

bool Trial::run(const std::set<int64_t> &lengths) {
  outs() << device.name() << ", subgroups of " << device.subgroup() << "\n"
         << "errors as fractions of their bounds:\n"
         << " tokens   GPU out   GPU lse   CPU out   CPU lse\n";
  bool good = true;
  Errors worst;
  for (int64_t token = 0; token < *lengths.rbegin(); ++token) {
    TokenInput input = makeInput(InputKind::Gaussian, /*seed=*/1, 0, token,
                                 layer[0], /*stores=*/true, element);
    host->append(narrow(element, input.k).data(),
                 narrow(element, input.v).data());
    const bool compares = lengths.count(token + 1) > 0;
    auto want = reference->decode(0, {input.q, input.k, input.v},
                                  /*attention=*/compares);
    if (!compares)
      continue;
    const Errors gpu = compare(onDevice(input), want);
    const Errors cpu = compare(onHost(input), want);
    outs() << formatv("{0,7}", token + 1);
    for (double error : {gpu.out, gpu.lse, cpu.out, cpu.lse})
      outs() << format("%10.4f", error);
    outs() << "\n";
    good = good && gpu.good() && cpu.good();
    worst.join(gpu);
  }
  outs() << (good ? "right" : "wrong") << ": " << lengths.size() << " lengths, "
         << format("worst out %.4f lse %.4f of the bounds\n", worst.out,
                   worst.lse);
  return good;
}

int main(int argc, char **argv) {
  if (argc < 5) {
    errs() << "usage: vulkan-attend SPEC KERNEL.spv LANES LENGTH...\n";
    return 2;
  }
  auto model = exitOnError(Model::load(argv[1]));
  auto file = exitOnError(errorOrToExpected(MemoryBuffer::getFile(argv[2])));
  std::vector<uint32_t> words(file->getBufferSize() / sizeof(uint32_t));
  std::memcpy(words.data(), file->getBufferStart(),
              words.size() * sizeof(uint32_t));
  std::set<int64_t> lengths;
  for (int i = 4; i < argc; ++i)
    lengths.insert(std::stol(argv[i]));
  return Trial(*model, std::stol(argv[3]), std::move(words)).run(lengths) ? 0
                                                                          : 1;
}
