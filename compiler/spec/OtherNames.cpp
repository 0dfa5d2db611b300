//===- OtherNames.cpp - what other tools call it ----------------*- C++ -*-===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of model configs and of other engines, each with how a spec says the
// same, or with what kvc does not have and what comes near.
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/Keys.h"

#include "compiler/spec/Text.h"

using namespace kvc::spec;

namespace {
/// Where a name is looked for.
enum Place : unsigned {
  AKey = 1,
  AMethod = 2, ///< of scaling
  AType = 4,
  APlane = 8, ///< a precision of keys and values
};

struct Row {
  unsigned places;
  std::string_view names; ///< as others write them
  KeyId key;              ///< what it is in a spec; None: nothing
  std::string_view text;  ///< goes on from `is written otherwise: `, or from
                          ///< `is not generated yet: `; empty: the key alone
};
} // namespace

static constexpr KeyId none = static_cast<KeyId>(numKeys);

/// What a spec says by another name.
static constexpr Row otherwise[] = {
    {AKey, "num_hidden_layers num_layers n_layer n_layers decoder_layers",
     KeyId::ModelLayers, ""},
    // GGUF's, behind the name of the architecture.
    {AKey, "block_count", KeyId::ModelLayers, ""},
    {AKey, "attention.head_count head_count", KeyId::Heads, ""},
    {AKey, "attention.head_count_kv head_count_kv", KeyId::KvHeads, ""},
    {AKey, "attention.key_length key_length", KeyId::HeadDim, ""},
    {AKey, "attention.value_length value_length", KeyId::ValueDim, ""},
    {AKey, "context_length", KeyId::Context, ""},
    {AKey, "attention.sliding_window", KeyId::Window, ""},
    {AKey, "rope.freq_base rope_freq_base", KeyId::Theta, ""},
    {AKey, "rope.dimension_count", KeyId::Dims, ""},
    {AKey, "rope_freq_scale", KeyId::Scaling,
     "scaling, in rope, is {type: linear, factor: F}, F one through it"},
    {AKey, "cache_type_k type_k", KeyId::Keys, ""},
    {AKey, "cache_type_v type_v", KeyId::Values, ""},
    {AKey, "sliding_window_pattern layer_types", none,
     "an entry of layers gives the layers that have it a window, as {at: 0..4, "
     "window: 1024}"},
    {AKey, "no_rope_layers", none, "an entry of layers gives them rope: none"},
    {AKey, "num_kv_shared_layers", KeyId::Share,
     "an entry of layers gives the layers that read another's cache a share"},
    {AKey, "num_attention_heads num_heads n_head n_heads query_heads q_heads",
     KeyId::Heads, ""},
    {AKey, "num_key_value_heads num_kv_heads n_kv_heads n_head_kv",
     KeyId::KvHeads, ""},
    {AKey, "head_size d_head", KeyId::HeadDim, ""},
    {AKey, "v_head_dim", KeyId::ValueDim, ""},
    {AKey, "dtype torch_dtype", KeyId::Io, ""},
    {AKey, "softmax_scale attention_multiplier attn_scale", KeyId::Scale, ""},
    {AKey, "query_pre_attn_scalar", KeyId::Scale,
     "scale, in model, is query_pre_attn_scalar^-0.5"},
    {AKey, "attn_logit_softcapping logit_softcap soft_cap", KeyId::Softcap, ""},
    {AKey, "attention_sinks num_sinks sink_size sink_tokens start_size",
     KeyId::Sink, ""},
    {AKey, "sliding_window window_size recent_size", KeyId::Window, ""},
    {AKey,
     "max_position_embeddings n_positions max_seq_len max_length max_len "
     "max_model_len n_ctx",
     KeyId::Context, ""},
    {AKey, "kv_cache_dtype cache_dtype kv_dtype", none,
     "keys and values, in cache, have a precision each"},
    {AKey, "nbits n_bits num_bits", KeyId::Bits, ""},
    {AKey, "group_size q_group_size", KeyId::Group, ""},
    {AKey, "residual_length residual_block_size", KeyId::Residual, ""},
    {AKey, "axis axis_key axis_value", KeyId::Per, ""},
    {AKey, "alibi_slopes", KeyId::Slopes, ""},
    {AKey, "rope_theta rope_base rotary_base rotary_emb_base freq_base",
     KeyId::Theta, ""},
    {AKey, "rope_local_base_freq", none,
     "an entry of layers gives the layers that have it a rope of their own, "
     "with this theta"},
    {AKey, "rotary_dim rotary_dims", KeyId::Dims, ""},
    {AKey, "partial_rotary_factor rotary_pct", KeyId::Dims,
     "dims, in rope, is head_dim times it"},
    {AKey, "rope_scaling rope_parameters", KeyId::Scaling, ""},
    {AKey, "rope_type", KeyId::ScalingType, ""},
    {AKey, "low_freq_factor", KeyId::Low, ""},
    {AKey, "high_freq_factor", KeyId::High, ""},
    {AKey, "original_max_position_embeddings original_max_seq_len",
     KeyId::OriginalContext, ""},
    {AKey, "mscale mscale_all_dim", KeyId::AttentionFactor,
     "yarn's attention_factor is g(mscale) / g(mscale_all_dim), g(m) = "
     "0.1 m ln(factor) + 1; DeepSeek's models also multiply scale, in model, "
     "by g(mscale_all_dim)^2"},
    {AKey, "alpha", none,
     "theta times alpha^(dims/(dims - 2)) is type: ntk, factor: alpha"},
    {AMethod, "default none", none,
     "frequencies as they are need no scaling; leave scaling out"},
    {AMethod, "ntk_aware", none, "type: ntk"},
    {AMethod, "position_interpolation pi", none, "type: linear"},
    {AType | APlane, "float32 fp32 float", none, "f32"},
    {AType | APlane, "float16 fp16 half", none, "f16"},
    {AType | APlane, "bfloat16 bfp16", none, "bf16"},
    {APlane, "int8 uint8 i8 u8", none,
     "codes of 8 bits are {bits: 8, per: token}, or per: channel"},
    {APlane, "int4 uint4 i4 u4", none,
     "codes of 4 bits are {bits: 4, per: token}, or per: channel"},
    {APlane, "int2 uint2 i2 u2", none,
     "codes of 2 bits are {bits: 2, per: token}, or per: channel"},
    {APlane, "kivi kivi2 kivi4", none,
     "KIVI's keys are {bits: 2, per: channel, group: 32}, its values {bits: 2, "
     "per: token, group: 32, residual: 128}; or of 4 bits"},
};

