//===- HostStep.cpp - a GPU's pages, filled by the CPU --------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/vulkan/HostStep.h"
#include "compiler/harness/Files.h"
#include "compiler/reference/Rotation.h"
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"

using namespace llvm;
using kvc::harness::userError;
using mlir::ModuleOp;

namespace kvc::test {

Expected<std::unique_ptr<HostStep>> HostStep::create(harness::Model &model,
                                                     int64_t lanes) {
  mlir::OwningOpRef<ModuleOp> module(model.module().clone());
  CompileOptions options;
  options.gpu = "vulkan";
  options.subgroup = lanes;
  options.stop = Stage::Steps;
  if (failed(lowerModule(*module, options)))
    return userError("the model does not lower to steps");
  SmallVector<kv::StepOp> steps(module->getOps<kv::StepOp>());
  if (steps.size() != 1)
    return userError("the layers are not alike");
  std::unique_ptr<HostStep> host(new HostStep());
  host->stepName = steps[0].getSymName().str();
  // A step's own policy knows no frequencies.
  for (kv::ModelOp one : model.module().getOps<kv::ModelOp>())
    host->policy = (*one.getLayers().begin()).getPolicy();
  host->layOut(SmallVector<kv::StreamAttr>(steps[0].getStreamList()));

  const CpuTarget target(CpuTarget::x86V3());
  mlir::MLIRContext *context = module->getContext();
  (*module)->setAttr(
      "kv.target", kv::TargetAttr::get(context, target.name(), lanes,
                                       /*registers=*/16, "vector", /*dot=*/""));
  mlir::PassManager passes(context);
  passes.addPass(createStepsToTiles());
  passes.addNestedPass<mlir::func::FuncOp>(createFoldScales());
  target.buildLoops(passes);
  target.buildLLVM(passes);
  if (failed(passes.run(*module)))
    return userError("the step does not lower for the CPU");
  if (Error error = host->compile(*module))
    return error;
  return host;
}

Error HostStep::compile(ModuleOp module) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto context = std::make_unique<LLVMContext>();
  auto translated = translateModuleToLLVMIR(module, *context, stepName);
  if (!translated)
    return userError("the step does not translate");
  // A library's entry points want the runtime.
  for (Function &function : make_early_inc_range(*translated)) {
    if (function.getName().ends_with("_library"))
      function.eraseFromParent();
    else if (function.getName().starts_with(stepName))
      function.setLinkage(GlobalValue::ExternalLinkage);
  }
  if (Function *table = translated->getFunction("kvc_runtime_table"))
    table->eraseFromParent();
  auto machine = orc::JITTargetMachineBuilder::detectHost();
  if (!machine)
    return machine.takeError();
  auto made = orc::LLJITBuilder()
                  .setJITTargetMachineBuilder(std::move(*machine))
                  .create();
  if (!made)
    return made.takeError();
  jit = std::move(*made);
  translated->setDataLayout(jit->getDataLayout());
  translated->setTargetTriple(jit->getTargetTriple());
  if (Error error = jit->addIRModule(
          orc::ThreadSafeModule(std::move(translated), std::move(context))))
    return error;
  auto find = [&](auto &function, StringRef suffix) -> Error {
    auto symbol = jit->lookup(stepName + suffix.str());
    if (!symbol)
      return symbol.takeError();
    function = symbol->toPtr<std::remove_reference_t<decltype(function)>>();
    return Error::success();
  };
  if (Error error = find(functions.append, "_c_append"))
    return error;
  if (Error error = find(functions.code, "_code"))
    return error;
  if (Error error = find(functions.attend, "_c_attend"))
    return error;
  return find(functions.indices, "_c_indices");
}

/// All pages that the tables have room for, from the start.
void HostStep::layOut(ArrayRef<kv::StreamAttr> streams) {
  constexpr size_t line = 16; // words
  size_t entries = streams.size(), words = 0;
  for (kv::StreamAttr stream : streams)
    entries += stream.getLayout().getPages();
  const size_t first = alignTo(entries, line);
  for (kv::StreamAttr stream : streams)
    words += stream.getLayout().getPages() * kv::PageLayout(stream).pageWords;
  buffer.assign(first + words, 0);

  size_t table = streams.size(), page = first;
  for (auto [number, stream] : enumerate(streams)) {
    buffer[number] = static_cast<uint32_t>(table);
    tables.emplace_back();
    for (int64_t i = 0; i < stream.getLayout().getPages(); ++i) {
      buffer[table++] = static_cast<uint32_t>(page);
      tables.back().push_back(&buffer[page]);
      page += kv::PageLayout(stream).pageWords;
    }
  }
  for (auto [number, entries] : enumerate(tables))
    view.tables[number] = entries.data();
}

std::vector<float> HostStep::anglesOf(int64_t index) const {
  const auto turns = reference::Rotation(policy.getPosition()).at(index);
  std::vector<float> angles;
  for (const auto &turn : turns)
    angles.push_back(turn.c);
  for (const auto &turn : turns)
    angles.push_back(turn.s);
  return angles;
}

void HostStep::append(const void *k, const void *v) {
  const std::vector<float> angles = anglesOf(length);
  functions.append(&view, length, k, v, angles.data());
  ++length;
  functions.code(&view, length);
}

std::vector<std::vector<float>> HostStep::queryAngles() const {
  int64_t indices[KVC_MAX_QUERIES] = {};
  functions.indices(length, indices);
  std::vector<std::vector<float>> all;
  for (unsigned i = 0; i < policy.getPosition().getRotations(); ++i)
    all.push_back(anglesOf(indices[i]));
  return all;
}

} // namespace kvc::test
