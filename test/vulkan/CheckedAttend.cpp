//===- CheckedAttend.cpp - a kernel's lanes watched -----------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// checked-attend SPEC LANES [--without N] LENGTH...
//
// See Trial.h. The kernel is what `kvc compile --gpu vulkan --emit loops` has,
// run by an interpreter that finds lanes which do not wait for each other;
// without its N-th barrier, or without any where N is `all`.
//
//===----------------------------------------------------------------------===//

#include "compiler/target/GpuTarget.h"
#include "test/vulkan/Interpreter.h"
#include "test/vulkan/Trial.h"
#include "llvm/Support/raw_ostream.h"

using namespace kvc;
using namespace kvc::harness;
using namespace kvc::test;
using namespace llvm;

namespace {
class Checked : public Runner {
public:
  explicit Checked(mlir::gpu::GPUFuncOp kernel)
      : kernel(kernel), interpreter(kernel) {}

  bool run(const std::vector<Bytes *> &buffers,
           const std::vector<int32_t> &constants, uint32_t groups,
           std::string &error) override {
    std::vector<Memory> memory;
    for (auto [i, bytes] : enumerate(buffers))
      memory.push_back(read(*bytes, elementOf(i)));
    Memory parameters;
    for (int32_t constant : constants)
      parameters.elements.push_back({.integer = constant});
    memory.push_back(parameters);
    std::vector<Memory *> arguments;
    for (Memory &one : memory)
      arguments.push_back(&one);
    for (uint32_t group = 0; group < groups; ++group)
      if (!interpreter.run(group, arguments)) {
        error = interpreter.error();
        return false;
      }
    for (auto [i, bytes] : enumerate(buffers))
      write(memory[i], elementOf(i), *bytes);
    barriers = interpreter.barriers();
    return true;
  }

  int64_t barriers = 0; ///< that the last workgroup came to

private:
  mlir::Type elementOf(size_t argument) {
    return cast<mlir::MemRefType>(kernel.getArgument(argument).getType())
        .getElementType();
  }
  static Element formOf(mlir::Type type) {
    return type.isF32() ? Element::F32 : Element::F16;
  }
  static Memory read(const Bytes &bytes, mlir::Type type) {
    Memory memory;
    if (type.isInteger(32)) {
      const auto *words = reinterpret_cast<const int32_t *>(bytes.data());
      for (size_t i = 0; i < bytes.size() / sizeof(int32_t); ++i)
        memory.elements.push_back({.integer = words[i]});
      return memory;
    }
    const Element form = formOf(type);
    for (float value :
         widen(form, bytes.data(), bytes.size() / elementBytes(form)))
      memory.elements.push_back({.real = value});
    return memory;
  }
  static void write(const Memory &memory, mlir::Type type, Bytes &bytes) {
    if (type.isInteger(32))
      return; // no kernel writes words yet
    std::vector<float> values;
    for (Scalar element : memory.elements)
      values.push_back(element.real);
    bytes = narrow(formOf(type), values);
  }

  mlir::gpu::GPUFuncOp kernel;
  Interpreter interpreter;
};
} // namespace

int main(int argc, char **argv) {
  ExitOnError exitOnError("checked-attend: ");
  if (argc < 4) {
    errs() << "usage: checked-attend SPEC LANES [--without N] LENGTH...\n";
    return 2;
  }
  auto model = exitOnError(Model::load(argv[1], /*threads=*/true,
                                       {kvc::GpuTarget::DefaultArithmetic}));
  const int64_t lanes = std::stol(argv[2]);
  int next = 3;
  std::string without;
  if (StringRef(argv[next]) == "--without") {
    without = argv[next + 1];
    next += 2;
  }
  std::set<int64_t> lengths;
  for (int i = next; i < argc; ++i)
    lengths.insert(std::stol(argv[i]));

  Trial trial(*model, lanes);
  mlir::OwningOpRef<mlir::ModuleOp> module(model->module().clone());
  CompileOptions options;
  options.gpu = "vulkan";
  options.subgroup = lanes;
  options.stop = Stage::Loops;
  if (failed(lowerModule(*module, options)))
    return 2;
  mlir::gpu::GPUFuncOp kernel;
  SmallVector<mlir::gpu::BarrierOp> barriers;
  module->walk([&](mlir::gpu::GPUFuncOp op) { kernel = op; });
  kernel.walk([&](mlir::gpu::BarrierOp op) { barriers.push_back(op); });
  for (auto [number, barrier] : enumerate(barriers))
    if (without == "all" || without == std::to_string(number))
      barrier.erase();
  outs() << barriers.size() << " barriers in the kernel\n";
  Checked runner(kernel);
  const bool good = trial.run(runner, lengths);
  outs() << runner.barriers << " barriers met in the last workgroup\n";
  return good ? 0 : 1;
}