static constexpr std::string_view longrope =
    "there is no list of factors, and the one of two that applies depends on "
    "the length; with rope: none q and k are taken as the host has rotated "
    "them";
static constexpr std::string_view proportional =
    "it turns channels i and i + head_dim/2 for the first dims/2 of i; where "
    "the host orders the channels of q and k so that these come first, it is "
    "dims, with theta^(dims/head_dim), without scaling";

/// What kvc does not have.
static constexpr Row missing[] = {
    {APlane,
     "fp8 f8 fp8_e4m3 fp8_e5m2 f8e4m3 f8e5m2 e4m3 e5m2 float8_e4m3fn "
     "float8_e5m2 fp8_ds_mla",
     none,
     "kvc keeps f32, f16, bf16 and codes of 8, 4 or 2 bits; {bits: 8, per: "
     "token} takes about as much"},
    {APlane, "nvfp4 mxfp4 fp4 f4 e2m1 nf4 q4_0 q4_1 q4_k iq4_nl", none,
     "kvc keeps f32, f16, bf16 and codes of 8, 4 or 2 bits; {bits: 4, per: "
     "token, group: 32} takes about as much"},
    {APlane, "q8_0 q8_1 mxfp8 int8_per_token", none,
     "kvc keeps f32, f16, bf16 and codes of 8, 4 or 2 bits; {bits: 8, per: "
     "token, group: 32} takes about as much"},
    {APlane,
     "q5_0 q5_1 q6_k q5_k q3_k q2_k fp6 mxfp6 int3 int5 int6 turboquant", none,
     "kvc keeps f32, f16, bf16 and codes of 8, 4 or 2 bits"},
    {AType | APlane, "f64 float64 fp64 double tf32", none,
     "f32 is the widest type that there is"},
    {AType,
     "fp8 f8 fp8_e4m3 fp8_e5m2 f8e4m3 f8e5m2 e4m3 e5m2 float8_e4m3fn "
     "float8_e5m2 nvfp4 mxfp4 fp4 f4 e2m1 e8m0 int8 i8",
     none, "what is not a code is f32, f16 or bf16"},
    {AKey, "hadamard rotate_codes code_rotation quarot", none,
     "codes are made of the values as they are, without a Hadamard "
     "rotation"},
    {AKey | AMethod, "dynamic dynamic_ntk", none,
     "its frequencies change with the length, and so do keys that are stored; "
     "for a fixed length L it is type: ntk with factor: factor · L / "
     "max_position_embeddings - (factor - 1)"},
    {AKey | AMethod,
     "longrope su short_factor long_factor short_mscale "
     "long_mscale",
     none, longrope},
    {AKey | AMethod, "proportional", none, proportional},
    {AKey | AMethod,
     "mrope m_rope mrope_section mrope_interleaved "
     "position_ids",
     none,
     "a token's position is its index in the sequence, without M-RoPE or "
     "other explicit positions; for text alone M-RoPE is plain rope"},
    {AKey,
     "mla kv_lora_rank q_lora_rank qk_rope_head_dim qk_nope_head_dim "
     "latent",
     none,
     "MLA's latent keys and values have no kernel; every head has its own"},
    {AKey, "tree tree_mask tree_masks tree_attention mask attention_mask", none,
     "a token attends to all stored tokens up to itself, without tree masks"},
    {AKey, "chunked chunked_attention attention_chunk_size chunk chunk_size",
     none, "a layer attends to all tokens or to a window, not to chunks"},
    {AKey, "bidirectional bidirectional_spans causal prefix_lm spans", none,
     "attention is causal, without bidirectional spans"},
};

static unsigned placesOf(KeyId key) {
  switch (key) {
  case KeyId::Keys:
  case KeyId::Values:
    return APlane;
  case KeyId::Io:
  case KeyId::ResidualType:
  case KeyId::SinkType:
  case KeyId::Scales:
    return AType;
  case KeyId::Rope:
  case KeyId::Scaling:
  case KeyId::ScalingType:
    return AMethod;
  default:
    return 0;
  }
}

static OtherName find(std::string_view word, unsigned place) {
  std::string folded(word);
  for (char &c : folded)
    c = c == '-' || c == ' ' ? '_' : c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  for (const Row &row : otherwise)
    if ((row.places & place) && contains(row.names, folded)) {
      const Key *key = row.key == none ? nullptr : &keyOf(row.key);
      std::string text(row.text);
      if (text.empty())
        text = std::string(key->name) + ", in " +
               std::string(sectionName(key->section));
      return {"is written otherwise: " + text, key};
    }
  for (const Row &row : missing)
    if ((row.places & place) && contains(row.names, folded))
      return {"is not generated yet: " + std::string(row.text), nullptr};
  return {};
}

OtherName kvc::spec::otherKey(std::string_view name) {
  return find(name, AKey);
}

OtherName kvc::spec::otherValue(KeyId key, std::string_view word) {
  return find(word, placesOf(key));
}
