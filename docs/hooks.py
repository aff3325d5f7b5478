# SPDX-License-Identifier: Apache-2.0
"""Hooks of mkdocs: the repository links from docs/ to files outside of it, which belong to the site all the same."""

import os
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

# Files that are pages or are linked to, from the root of the repository; README.md becomes the first page.
PAGES = ["README.md", "README.zh-CN.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
FOLDERS = ["config", "deploy"]
LINK = re.compile(r"(\]\()([^)#\s:]+)(#[^)\s]*)?(\))")


def _root(config):
    return Path(config.config_file_path).parent


def _site_path(path):
    """Where a file of the repository is in the site."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path[len("docs/"):]
    return path


def on_files(files, config):
    root = _root(config)
    added = [root / page for page in PAGES]
    for folder in FOLDERS:
        added += [p for p in sorted((root / folder).rglob("*")) if p.is_file() and "secrets" not in p.parts]
    for path in added:
        name = path.relative_to(root).as_posix()
        files.append(File.generated(config, _site_path(name), content=path.read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown, page, config, files):
    root = _root(config)
    here = page.file.src_uri
    origin = "README.md" if here == "index.md" else here
    if not (root / origin).is_file() or (root / "docs" / here).is_file():
        origin = "docs/" + here

    def rewrite(match):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), match.group(2)))
        path = root / target
        if not path.exists():
            return match.group(0)
        site = _site_path(target)
        if path.is_dir():
            # a folder has no page: its README, or nothing to go to
            if not (path / "README.md").is_file():
                return "](" + posixpath.relpath("deploy/README.md", posixpath.dirname(here) or ".") + ")"
            site = _site_path(target + "/README.md")
        relative = posixpath.relpath(site, posixpath.dirname(here) or ".")
        return match.group(1) + relative + (match.group(3) or "") + match.group(4)

    return LINK.sub(rewrite, markdown)
