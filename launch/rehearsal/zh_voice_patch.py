"""Makes the Chinese voice's acoustic model run without TensorFlow.

The published FastSpeech2 draws a random dropout mask at inference, for pitch and for energy, with the one custom op
(``FlexRandomUniform``) that needs the whole of TensorFlow. A mask of ones and a scale of one is what dropout means at
inference, so the op becomes the builtin ``FILL`` with 1.0 and the scale ``1 / (1 - rate)`` becomes 1.0: nothing else of
the graph changes, and the voice no longer varies by chance.
"""

from __future__ import annotations

from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

FILL = schema.BuiltinOperator.FILL
MASKS = 2  # one for pitch, one for energy
SCALE = "dropout_56/dropout/Const"  # both share one constant
ONE = np.frombuffer(np.float32(1.0).tobytes(), np.uint8)
FILE_ID = b"TFL3"  # magic of a .tflite file


def patched(model: bytes) -> bytes:
    """The same graph with ``FILL`` in place of ``FlexRandomUniform``.

    Raises ``ValueError`` when it is not the expected model.
    """
    # Any: the generated classes declare every field optional and their lists as lists of int
    tree: Any = schema.ModelT.InitFromObj(schema.Model.GetRootAs(bytearray(model), 0))
    graph = tree.subgraphs[0]
    custom = {index for index, code in enumerate(tree.operatorCodes) if code.customCode}
    random = [op for op in graph.operators if op.opcodeIndex in custom]
    scales = [t for t in graph.tensors if t.name.decode().startswith(SCALE) and _is_one_number(tree, t)]
    if len(random) != MASKS or len(scales) != 1:
        raise ValueError(f"{len(random)} random ops and {len(scales)} dropout scales: not the expected model")

    one: Any = schema.TensorT()
    one.shape, one.type, one.name = [], schema.TensorType.FLOAT32, b"one"
    one.buffer = len(tree.buffers)
    number: Any = schema.BufferT()
    number.data = ONE
    tree.buffers.append(number)
    graph.tensors.append(one)
    fill = schema.OperatorCodeT()
    fill.builtinCode = fill.deprecatedBuiltinCode = FILL
    fill.version = 1
    tree.operatorCodes.append(fill)
    for op in random:
        op.opcodeIndex = len(tree.operatorCodes) - 1
        op.inputs = [op.inputs[0], len(graph.tensors) - 1]
        op.builtinOptionsType, op.builtinOptions = schema.BuiltinOptions.FillOptions, schema.FillOptionsT()
        op.customOptions = None
    for tensor in scales:
        tensor.buffer = one.buffer

    builder = flatbuffers.Builder(len(model))
    builder.Finish(tree.Pack(builder), FILE_ID)
    return bytes(builder.Output())


def _is_one_number(tree: Any, tensor: Any) -> bool:
    data = tree.buffers[tensor.buffer].data
    return data is not None and len(data) == ONE.size
