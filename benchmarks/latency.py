"""How long an explorer of the built book takes from a move to the new picture on the screen.

Run ``make book`` first; then ``python benchmarks/latency.py`` prints the median over all moves of
all sliders, in a headless Chromium on this machine.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from browser import ARGUMENTS, MISSING, find_browser

SITE = Path(__file__).resolve().parent.parent / "_build" / "html" / "book"

# From the input event to the first frame that the browser paints after it has decoded the picture.
MOVE = """async slider => {
    const root = slider.closest('.informed-explorer');
    const times = [];
    for (let at = 0; at <= Number(slider.max); at += 1) {
        slider.value = at;
        const start = performance.now();
        slider.dispatchEvent(new Event('input', {bubbles: true}));
        await root.querySelector('.moving img').decode();
        await new Promise(requestAnimationFrame);
        times.push(performance.now() - start);
    }
    return times;
}"""


def main() -> int:
    """Move every slider through all of its values, and print the median time of a move."""
    pages = [
        page for page in sorted(SITE.glob("*.html")) if "informed-explorer" in page.read_text()
    ]
    if not pages:
        print("explorers: not measured, as there is no built book; run make book first")
        return 0
    browser_path = find_browser()
    if browser_path is None:
        print(f"explorers: not measured; {MISSING}")
        return 0
    times: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS)
        page = browser.new_page()
        for path in pages:
            page.goto(path.as_uri(), wait_until="networkidle")
            for slider in page.locator(".informed-explorer input[type=range]").all():
                times += slider.evaluate(MOVE)
        browser.close()
    print(
        f"explorers: from a move to the new picture, median {statistics.median(times):.0f} ms, "
        f"95 % within {statistics.quantiles(times, n=20)[-1]:.0f} ms "
        f"({len(times)} moves on {len(pages)} pages)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
