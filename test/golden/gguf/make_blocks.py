#!/usr/bin/env python3
"""Writes blocks of all types that PyPI's gguf dequantises, and the numbers that it makes of them.

    pip install gguf==0.19.0 numpy safetensors
    test/golden/gguf/make_blocks.py

Writes, beside this script: blocks.gguf, a tensor of two rows for each type and metadata of all types; blocks.safetensors, the same
tensors in f32; encoded.safetensors, numbers and their bytes in the types that trainc writes.
"""
import pathlib

import gguf
import numpy
import safetensors.numpy
from gguf import GGMLQuantizationType as Type
from gguf import GGUFValueType as Value

HERE = pathlib.Path(__file__).parent
ROWS, COLUMNS = 2, 512
# Offsets of the scales of 16 bits in a block; random bits could be no number.
SCALES = {
    Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0], Type.Q2_K: [80, 82], Type.Q3_K: [108],
    Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208],
}


def blocks_of(kind: Type, random: numpy.random.Generator) -> numpy.ndarray:
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (ROWS * COLUMNS // elements, size), dtype=numpy.uint8)
    for offset in SCALES[kind]:
        scales = random.normal(0, 0.1, len(blocks)).astype(numpy.float16)
        blocks[:, offset : offset + 2] = scales.view(numpy.uint8).reshape(-1, 2)
    return blocks.reshape(ROWS, -1)


def add_metadata(writer: gguf.GGUFWriter) -> None:
    values = {
        Value.UINT8: 200, Value.INT8: -100, Value.UINT16: 60000, Value.INT16: -30000, Value.UINT32: 4000000000, Value.INT32: -2000000000,
        Value.UINT64: 2**63 + 1, Value.INT64: -(2**62), Value.FLOAT32: 1e-5, Value.FLOAT64: 1e-300, Value.BOOL: True, Value.STRING: "naïve\n",
    }
    for kind, value in values.items():
        writer.add_key_value(f"golden.{kind.name.lower()}", value, kind)
    writer.add_array("golden.strings", ["a", "", "\u2581b"])
    writer.add_array("golden.numbers", [1, -2, 3])
    writer.add_array("golden.floats", [0.5, -1.5])


def write_encoded(random: numpy.random.Generator) -> None:
    numbers = random.normal(0, 1, (16, 32)).astype(numpy.float32)
    numbers *= numpy.exp(random.normal(0, 4, (16, 1))).astype(numpy.float32)
    numbers[3] = 0
    numbers[4, :4] = [127, 63.5, -0.5, 2.5]
    numbers[4, 4:] = 0
    encoded = {kind.name: gguf.quants.quantize(numbers, kind) for kind in (Type.F32, Type.F16, Type.BF16, Type.Q8_0)}
    encoded = {name: numpy.ascontiguousarray(values).view(numpy.uint8) for name, values in encoded.items()}
    safetensors.numpy.save_file({"numbers": numbers, **encoded}, HERE / "encoded.safetensors")


def main() -> None:
    random = numpy.random.default_rng(1)
    writer = gguf.GGUFWriter(HERE / "blocks.gguf", "llama")
    add_metadata(writer)
    numbers = {}
    normal = random.normal(0, 1, (ROWS, COLUMNS)).astype(numpy.float32)
    halves = {Type.F32: normal, Type.F16: normal.astype(numpy.float16), Type.BF16: gguf.quants.quantize(normal, Type.BF16)}
    for kind in [*halves, *SCALES]:
        stored = halves[kind] if kind in halves else blocks_of(kind, random)
        writer.add_tensor(kind.name, stored, raw_dtype=kind)
        numbers[kind.name] = gguf.quants.dequantize(stored, kind).astype(numpy.float32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    safetensors.numpy.save_file(numbers, HERE / "blocks.safetensors")
    write_encoded(random)


if __name__ == "__main__":
    main()
