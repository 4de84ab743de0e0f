from .making import batch as batch
from .making import make as make
from .making import names as names
from .making import parameters as parameters
from .making import task as task
from .making import title as title
