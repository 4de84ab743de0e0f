# The public names, each once. A star is all that a folder of parts exports.
from . import combiners as combiners
from . import distributed as distributed
from . import errors as errors
from . import evaluation as evaluation
from . import explaining as explaining
from . import features as features
from . import kernels as kernels
from . import labels as labels
from . import learners as learners
from . import papers as papers
from . import recipes as recipes
from . import reports as reports
from . import results as results
from . import river as river
from . import selection as selection
from . import streams as streams
from . import testing as testing
from .combiners import *
from .estimators.by_name import NamedColumns as NamedColumns
from .estimators.classifier import OnlineMKClassifier as OnlineMKClassifier
from .estimators.late import LateLabels as LateLabels
from .estimators.regressor import OnlineMKRegressor as OnlineMKRegressor
from .estimators.table_model import TableModel as TableModel
from .estimators.transformer import KernelFeatures as KernelFeatures
from .estimators.voted import VotedKernelClassifier as VotedKernelClassifier
from .estimators.voted import VotedKernelClassifierCV as VotedKernelClassifierCV
from .evaluation.comparing import compare as compare
from .evaluation.predicting import fit_table as fit_table
from .evaluation.run import prequential as prequential
from .explaining.contributions import explain as explain
from .explaining.importance import importance as importance
from .features import *
from .kernels import *
from .labels import *
from .learners import *
from .persistence.saving import load as load
from .persistence.saving import save as save
from .selection import *
from .streams import open_stream as open_stream
from .streams.tables.encoder import TableEncoder as TableEncoder

__version__: str
