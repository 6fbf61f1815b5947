"""Read the files of each data set: tables, network traffic and motion recordings. Modules load when first used."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
