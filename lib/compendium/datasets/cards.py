"""Write the cards of the data sets in ``data/README.md``, one for each set of the catalogue."""

from compendium.datasets.catalogue import Dataset, catalogue

_HEADING = "## The sets\n"


def page(current: str) -> str:
    """Return the text of ``data/README.md`` with new cards; the text above the heading of the cards stays."""
    head, heading, _ = current.partition(_HEADING)
    if not heading:
        raise ValueError(f"data/README.md has no line {_HEADING.strip()!r}: the cards follow that line")
    return "\n".join([head + heading, *map(_card, catalogue().values())]).rstrip() + "\n"


def _card(entry: Dataset) -> str:
    downloads = entry.download_mb and entry.origins
    rows = {
        "name, folder": f"`{entry.name}`, `data/raw/{entry.folder}/`",
        "used for": entry.role,
        "counts": entry.counts,
        "download": f"about {entry.download_mb:g} MB" if downloads else "you fetch it yourself",
        "licence": entry.licence,
        "cite": entry.citation,
        "home": f"<{entry.homepage}>" if entry.homepage else "none",
        "without network": entry.how,
    }
    table = [f"| {key} | {value} |" for key, value in rows.items()]
    return "\n".join([f"### {entry.title}", "", "| | |", "|---|---|", *table, ""])
