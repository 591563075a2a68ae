"""Service observability: how long the requests of each service took, minute by minute, and what failed; in little memory, whatever comes."""

import streamproof as sp

FAILING = sp.accumulator(
    zero={"failed": "0L", "requests": "0L"},
    add={"failed": "failed + IF(status >= 500, 1, 0)", "requests": "requests + 1"},
    merge={"failed": "left.failed + right.failed", "requests": "left.requests + right.requests"},
    result="failed / requests",
)


@sp.job
def observability(requests: sp.Stream) -> sp.Outputs:
    """Percentiles of latency, callers, busiest paths and the share of failures, once for each minute and service."""
    sound = requests.require(latency="latency_ms >= 0").deduplicate("request_id")
    minutes = sound.window(sp.tumbling("1 minute"), by="service", allowed_lateness="30 seconds").aggregate(
        **sp.sketch.percentiles("latency_ms", p50=0.5, p95=0.95, p99=0.99, error=0.005),
        callers=sp.sketch.distinct("caller", error=0.1),
        paths=sp.sketch.top_k("path", 3, error=0.01),
        failing=FAILING,
    )
    return sp.Outputs(minutes=minutes, late=minutes.late, rejected=minutes.rejected)
