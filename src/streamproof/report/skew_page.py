"""The skew of a sample as a page of its own: one file, no network, the picture inside where the extra `report` is installed."""

from markupsafe import Markup

from streamproof.doctor.skew.skew import written
from streamproof.report import picture, skew, words
from streamproof.report.html import page_of

_MOST_GROUPS = 20


def render(shown: skew.Shown) -> str:
    """The page as one string; without altair and vl-convert the histogram is a table alone."""
    drawn = ""
    if picture.installed():
        from streamproof.report import skew_chart

        drawn = skew_chart.svg(shown)
    return page_of(
        "lag.html",
        shown=shown,
        skew=shown.skew,
        bins=skew.bins(shown.skew),
        compared=skew.compared(shown),
        remarks=list(skew.remarks(shown)),
        groups={name: list(groups[:_MOST_GROUPS]) for name, groups in shown.skew.groups.items() if len(groups) > 1},
        chart=Markup(drawn),  # noqa: S704 - an XML serialiser wrote it
        missing_extra=not picture.installed(),
        short=skew.short,
        percent=skew.percent,
        wanted=skew.wanted,
        written=written,
        words=words,
    )
