"""Sphinx configuration of the book. It asks no other host for anything: no fonts, scripts, formulas or inventories."""

from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import sensorprivacy

project = "Sensor Privacy Compendium"
author = "the compendium's authors"
release = sensorprivacy.__version__
language = "en"

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_design",
]
exclude_patterns = ["**/.ipynb_checkpoints"]
html_math_renderer = "mathml"

# Notebooks: show what `make reproduce` executed, execute nothing, load no widgets.
nb_execution_mode = "off"
nb_ipywidgets_js = {}
nb_merge_streams = True
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_update_mathjax = False
suppress_warnings = ["myst.header"]  # notebooks and ledger entries may skip a level of headings

numpydoc_show_class_members = False
autodoc_typehints = "none"
add_module_names = False

html_theme = "pydata_sphinx_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it would fetch pages, which a browser refuses to pages opened as files
html_context = {"default_mode": "auto"}
# Notebooks and results need the width; the page "Notebooks" lists them.
WIDE = ["index", "verdicts", "thresholds", "notebooks", "runs/*", "results/*", "lessons/*"]
html_sidebars = {page: [] for page in WIDE}
CONTENTS = ["papers/*", "howto/*", "runs/*", "lessons/*", "ledger", "api", "data", "more", "notebooks", "reference"]
html_theme_options = {
    "logo": {"text": project},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "show_toc_level": 1,
    "navigation_depth": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {page: ["page-toc"] for page in CONTENTS},
}
copyright = "the compendium's authors; text and figures CC BY 4.0, code MIT"


def setup(app: Sphinx) -> dict[str, bool]:
    """Write formulas as MathML: browsers draw it without scripts or fonts from another host."""
    app.add_html_math_renderer("mathml", inline_renderers=(_formula, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _formula(writer: Any, node: Any) -> None:
    writer.body.append(tex2mathml(node.astext()))
    raise SkipNode


def _block(writer: Any, node: Any) -> None:
    formula = tex2mathml(node.astext(), as_block=True)
    writer.body.append(f'<div class="math" tabindex="0" role="group" aria-label="formula">{formula}</div>')
    raise SkipNode
