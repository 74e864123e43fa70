# mypy: disable-error-code="no-untyped-call,misc,override,untyped-decorator"
"""Tuples that compiled functions hand on by their address, and whose constants they know.

A tuple of forty arrays is some three hundred arguments of every function that it is given to, and
Numba's work goes with them. ``held`` puts it in one place on the stack. Attributes are read from
there. Once all functions are inlined, nothing of that is left in machine code.

It may be said what some of its fields are: ``held(values, "words=1 staged=0")``. ``inlined``
functions then have these numbers in their code, are compiled without the branches that these never
take, and without what only such branches call. What is known is a string, and one that the caller
closes over: so kernels are kept apart by their values, and found again by other processes.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from numba.core import cgutils, ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import get_definition, guard
from numba.core.typing.templates import AttributeTemplate
from numba.core.untyped_passes import IRProcessing
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model


class Held(types.Type):
    """The type of the address of a named tuple, of which some fields are known."""

    def __init__(self, values: Any, known: str) -> None:
        self.values = values
        self.instance_class = values.instance_class
        told = dict(each.split("=") for each in known.split())
        self.known = {name: int(told[name]) for name in values.fields if name in told}
        short = sha256(f"{values} {self.known}".encode()).hexdigest()[:12]  # in symbols' names
        super().__init__(f"held_{values.instance_class.__name__}_{short}")


@register_model(Held)
class _Address(models.PrimitiveModel):
    def __init__(self, manager: Any, held_type: Held) -> None:
        pointed = manager.lookup(held_type.values).get_value_type()
        super().__init__(manager, held_type, pointed.as_pointer())


@infer_getattr
class _Fields(AttributeTemplate):
    key = Held

    def generic_resolve(self, held_type: Held, name: str) -> Any:
        """Return the type of a field."""
        fields = held_type.values.fields
        return held_type.values[fields.index(name)] if name in fields else None


@lower_getattr_generic(Held)
def _field(_: Any, builder: Any, held_type: Held, value: Any, name: str) -> Any:
    place = held_type.values.fields.index(name)
    return builder.load(cgutils.gep_inbounds(builder, value, 0, place))


def _held(_: Any, values: Any, known: Any) -> Any:
    """Return the address of a copy of a named tuple, which lives as long as the caller runs."""

    def put(_: Any, builder: Any, __: Any, given: Any) -> Any:
        return cgutils.alloca_once_value(builder, given[0])

    return Held(values, known.literal_value)(values, known), put


held: Any = intrinsic(prefer_literal=True)(_held)


@register_pass(mutates_CFG=True, analysis_only=False)
class _FillIn(FunctionPass):
    """Put in what is known of arguments. Numba then drops the branches that are never taken."""

    _name = "fill_in_known"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Fill in. Return whether anything was."""
        function = state.func_ir
        changed = False
        for block in function.blocks.values():
            for line in block.find_insts(ir.Assign):
                asked = line.value
                if not isinstance(asked, ir.Expr) or asked.op != "getattr":
                    continue
                of = guard(get_definition, function, asked.value)
                known = getattr(state.args[of.index], "known", {}) if isinstance(of, ir.Arg) else {}
                if asked.attr in known:
                    line.value = ir.Const(known[asked.attr], line.loc)
                    function._definitions[line.target.name] = [line.value]
                    changed = True
        return changed


class Compiler(CompilerBase):
    """Numba's, for functions whose arguments may be held."""

    def define_pipelines(self) -> Any:
        """Return the one pipeline: Numba's, with what is known filled in first."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_FillIn, IRProcessing)
        passes.finalize()
        return [passes]
