//===- kvc-test.cpp - kvc with the points of KVTest.td --------------------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/Commands.h"
#include "compiler/pipeline/Pipeline.h"
#include "test/lib/KVTest.h"

int main(int argc, char **argv) {
  kvc::extendDialects([](mlir::DialectRegistry &registry) {
    registry.insert<kvtest::KVTestDialect>();
  });
  return kvc::driver::runTool(
      llvm::ArrayRef<const char *>(argv, argc).drop_front());
}
