"""The book: a static site of all results, for readers, students, teachers and reviewers.

`make book` writes Sphinx sources below ``build/book/source`` and builds ``build/book/html`` from them. Pages that
people write are in the folder ``book/`` of the checkout. Pages and data that follow from results are made here:

| module | subject |
|---|---|
| `site` | gather all sources and run Sphinx |
| `home` | the findings on the first page, with numbers from committed tables |
| `paper_pages` | one page for each paper: its outcome, and its tables with our values |
| `run_pages` | one page for each run: its executed notebook, and its committed results |
| `lessons` | the lessons as students see them |
| `executed` | make an executed notebook fit to read |
| `explorer` | the data of the verdict explorer |
| `thresholds` | the data of the threshold explorer |
| `ledger_page` | the ledger, one anchor for each entry |
| `mathml` | formulas as MathML, so that pages need no script from another host |
"""
