"""Read a QTI 2.1 package with pyslet, a reader that we did not write; run as a script.

In a process of its own, because that library is old: it warns and logs in ways of its own. Prints
what it found as JSON.
"""

from __future__ import annotations

import io
import json
import logging
import sys
import zipfile

logging.disable(logging.CRITICAL)

from pyslet.imscpv1p2 import ContentPackage  # noqa: E402
from pyslet.qtiv2.interactions import SimpleChoice  # noqa: E402
from pyslet.qtiv2.xml import QTIDocument  # noqa: E402


def main(path: str) -> None:
    """Print the kind, the right response and the number of options of each item."""
    package = ContentPackage(path)
    resources = package.manifest.root.Resources.Resource
    found = []
    with zipfile.ZipFile(path) as archive:
        for resource in resources:
            document = QTIDocument()
            document.read(io.BytesIO(archive.read(str(resource.href))))
            root = document.root
            entry = {"type": type(root).__name__, "file": str(resource.href)}
            if entry["type"] == "AssessmentItem":
                response = root.declarations["RESPONSE"]
                entry["right"] = str(response.get_correct_value().value)
                entry["options"] = len(list(root.find_children_depth_first(SimpleChoice)))
            found.append(entry)
    package.close()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
