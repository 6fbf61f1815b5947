"""Paper 3 on a device: its networks as ONNX files, a stream anonymized in real time, and what each step costs.

What runs on the device (`bundle` to `stream`, `replay`, `timing`, `hardware`, `device`, `bounds`, `links`, `cli`) needs
numpy and onnxruntime only, so nothing is imported here. What prepares it (`export`, `graphs`, `study`) needs torch.
"""
