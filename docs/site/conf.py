"""How Sphinx makes one site of the pages of this repository; scripts/docs runs it. Nothing of the site is fetched."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

extensions = ["myst_parser", "repository"]
project = "xferbench"
copyright = "the authors of xferbench, licensed under Apache-2.0"
language = "en"

# The pages stay where they are, so that links between them work on a code host as well.
include_patterns = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**.md", "examples/**.md"]
exclude_patterns = ["build"]
root_doc = "README"
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4

html_theme = "theme"
html_theme_path = [str(HERE)]
html_title = "xferbench"
html_permalinks_icon = "#"
html_copy_source = False
html_use_index = False
highlight_language = "text"
pygments_style = "default"
