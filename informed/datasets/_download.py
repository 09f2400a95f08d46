"""Downloads that are whole or not there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from informed.extras import import_extra

__all__ = ["cache_folder", "download"]


def cache_folder(cache_dir: str | os.PathLike[str] | None = None) -> Path:
    """Return where downloads are kept: ``cache_dir``, or the user's cache directory."""
    if cache_dir is not None:
        return Path(cache_dir)
    return Path(import_extra("pooch", "the cache of downloads").os_cache("informed"))


def download(
    url: str,
    name: str,
    cache_dir: str | os.PathLike[str] | None,
    *,
    sha256: str | None = None,
    check: Callable[[Path], None] | None = None,
) -> Path:
    """Return the path of ``name`` in the cache, after a download unless it is there already.

    The file enters the cache only when it is complete: when it has the checksum ``sha256`` or,
    where that is not known, when ``check`` does not raise.
    """
    pooch = import_extra("pooch", f"a download of {url}")
    # Without a checksum, only the address that was asked for is trusted: no redirects.
    http = pooch.HTTPDownloader(progressbar=True, allow_redirects=sha256 is not None)

    def fetch(url: str, target: str, _: object) -> None:
        http(url, target, None)
        if check is not None:
            check(Path(target))

    try:
        # pooch writes to a temporary file, which becomes the final one only if nothing fails.
        path = pooch.retrieve(
            url,
            known_hash=None if sha256 is None else f"sha256:{sha256}",
            fname=name,
            path=cache_folder(cache_dir),
            downloader=fetch,
        )
    except OSError as error:
        raise OSError(
            f"could not download {url}: {error}. Download it by other means and pass its path"
        ) from error
    return Path(path)
