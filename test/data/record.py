#!/usr/bin/env python3
# ===- record.py - queries, keys and values of a model reading a text ------=== #
#
# Part of kvc, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------=== #
"""Records the query, key and value vectors of a model that reads a text, before
rotation, as `kvc run`, `kvc verify` and `kvc eval` take them.

    record.py --model MODEL --text FILE --tokens 2048 --layers 0,15 -o TRACE

MODEL is a .gguf file, or a folder (or hub name) that transformers can load. It
needs, from PyPI: torch, transformers, safetensors; for .gguf also accelerate
and gguf. kvc itself needs none of these, neither to be built nor to be tested.

TRACE (safetensors) has layers.{i}.q [tokens, heads, dim] and layers.{i}.k and
.v [tokens, kv_heads, dim] in --type, i counting the recorded layers from 0; and
layers.{i}.sinks [heads] in f32 where the model has learned sinks. With --expect
a second file gets layers.{i}.out, f32, of the last tokens: causal attention
over the full cache, computed by torch in fp64 from the recorded (rounded)
vectors with the model's own angles.

What is hooked is what a Llama-like attention module calls its parts: q_proj,
k_proj, v_proj, or behind them q_norm and k_norm where the model normalises
queries and keys before it rotates them. Anything else is refused.
"""
import argparse
import os
import sys

LAYER_LISTS = ("model.layers", "model.language_model.layers", "transformer.h")


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], epilog="See the head of this file."
    )
    parser.add_argument("--model", required=True, help=".gguf, folder or hub name")
    parser.add_argument("--text", required=True, help="a text, read from its begin")
    parser.add_argument("--tokens", type=int, required=True)
    parser.add_argument(
        "--layers", help="which of the model's layers, 0,10,20; default: all"
    )
    parser.add_argument("-o", dest="output", required=True, metavar="TRACE")
    parser.add_argument(
        "--type",
        choices=("f16", "bf16", "f32"),
        default="f16",
        help="of the recorded vectors; default: f16",
    )
    parser.add_argument("--expect", help="where attention in fp64 goes; default: none")
    parser.add_argument(
        "--last", type=int, default=64, help="its last rows; default: 64"
    )
    return parser.parse_args()


def load(path):
    """(tokenizer, model in f32) of a .gguf file or of what transformers loads."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options = {}
    if path.endswith(".gguf"):
        path, options["gguf_file"] = os.path.split(os.path.abspath(path))
    tokenizer = AutoTokenizer.from_pretrained(path, **options)
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, **options)
    return tokenizer, model.eval()


def layers_of(model):
    for name in LAYER_LISTS:
        part = model
        for step in name.split("."):
            part = getattr(part, step, None)
        if part is not None:
            return part
    sys.exit(f"the model has none of {', '.join(LAYER_LISTS)}")


def sources(attention):
    """What gives q, k and v before rotation."""
    found = {}
    for what in "qkv":
        projection = getattr(attention, f"{what}_proj", None)
        if projection is None:
            sys.exit(
                f"{type(attention).__name__} has no {what}_proj: only attention"
                " with separate projections is recorded"
            )
        # What normalises queries and keys comes before the rotation.
        found[what] = getattr(attention, f"{what}_norm", None) or projection
    return found


def record(model, ids, layers, dtype):
    """The trace's tensors, and the text's perplexity."""
    import torch

    tokens, dim = ids.shape[1], head_dim(model.config)
    seen = {}

    def keep(name):
        def hook(_, __, out):
            rows = out.reshape(tokens, -1, dim)
            seen[name] = rows.to(dtype).contiguous()

        return hook

    for i, layer in enumerate(layers):
        attention = layers_of(model)[layer].self_attn
        for what, module in sources(attention).items():
            module.register_forward_hook(keep(f"layers.{i}.{what}"))
        if getattr(attention, "sinks", None) is not None:
            seen[f"layers.{i}.sinks"] = attention.sinks.detach().float().contiguous()
    with torch.no_grad():
        loss = model(ids, labels=ids).loss
    for name, tensor in seen.items():
        if not torch.isfinite(tensor).all():
            sys.exit(f"{name} does not fit into {dtype}: record in bf16 or f32")
    return seen, loss.exp().item()


def head_dim(config):
    return getattr(config, "head_dim", None) or (
        config.hidden_size // config.num_attention_heads
    )


def attend(model, seen, layers, tokens, last):
    """Causal attention over the full cache, in fp64."""
    import torch

    if any(name.endswith(".sinks") for name in seen):
        sys.exit("--expect knows no learned sinks")
    theta = model.config.rope_parameters["rope_theta"]
    if model.config.rope_parameters.get("rope_type", "default") != "default":
        sys.exit("--expect knows no scaling of the rotation")
    half = head_dim(model.config) // 2
    powers = -torch.arange(half, dtype=torch.float64) / half
    angle = torch.arange(tokens, dtype=torch.float64)[:, None] * theta**powers
    c, s = angle.cos()[:, None], angle.sin()[:, None]

    def rotate(x):
        lo, hi = x[..., :half], x[..., half:]
        return torch.cat([lo * c - hi * s, hi * c + lo * s], -1)

    expect = {}
    for i in range(len(layers)):
        q, k, v = (seen[f"layers.{i}.{what}"].double() for what in "qkv")
        out = torch.nn.functional.scaled_dot_product_attention(
            *(x.transpose(0, 1)[None] for x in (rotate(q), rotate(k), v)),
            is_causal=True,
            enable_gqa=True,
        )
        rows = out[0].transpose(0, 1)[-last:]
        expect[f"layers.{i}.out"] = rows.float().contiguous()
    return expect


def main():
    options = arguments()
    import torch
    from safetensors.torch import save_file

    tokenizer, model = load(options.model)
    with open(options.text, encoding="utf-8") as file:
        ids = tokenizer(file.read(), return_tensors="pt").input_ids
    if ids.shape[1] < options.tokens:
        sys.exit(f"the text has {ids.shape[1]} tokens, fewer than {options.tokens}")
    ids = ids[:, : options.tokens]
    layers = list(range(len(layers_of(model))))
    if options.layers:
        layers = [int(number) for number in options.layers.split(",")]
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
    seen, perplexity = record(model, ids, layers, dtype[options.type])
    print(f"{options.tokens} tokens, perplexity {perplexity:.3f}")
    for name, tensor in sorted(seen.items()):
        size = tensor.float().abs().max().item()
        print(f"{name:16} {str(list(tensor.shape)):18} largest magnitude {size:.3f}")
    save_file(seen, options.output)
    if options.expect:
        expect = attend(model, seen, layers, options.tokens, options.last)
        save_file(expect, options.expect)


if __name__ == "__main__":
    main()
