"""A Sphinx extension that writes formulas as MathML: browsers draw it without scripts or fonts from another host."""

from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def mathml(formula: str, block: bool = False) -> str:
    r"""Return a formula in LaTeX as a MathML element.

    Raises
    ------
    sphinx.errors.ExtensionError
        If docutils cannot convert the formula. Write it with simpler commands.

    Examples
    --------
    >>> "<mfrac>" in mathml(r"\frac{a}{b}")
    True
    """
    try:
        return str(tex2mathml(formula, as_block=block))
    except MathError as error:
        raise ExtensionError(f"the formula {formula!r} cannot become MathML: {error}; use simpler commands") from error


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer `mathml`; called by Sphinx."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(mathml(node.astext()))
    raise SkipNode


def _block(writer: Any, node: Any) -> None:
    writer.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>')
    raise SkipNode
