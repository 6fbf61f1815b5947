"""Paper 3's strategy: rewrite windows in the latent space of variational autoencoders, and attacks on the result.

Public names are imported when they are first used, so that a device can use `latent.modify` without PyTorch.
"""

from sensorprivacy import extras

__getattr__, __dir__, __all__ = extras.attach(__name__, __file__)
