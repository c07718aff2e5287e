"""How Sphinx makes the site of the pages: `make site`.

The repository itself is the source folder, so that a link between two pages, or from a page to a
file, is the same one in the repository and on the site. What is a page is listed below.
"""

import logging
import sys
from pathlib import Path

import sealane

sys.path.insert(0, str(Path(__file__).parent / "_site"))

project = "Sealane"
author = "the Sealane developers"
version = release = sealane.__version__
html_title = "Sealane"

root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "examples/**",
    "crates/program/NUMERICS.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "fuzz/README.md",
    "second/README.md",
    "second/QUESTIONS.md",
    "testdata/README.md",
]
# Folders are named so that Sphinx does not look for pages in what is built.
exclude_patterns = [".*", "target", "dist", "bench", "python", "docs/_site", "**/LICENSE*"]

extensions = ["myst_nb", "sphinx.ext.autodoc", "commands"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# Notebooks lie in the repository without outputs; each build runs them, and any error that a cell
# does not expect (tag `raises-exception`) ends it.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 60
# Jupyter reports every kernel that it starts.
logging.getLogger("traitlets").setLevel(logging.WARNING)

# Docstrings are plain text with names in backticks.
default_role = "literal"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_theme_options: dict[str, object] = {"top_of_page_buttons": []}
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
html_extra_path = ["_site/index.html"]
html_show_copyright = False
html_copy_source = False
html_show_search_summary = False
html_show_sourcelink = False
html_permalinks_icon = "#"
