//===- ModelConfig.cpp - a model's config in the place of a spec ----------===//
//
// Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fields that mean the same in every class of models become keys; those whose
// meaning depends on the class (which layers have a window, how channels are
// paired) are named, and left to whoever knows the model.
//
//===----------------------------------------------------------------------===//

#include "compiler/spec/ModelConfig.h"

#include "compiler/spec/Text.h"
#include "compiler/spec/Values.h"

#include <cmath>

using namespace kvc::spec;

/// The value of the first of `names` that the map has and that is not null.
static const Node *find(const Node &map, std::string_view names) {
  if (map.kind != Node::Kind::Map)
    return nullptr;
  for (std::string_view name : split(names))
    for (std::size_t i = 0; i + 1 < map.items.size(); i += 2)
      if (map.items[i].text == name &&
          map.items[i + 1].kind != Node::Kind::Null &&
          map.items[i + 1].text != "null")
        return &map.items[i + 1];
  return nullptr;
}

/// The number that a field is, where it is one that is read in full.
static std::optional<double> number(const Node *node) {
  if (!node || node->kind != Node::Kind::Scalar || node->quoted)
    return std::nullopt;
  return parseNumber(node->text);
}

static std::optional<double> number(const Node &map, std::string_view names) {
  return number(find(map, names));
}

namespace {
/// Writes a part of a spec.
class Writer {
public:
  explicit Writer(const Node &config) : config(config) {}
  std::string run();

private:
  void key(std::string_view name, std::string_view fields);
  void headDim();
  void io();
  void rope();
  std::string scaling(const Node &map);
  void decide(std::string text) { rest += "\n  - " + std::move(text); }
  void decisions();

  const Node &config;
  std::string text, rest;
};
} // namespace

void Writer::key(std::string_view name, std::string_view fields) {
  if (auto value = number(config, fields))
    text += "\n  " + std::string(name) + ": " + numberText(*value);
}

void Writer::headDim() {
  if (find(config, "head_dim"))
    return key("head_dim", "head_dim");
  auto size = number(config, "hidden_size n_embd d_model");
  auto heads = number(config, "num_attention_heads n_head n_heads");
  if (size && heads && *heads > 0 && std::fmod(*size, *heads) == 0)
    text += "\n  head_dim: " + numberText(*size / *heads);
}

void Writer::io() {
  const Node *type = find(config, "torch_dtype dtype");
  if (!type)
    return;
  const std::string_view name = type->text;
  if (name == "bfloat16" || name == "float16" || name == "float32")
    text += std::string("\n  io: ") +
            (name == "bfloat16"  ? "bf16"
             : name == "float16" ? "f16"
                                 : "f32") +
            "  # or f32, if the host has q, k and v in it";
}

/// The scaling of types whose fields mean the same everywhere.
std::string Writer::scaling(const Node &map) {
  const Node *type = find(map, "rope_type type");
  if (!type || type->text == "default")
    return "";
  auto factor = number(map, "factor");
  if (type->text == "linear" && factor)
    return ", scaling: {type: linear, factor: " + numberText(*factor) + "}";
  auto low = number(map, "low_freq_factor");
  auto high = number(map, "high_freq_factor");
  auto original = number(map, "original_max_position_embeddings");
  if (type->text == "llama3" && factor && low && high && original)
    return ", scaling: {type: llama3, factor: " + numberText(*factor) +
           ", low: " + numberText(*low) + ", high: " + numberText(*high) +
           ", original_context: " + numberText(*original) + "}";
  decide("scaling, in rope: the config says " + brief(type->text));
  return "";
}

void Writer::rope() {
  const Node *map = find(config, "rope_parameters rope_scaling");
  auto theta = number(config, "rope_theta rotary_emb_base");
  if (!theta && map)
    theta = number(*map, "rope_theta");
  if (!theta) {
    if (map)
      decide("rope: the config has its parameters by kind of layer; a kind is "
             "an entry of layers");
    return;
  }
  text += "\n  rope: {theta: " + numberText(*theta);
  auto part = number(config, "partial_rotary_factor rotary_pct");
  auto dim = number(config, "head_dim");
  if (part && *part != 1 && dim)
    text += ", dims: " + numberText(*part * *dim);
  else if (part && *part != 1)
    decide("dims, in rope, is head_dim times " + numberText(*part));
  if (map)
    text += scaling(*map);
  text += "}";
  decide("pairing, in rope: half is the default; Cohere's, Llama 4's, GLM's, "
         "GPT-J's and DeepSeek's models are interleaved");
}

void Writer::decisions() {
  decide("cache: how keys and values are kept, e.g. keys: f16, values: f16");
  if (auto context =
          number(config, "max_position_embeddings n_positions max_seq_len"))
    decide("context, in cache: the longest sequence; the model takes " +
           numberText(*context));
  const Node *uses = find(config, "use_sliding_window");
  if (auto window = number(config, "sliding_window");
      window && !(uses && uses->text == "false"))
    decide("window: " + numberText(*window) +
           ", in the entries of layers that have it; layer_types or the "
           "model's class says which");
  if (find(config, "attn_logit_softcapping"))
    decide("softcap, in model: the config has attn_logit_softcapping " +
           brief(shown(*find(config, "attn_logit_softcapping"))));
  if (auto scalar = number(config, "query_pre_attn_scalar"))
    decide("scale, in model: query_pre_attn_scalar^-0.5, of " +
           numberText(*scalar));
  if (find(config, "attention_multiplier"))
    decide("scale, in model: attention_multiplier");
  if (find(config, "kv_lora_rank"))
    decide("MLA (kv_lora_rank): latent keys and values are not generated yet; "
           "heads of their own are");
  if (find(config, "layer_types"))
    decide("layers: only those with attention count");
}

std::string Writer::run() {
  text = "\nmodel:";
  key("layers", "num_hidden_layers n_layer n_layers decoder_layers");
  key("heads", "num_attention_heads n_head n_heads");
  key("kv_heads", "num_key_value_heads num_kv_heads");
  headDim();
  io();
  rope();
  decisions();
  return text + "\nTo be decided by hand:" + rest;
}

std::string kvc::spec::explainModelConfig(const Node &root) {
  // A spec may have slips, but it has a kvc or a cache.
  if (root.kind != Node::Kind::Map || find(root, "kvc cache"))
    return {};
  const Node *type = find(root, "model_type");
  if (!type && !find(root, "architectures"))
    return {};
  const Node *inner = find(root, "text_config");
  const Node &config = inner ? *inner : root;
  if (!find(config, "num_attention_heads n_head n_heads"))
    return {};
  std::string text =
      "this is the config of a model of Hugging Face" +
      (type ? " (model_type " + brief(type->text) + ")" : std::string()) +
      ", not a spec; of " +
      (inner ? "its text_config a spec says, behind kvc: 1 and a name:"
             : "it a spec says, behind kvc: 1 and a name:");
  return text + Writer(config).run();
}
