//===- Rope.td - rotary frequencies, shared by positions ---*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_POSITION_ROPE_TD
#define KVC_DIALECT_POSITION_ROPE_TD

include "dialect/position/Scaling.td"

def KV_RopeAttr : AttrDef<KV_Dialect, "Rope"> {
  let mnemonic = "rope";
  let summary = "rotary frequencies over the first `dims` dimensions";
  let description = [{
    f_i = 1 / theta^(2 i / dims) in fp64 (Su et al. 2021, section 3.2.2), then
    `scaling`, where there is one. `pairing = "half"` turns x[i] with
    x[i + dims / 2], `"interleaved"` x[2 i] with x[2 i + 1]. No kernel feels
    frequencies: a kernel's form has `theta = 1` and no scaling.

    Example: `#kv.rope<theta = 1.0e5 : f64, dims = 64, pairing = "half">`
  }];
  let parameters = (ins "::mlir::FloatAttr":$theta, "int64_t":$dims,
                        StringRefParameter<"how dimensions are paired">:$pairing,
                        OptionalParameter<"ScalingAttr">:$scaling);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<double> getFrequencies() const;
    /// What cosine and sine are multiplied by.
    double getFactor() const;
    ::std::pair<int64_t, int64_t> getPairDims(int64_t pair) const;
    RopeAttr getKernelForm() const;
    static RopeAttr fromRequest(::mlir::MLIRContext *context,
                                const PositionRequest &request);
  }];
}

#endif // KVC_DIALECT_POSITION_ROPE_TD
