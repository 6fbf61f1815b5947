"""Anonymize windows on a device and measure it, with numpy and onnxruntime only.

`sensorrelease.boards.write_program` packs this package, `latent.modify` and `paths` into the file ``edge.pyz``. So
modules here import nothing else of the library.
"""
