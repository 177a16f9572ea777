def reference(u, delta, A, B, C, *, delta_softplus, D=None, z=None, delta_bias=None):
    wide = [x.astype(mx.float32) for x in (u, delta, B, C)]
    x, dt, b, c = wide
    if delta_bias is not None:
        dt = dt + delta_bias[:, None]
    if delta_softplus:
        dt = mx.logaddexp(dt, 0)
    h = mx.zeros((u.shape[0], *A.shape))
    outputs = []
    for t in range(u.shape[2]):
        step = dt[:, :, t, None]
        h = mx.exp(step * A) * h + step * b[:, None, :, t] * x[:, :, t, None]
        outputs.append(mx.sum(h * c[:, None, :, t], axis=-1))
    y = mx.stack(outputs, axis=-1)
    if D is not None:
        y = y + D[:, None] * x
    if z is not None:
        gate = z.astype(mx.float32)
        y = y * gate * mx.sigmoid(gate)
    return y.astype(u.dtype)
