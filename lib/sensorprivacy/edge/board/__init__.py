"""Anonymize windows on a device and measure it, with numpy and onnxruntime only.

`export.write_program` packs this package and `latent.modify` into the file ``edge.pyz``. So modules here import
nothing else of the library.
"""
