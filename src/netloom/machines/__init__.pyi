from .named_machines import (
    OF_FILE as OF_FILE,
    LinkClass as LinkClass,
    Machine as Machine,
    MessageCost as MessageCost,
    link_classes as link_classes,
    machine as machine,
    machine_names as machine_names,
    names_machine as names_machine,
)
