from .defences import Defence as Defence
from .defences import Published as Published
from .defences import parse as parse
from .defences import table_defences as table_defences
