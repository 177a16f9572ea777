"""One RMSNormalization node, its inputs and output bound to the given arrays."""
import numpy as np
import onnxruntime
from onnx import TensorProto, helper


def setup(case):
    shape = [case.axes["rows"], case.axes["cols"]]
    node = helper.make_node(
        "RMSNormalization", ["x", "w"], ["out"], axis=-1, epsilon=case.params["eps"]
    )
    graph = helper.make_graph(
        [node],
        "rms_norm",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, shape),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, shape[1:]),
        ],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = case.threads
    # Its threads stop spinning when a run ends, so that they take nothing from who is timed next.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def run(inputs, outputs):
        binding = session.io_binding()
        binding.bind_cpu_input("x", inputs["x"])
        binding.bind_cpu_input("w", inputs["w"])
        binding.bind_output("out", "cpu", 0, np.float32, shape, outputs["out"].ctypes.data)
        session.run_with_iobinding(binding)

    return run
