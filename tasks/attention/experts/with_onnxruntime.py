"""onnxruntime's MultiHeadAttention, its inputs and output bound to the given arrays.

Each key head is a batch entry of one head, so that the arrays need no transposing, and the query
heads that share it are rows of it. Causal goes through a bias, the faster of its two ways.
"""
import numpy as np
import onnxruntime
from onnx import TensorProto, helper


def setup(case):
    axes = case.axes
    B, H, Hkv, Lq, Lk, D = (axes[name] for name in ("B", "H", "Hkv", "Lq", "Lk", "D"))
    group = H // Hkv
    causal = case.params["causal"] and Lq > 1
    q_shape, kv_shape, bias_shape = [B * Hkv, group * Lq, D], [B * Hkv, Lk, D], [1, 1, group * Lq, Lk]
    hidden = np.triu(np.ones((Lq, Lk), dtype=bool), Lk - Lq + 1)
    bias = np.tile(np.where(hidden, np.float32(-1e30), np.float32(0)), (group, 1))

    inputs = {"q": q_shape, "k": kv_shape, "v": kv_shape} | ({"bias": bias_shape} if causal else {})
    node = helper.make_node(
        "MultiHeadAttention",
        ["q", "k", "v"] + (["", "", "bias"] if causal else []),
        ["out"],
        domain="com.microsoft",
        num_heads=1,
        scale=case.params["scale"],
    )
    graph = helper.make_graph(
        [node],
        "attention",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, q_shape)],
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = case.threads
    # Its threads stop spinning when a run ends, so that they take nothing from who is timed next.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def run(inputs, outputs):
        binding = session.io_binding()
        binding.bind_cpu_input("q", inputs["q"].reshape(q_shape))
        binding.bind_cpu_input("k", inputs["k"].reshape(kv_shape))
        binding.bind_cpu_input("v", inputs["v"].reshape(kv_shape))
        if causal:
            binding.bind_cpu_input("bias", bias.reshape(bias_shape))
        binding.bind_output("out", "cpu", 0, np.float32, q_shape, outputs["out"].ctypes.data)
        session.run_with_iobinding(binding)

    return run
