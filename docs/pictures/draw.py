"""Draws the pictures of the documentation: `python docs/pictures/draw.py` writes each to the pages that show it."""

from pathlib import Path

from ad_attribution import ad_attribution
from calendar_day import calendar_day
from card_fraud import card_fraud
from explanations import batch, watermark, window
from failing_report import failing_report
from hopping_windows import hopping_windows
from inventory import inventory
from late_event import late_event
from live_page import draw as draw_live_page
from percentiles import percentiles
from recommendations import recommendations
from sensor_sessions import sensor_sessions

DOCS = Path(__file__).parents[1]
PICTURES = {
    "explanations/pictures/watermark.svg": watermark,
    "explanations/pictures/window.svg": window,
    "explanations/pictures/batch.svg": batch,
    "explanations/pictures/late_event.svg": late_event,
    "guides/pictures/failing_report.svg": failing_report,
    "examples/pictures/ad_attribution.svg": ad_attribution,
    "examples/pictures/active_users.svg": hopping_windows,
    "examples/pictures/card_fraud.svg": card_fraud,
    "examples/pictures/inventory.svg": inventory,
    "examples/pictures/loyalty.svg": calendar_day,
    "examples/pictures/observability.svg": percentiles,
    "examples/pictures/recommendations.svg": recommendations,
    "examples/pictures/sensor_sessions.svg": sensor_sessions,
}


def main() -> None:
    for name, drawn in PICTURES.items():
        place = DOCS / name
        place.parent.mkdir(exist_ok=True, parents=True)
        place.write_text(drawn(), encoding="utf-8")
    draw_live_page(DOCS)


if __name__ == "__main__":
    main()
