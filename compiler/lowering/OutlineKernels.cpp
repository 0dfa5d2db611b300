//===- OutlineKernels.cpp - functions of the tile level as kernels --------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/lowering/Lowering.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kvc {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "compiler/lowering/Passes.h.inc"

/// The memory space of a kernel's parameters, by the number that MLIR's
/// conversion to SPIR-V has for push constants.
static constexpr int64_t ParameterSpace = 7;

namespace {

struct OutlineKernels : impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<kv::TargetAttr>("kv.target");
    if (!target || !target.lanesAreInvocations()) {
      module.emitError("kernels need a target whose lanes are invocations");
      return signalPassFailure();
    }
    for (kv::StepOp step : module.getOps<kv::StepOp>())
      if (auto function = module.lookupSymbol<func::FuncOp>(
              (step.getSymName() + "_attend").str()))
        outline(function, target.getLanes());
    for (func::FuncOp function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (llvm::any_of(function.getArgumentTypes(), [](Type type) {
            return isa<kv::ViewType, kv::PartsType>(type);
          }))
        function.erase();
  }

  /// Buffers stay arguments. The first index is the head of keys, a workgroup
  /// each; other scalars are members of one buffer, in their order.
  void outline(func::FuncOp function, int64_t lanes) {
    OpBuilder builder(function);
    Location loc = function.getLoc();
    Type index = builder.getIndexType();
    auto isScalar = [](Type type) { return type.isIntOrIndex(); };
    SmallVector<Type> inputs;
    for (Type type : function.getArgumentTypes())
      if (!isScalar(type))
        inputs.push_back(type);
    const int64_t members =
        llvm::count_if(function.getArgumentTypes(), isScalar) - 1;
    inputs.push_back(MemRefType::get(
        {members}, builder.getI32Type(), MemRefLayoutAttrInterface(),
        builder.getI64IntegerAttr(ParameterSpace)));

    auto module = gpu::GPUModuleOp::create(builder, loc, function.getName());
    builder.setInsertionPointToStart(module.getBody());
    auto kernel = gpu::GPUFuncOp::create(builder, loc, function.getName(),
                                         builder.getFunctionType(inputs, {}));
    kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
    kernel.setKnownBlockSizeAttr(
        builder.getDenseI32ArrayAttr({static_cast<int32_t>(lanes), 1, 1}));
    builder.setInsertionPointToStart(&kernel.getBody().front());

    IRMapping map;
    unsigned buffer = 0;
    int64_t member = -1;
    for (BlockArgument argument : function.getArguments()) {
      if (!isScalar(argument.getType())) {
        map.map(argument, kernel.getArgument(buffer++));
        continue;
      }
      if (member++ < 0) {
        map.map(argument,
                gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x));
        continue;
      }
      Value place = arith::ConstantIndexOp::create(builder, loc, member - 1);
      Value scalar = memref::LoadOp::create(
          builder, loc, kernel.getArguments().back(), ValueRange{place});
      map.map(argument,
              argument.getType() == index
                  ? arith::IndexCastOp::create(builder, loc, index, scalar)
                        .getResult()
                  : arith::CmpIOp::create(
                        builder, loc, arith::CmpIPredicate::ne, scalar,
                        arith::ConstantIntOp::create(builder, loc, 0, 32))
                        .getResult());
    }
    for (Operation &op : function.getBody().front().without_terminator())
      builder.clone(op, map);
    gpu::ReturnOp::create(builder, loc);
    function.erase();
  }
};

} // namespace
} // namespace kvc
