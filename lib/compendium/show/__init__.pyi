from .charts import grouped_bars as grouped_bars
from .charts import intervals_by_set as intervals_by_set
from .charts import lines_with_markers as lines_with_markers
from .charts import verdict_bars as verdict_bars
from .diagrams import Arrow as Arrow
from .diagrams import Box as Box
from .diagrams import flow_diagram as flow_diagram
from .diagrams import game_diagram as game_diagram
