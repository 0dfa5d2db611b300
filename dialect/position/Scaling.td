//===- Scaling.td - how rotary frequencies are scaled ------*- tablegen -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef KVC_DIALECT_POSITION_SCALING_TD
#define KVC_DIALECT_POSITION_SCALING_TD

include "dialect/KVDialect.td"
include "dialect/KVInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def KV_ScalingAttr : AttrDef<KV_Dialect, "Scaling"> {
  let mnemonic = "scaling";
  let summary = "how rotary frequencies are scaled";
  let description = [{
    A list of frequencies from a list of frequencies, in fp64, in the order of
    operations of Hugging Face's `modeling_rope_utils.py`. `type` says how:

    - "linear": all are divided by `factor` (position interpolation, Chen et
      al. 2023).
    - "ntk": theta becomes theta * factor^(dims / (dims - 2)).
    - "llama3": wavelengths above `original_context / low` are divided by
      `factor`, those up to `original_context / high` stay, between them the
      two are mixed; where `low` is `high`, none is.
    - "yarn": dimensions that turn less than `beta_slow` times in
      `original_context` are divided by `factor`, those that turn more than
      `beta_fast` times stay, between them lies a ramp, whose borders are whole
      dimensions with `truncate` (Peng et al. 2023, section 3.2). Cosine and
      sine are multiplied by `attention_factor`.

    `numbers` has the parameters of the type, all f64 but `truncate`.

    Example: `#kv.scaling<"llama3", {factor = 8.0, high = 4.0, low = 1.0, original_context = 8192.0}>`
  }];
  let parameters = (ins StringRefParameter<"the method">:$type,
                        "::mlir::DictionaryAttr":$numbers);
  let assemblyFormat = "`<` $type `,` $numbers `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The scaled frequencies of `dims` dimensions.
    ::llvm::SmallVector<double> getFrequencies(double theta, int64_t dims) const;
    /// What cosine and sine are multiplied by.
    double getFactor() const;
    /// Null where the request wants none.
    static ScalingAttr fromRequest(::mlir::MLIRContext *context,
                                   const PositionRequest &request);

  private:
    double number(::llvm::StringRef name) const;
    ::llvm::SmallVector<double> llama3(double theta, int64_t dims) const;
    ::llvm::SmallVector<double> yarn(double theta, int64_t dims) const;

  public:
  }];
}

#endif // KVC_DIALECT_POSITION_SCALING_TD
