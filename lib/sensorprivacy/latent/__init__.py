"""Paper 3's strategy: rewrite windows in the latent space of variational autoencoders, and the attacks on it.

Names below are imported when they are first used: a device takes `latent.modify` from here, and has no torch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
