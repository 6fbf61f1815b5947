"""How a column of a table is read: as numbers, moments, labels, identifiers."""
