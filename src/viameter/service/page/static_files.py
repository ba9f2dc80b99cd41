"""Styles and scripts. Their addresses hold a hash of what they say, so that browsers may keep them for good."""

from __future__ import annotations

import mimetypes

from fastapi import APIRouter
from fastapi.responses import Response

from viameter.service.page.rendering import stored_files
from viameter.service.problems import not_found

router = APIRouter(include_in_schema=False)
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@router.get("/static/{digest}/{name}")
def show_static(digest: str, name: str) -> Response:
    """A file, by its hash and name; those of this folder, and no path to anywhere else."""
    known, content = stored_files().get(name, ("", b""))
    if not known or digest != known:
        raise not_found()
    suffix = "." + name.rpartition(".")[2]
    kind = TYPES.get(suffix) or mimetypes.types_map.get(suffix, "application/octet-stream")
    return Response(content, media_type=kind, headers={"cache-control": "public, max-age=31536000, immutable"})
