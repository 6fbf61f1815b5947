"""The one door for own data: every table that a command or an estimator gets is read and judged here, once.

1. `cells`: tables of pandas, polars and Arrow become one kind of frame.
2. `decimals`: texts become numbers, as people write them. `moments`: texts and numbers become points in time.
3. `judge`: which columns may be used. It asks `identifiers` (what names a row) and `copies` (what names a user).
4. `coding`: how each column is read as numbers. A fitted reading remembers it, and reads new rows in the same way.
5. `labels`: classes of the task, and users and classes with too few rows.
"""
