"""The compendium around the library: data sets, runs of notebooks, verdicts on printed values, figures and the book."""
