"""rms_norm by torch operations that write into the given output.

torch.nn.functional.rms_norm allocates its result, and on a CPU takes four times as long as this.
"""
import torch


def setup(case):
    torch.set_num_threads(case.threads)
    cols, eps = case.axes["cols"], case.params["eps"]

    @torch.inference_mode()
    def run(inputs, outputs):
        x, w = torch.from_numpy(inputs["x"]), torch.from_numpy(inputs["w"])
        out = torch.from_numpy(outputs["out"])
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        scale = norm.square_().div_(cols).add_(eps).rsqrt_()
        torch.mul(x, scale, out=out)
        out.mul_(w)

    return run
