from .named_machines import (
    OF_FILE as OF_FILE,
    Machine as Machine,
    link_classes as link_classes,
    machine as machine,
    machine_names as machine_names,
    names_machine as names_machine,
)
from .tables import (
    Computer as Computer,
    ErrorShare as ErrorShare,
    LinkClass as LinkClass,
    MessageCost as MessageCost,
    Protocol as Protocol,
)
