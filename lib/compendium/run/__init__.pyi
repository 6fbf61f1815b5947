from .notebook import begin as begin
from .notebook import check_parameters as check_parameters
