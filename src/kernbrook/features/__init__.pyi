from .grown_partitions import GrownPartitions as GrownPartitions
from .hashed_inputs import HashedInputs as HashedInputs
from .monomials import Monomials as Monomials
from .nystroem import Nystroem as Nystroem
from .random_binning import RandomBinning as RandomBinning
from .random_features import RandomFeatures as RandomFeatures
