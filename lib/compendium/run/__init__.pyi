from .notebook import begin as begin
