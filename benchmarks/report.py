"""What the benchmarks have measured: ratios with their targets, printed and written."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Line:
    """One measured ratio; ``target`` says what was aimed at, such as "<= 1.3"."""

    topic: str
    what: str
    ratio: float | None
    target: str = ""
    note: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the target was reached; None without a target or a ratio."""
        if not self.target or self.ratio is None:
            return None
        sense, _, limit = self.target.partition(" ")
        return self.ratio <= float(limit) if sense == "<=" else self.ratio >= float(limit)

    def __str__(self) -> str:
        value = "not measured" if self.ratio is None else f"{self.ratio:,.5g}"
        verdict = {None: "", True: "reached", False: "NOT REACHED"}[self.reached]
        text = f"{self.what:<86} {value:>12}  {self.target:<8} {verdict}"
        return text + (f"\n      {self.note}" if self.note else "")


@dataclass
class Report:
    """Everything that is measured, printed as it comes."""

    repeats: int
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)
    lines: list[Line] = field(default_factory=list)
    # Curves over the number of samples: the first size has the value 1 where times are concerned.
    growth: dict[str, list[float]] = field(default_factory=dict)

    def add(self, *args: object, **options: object) -> None:
        """Print a line and keep it."""
        line = Line(*args, **options)  # type: ignore[arg-type]
        self.lines.append(line)
        print(line, flush=True)

    def to_json(self) -> str:
        """Everything as text, ratios to five digits."""
        lines = [asdict(line) | {"reached": line.reached} for line in self.lines]
        for line in lines:
            if line["ratio"] is not None:
                line["ratio"] = float(f"{line['ratio']:.5g}")
        found = {"cores": self.cores, "repeats": self.repeats, "lines": lines}
        return json.dumps(found | {"growth": self.growth}, indent=1, ensure_ascii=False) + "\n"
