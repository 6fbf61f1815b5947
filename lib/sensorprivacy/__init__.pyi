from .data import Problem as Problem
from .example import example_problem as example_problem
from .game.linkage import k_anonymity as k_anonymity
from .game.linkage import linkage as linkage
from .game.play import play as play
from .latent.anonymizer import LatentAnonymizer as LatentAnonymizer
from .minimize.minimizer import FeatureMinimizer as FeatureMinimizer
from .minimize.provider import feature_minimize as feature_minimize
from .threeway.divider import ThreeWayDivider as ThreeWayDivider

__version__: str
