"""The skew of a sample as a picture: which share of the events is behind by how much, and where the delay cuts; needs the extra `report`."""

import json
from typing import Any

import altair as alt
import vl_convert

from streamproof.report.skew import EDGES, Shown, percent, short
from streamproof.report.svg import themed

WIDTH, HEIGHT = 900, 260
_LATE, _RULE, _LINE, _MUTED, _BAND = "#a10003", "#a10007", "#a10009", "#a1000a", "#a10008"
_COLOURS = {
    _LATE: "var(--late)",
    _RULE: "var(--stairs)",
    _LINE: "var(--line)",
    _MUTED: "var(--muted)",
    _BAND: "var(--emitted)",
}


def svg(shown: Shown) -> str:
    """The share of events that a delay loses, over the delay; both axes by powers of ten, the wanted share and the recommended delay as rules."""
    skew = shown.skew
    rows = [{"delay": loss.delay_us / 1e6, "share": loss.share} for loss in skew.delays.losses if loss.share > 0]
    if not rows:
        return ""
    digits = len(str(skew.counts.events))
    low = 10.0**-digits
    end = next((loss.delay_us for loss in skew.delays.losses if loss.share == 0), skew.delays.losses[-1].delay_us)
    rows.append({"delay": end / 1e6, "share": low})
    last = 2 * max(end, skew.delays.chosen.delay_us if skew.delays.chosen is not None else 0)
    edges = [edge for edge in EDGES if edge <= last]
    named = {f"{edge / 1e6:g}" if edge < 1_000_000 else str(edge // 1_000_000): short(edge) for edge in edges}
    across = alt.X(
        "delay:Q",
        title="delay",
        scale=alt.Scale(type="log", domain=[EDGES[0] / 1e6, last / 1e6], nice=False),
        axis=alt.Axis(grid=False, values=[edge / 1e6 for edge in edges], labelExpr=f"({json.dumps(named)})[datum.value]"),
    )
    shares = {-digit: f"{100 / 10**digit:g} %" for digit in range(digits)} | {-digits: "0 %"}
    up = alt.Y(
        "share:Q",
        title="share of events that are late",
        scale=alt.Scale(type="log", domain=[low, 1], nice=False),
        axis=alt.Axis(
            gridColor=_LINE,
            values=[10.0**digit for digit in shares],
            labelExpr=f"({json.dumps(shares)})[round(log(datum.value) / LN10)]",
        ),
    )
    data: dict[str, list[dict[str, Any]]] = {"losses": rows, "wanted": [{"share": max(skew.delays.wanted, low)}]}
    layers = [
        alt.Chart(alt.NamedData("losses"))
        .mark_line(color=_BAND, strokeWidth=2, aria=False, point={"color": _BAND, "size": 22, "filled": True})
        .encode(x=across, y=up),
        alt.Chart(alt.NamedData("wanted")).mark_rule(color=_MUTED, strokeDash=[4, 4], aria=False).encode(y=up),
    ]
    if skew.delays.chosen is not None:
        data["chosen"] = [
            {"delay": skew.delays.chosen.delay_us / 1e6, "share": 1, "name": f"delay {short(skew.delays.chosen.delay_us)}"}
        ]
        base = alt.Chart(alt.NamedData("chosen")).encode(x=across)
        name = base.mark_text(align="right", baseline="top", dx=-5, dy=3, fontSize=12, fontWeight="bold", color=_RULE, aria=False)
        layers += [base.mark_rule(color=_RULE, strokeWidth=1.75, aria=False), name.encode(y=up, text="name:N")]
    chart = (
        alt.layer(*layers)
        .properties(width=WIDTH, height=HEIGHT, background="transparent", padding=2)
        .configure(font="sans-serif")
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=_MUTED, titleColor=_MUTED, domainColor=_LINE, tickColor=_LINE, titleFontWeight="normal", titlePadding=8
        )
    )
    said = ", ".join(
        f"{short(loss.delay_us)} loses {percent(loss.share)}" for loss in skew.delays.losses if loss == skew.delays.chosen
    )
    return themed(
        vl_convert.vegalite_to_svg(chart.to_dict() | {"datasets": data}),
        _COLOURS,
        title="Late events by delay",
        description=f"The longer the delay (across), the smaller the share of late events (up). {said}",
    )
