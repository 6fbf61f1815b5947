"""The book: a static site of all results, for readers, students, teachers and reviewers.

`make book` writes Sphinx sources below ``build/book/source`` and builds ``build/book/html`` from them. The pages are
Jinja templates: those with one address in the folder ``book/`` of the checkout, those of many runs in ``templates/``.

| module | subject |
|---|---|
| `site` | gather all sources and run Sphinx |
| `pages` | fill templates with numbers of committed tables, and write pages; the findings of README.md |
| `papers` | the outcome of a paper, its tables with our values, the ledger |
| `notebooks` | one page for each run: its executed notebook, and its committed results; the lessons |
| `explorers` | the data of the verdict explorer and of the threshold explorer |
"""
