from .advice import Advice as Advice
from .comparison import Comparison as Comparison
from .comparison import ComparisonInterrupted as ComparisonInterrupted
from .comparison import compare as compare
from .defences import Defence as Defence
from .defences import Published as Published
from .words import parse as parse
from .words import table_defences as table_defences
