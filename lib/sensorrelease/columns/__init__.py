"""The columns of recordings: `decimals` reads numbers, `moments` times, and `identifiers` finds what names a row."""
