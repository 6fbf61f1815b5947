"""Run paper 3's anonymization on a small device, and measure the time and memory it takes.

Package `board` is everything that runs on the device; it needs only numpy and onnxruntime. The modules beside it
prepare and evaluate: `export` writes networks as ONNX files, `comparison` compares a device with PyTorch. Nothing is
imported here, so that a device does not load PyTorch.
"""
