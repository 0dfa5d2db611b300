//===- Trial.cpp - a kernel of attention against the reference ------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/vulkan/Trial.h"
#include "compiler/harness/Tolerance.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace kvc::harness;
using namespace llvm;

namespace kvc::test {

static ExitOnError exitOnError("kernel: ");

template <typename T> static Bytes bytesOf(ArrayRef<T> values) {
  const auto *data = reinterpret_cast<const uint8_t *>(values.data());
  return Bytes(data, data + values.size() * sizeof(T));
}

static double fraction(double got, double want, double bound) {
  if (got == want)
    return 0;
  return std::isfinite(got) ? std::fabs(got - want) / bound : INFINITY;
}

Trial::Trial(Model &model, int64_t lanes)
    : host(exitOnError(HostStep::create(model, lanes))), layer(shapeOf(model)),
      learned(makeSinks(/*seed=*/1, layer)),
      reference(exitOnError(
          reference::Reference::create(model.module(), 0, learned))),
      shape(reference->shape(0)),
      element(shape.getIo().isF32() ? Element::F32 : Element::F16),
      partial(element != Element::F32) {}

/// view, q, angles, out (as f32 too), lse, learned sinks.
uint32_t Trial::buffers() const {
  const auto rotations = reference->policy(0).getPosition().getRotations();
  return 4 + rotations + partial + layer[0].learnedSinks;
}

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

bool Trial::onDevice(Runner &runner, const TokenInput &input, Result &result) {
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
  // seen, rows, newest, from, to (whether f32 is meant).
  std::vector<int32_t> constants{seen, 1, seen, 0, INT32_MAX};
  if (partial)
    constants.push_back(0);
  std::string error;
  if (!runner.run(buffers, constants, static_cast<uint32_t>(shape.getKvHeads()),
                  error)) {
    outs() << error << "\n";
    return false;
  }
  const auto *numbers = reinterpret_cast<const float *>(lse.data());
  result = {out, std::vector<float>(numbers, numbers + shape.getHeads())};
  return true;
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

bool Trial::run(Runner &runner, const std::set<int64_t> &lengths) {
  outs() << "errors as fractions of their bounds:\n"
         << " tokens   GPU out   GPU lse   CPU out   CPU lse\n";
  bool good = true;
  size_t same = 0;
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
    Result result;
    if (!onDevice(runner, input, result))
      return false;
    const Errors gpu = compare(result, want);
    const Result host = onHost(input);
    const Errors cpu = compare(host, want);
    same += result.out == host.out && result.lse == host.lse;
    outs() << formatv("{0,7}", token + 1);
    for (double error : {gpu.out, gpu.lse, cpu.out, cpu.lse})
      outs() << format("%10.4f", error);
    outs() << "\n";
    good = good && gpu.good() && cpu.good();
    worst.join(gpu);
  }
  outs() << (good ? "right" : "wrong") << ": " << lengths.size() << " lengths, "
         << format("worst out %.4f lse %.4f of the bounds\n", worst.out,
                   worst.lse)
         << same << " of them to the bit as on the CPU\n";
  return good;
}

} // namespace kvc::test
