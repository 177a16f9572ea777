def reference(q, k, v, *, causal, scale):
    wide = [mx.repeat(x.astype(mx.float32), q.shape[1] // x.shape[1], axis=1) for x in (k, v)]
    scores = scale * (q.astype(mx.float32) @ wide[0].swapaxes(-1, -2))
    if causal:
        queries, keys = scores.shape[-2:]
        seen = mx.arange(keys) <= mx.arange(queries)[:, None] + (keys - queries)
        scores = mx.where(seen, scores, -mx.inf)
    return (mx.softmax(scores, axis=-1) @ wide[1]).astype(q.dtype)
