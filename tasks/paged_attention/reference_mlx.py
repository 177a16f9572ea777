def reference(q, k_cache, v_cache, indptr, indices, last_page_len, *, scale):
    group, page = q.shape[1] // k_cache.shape[2], k_cache.shape[1]
    starts, last, outputs = indptr.tolist(), last_page_len.tolist(), []
    for s, length in enumerate(last):
        pages = indices[starts[s] : starts[s + 1]]
        keys = (starts[s + 1] - starts[s] - 1) * page + length
        k, v = (
            mx.repeat(cache[pages].flatten(0, 1)[:keys].astype(mx.float32), group, axis=1)
            for cache in (k_cache, v_cache)
        )
        scores = scale * mx.sum(k * q[s].astype(mx.float32), axis=-1)
        weights = mx.softmax(scores, axis=0)
        outputs.append(mx.sum(weights[..., None] * v, axis=0))
    return mx.stack(outputs).astype(q.dtype)
