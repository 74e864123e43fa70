from .links import LinkClass as LinkClass, link_classes as link_classes
from .named_machines import (
    OF_FILE as OF_FILE,
    Machine as Machine,
    MessageCost as MessageCost,
    machine as machine,
    machine_names as machine_names,
    names_machine as names_machine,
    node_costs as node_costs,
)
