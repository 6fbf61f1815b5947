"""Read tables of any format, whole or in pieces, and recordings of sensors."""
