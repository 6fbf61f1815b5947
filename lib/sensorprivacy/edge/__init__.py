"""Run paper 3's anonymization on a small device, and measure the time and memory it takes.

Package `board` is everything that runs on the device; it needs only numpy and onnxruntime. The modules beside it
prepare and evaluate: `export` writes networks as ONNX files, `program` packs package `board` into one file, and
`tables` turns measurements into tables. Nothing is imported here, so that a device does not load PyTorch.
"""
