def reference(q, k, v, lengths, *, scale):
    group = q.shape[1] // k.shape[1]
    k, v = (mx.repeat(x.astype(mx.float32), group, axis=1) for x in (k, v))
    scores = scale * (k @ q.astype(mx.float32)[..., None])[..., 0]
    seen = mx.arange(k.shape[2]) < lengths[:, None, None]
    weights = mx.softmax(mx.where(seen, scores, -mx.inf), axis=-1)
    return (weights[:, :, None] @ v)[:, :, 0].astype(q.dtype)
