"""Prints the list of PyTorch's ops that lib/frontends/pt2/torch_ops.inc holds: all ops of the installed PyTorch's dispatcher
in the namespace aten, a line for each name with its overloads. '!' marks an overload that writes to its first operand, '>'
one that writes to operands named so (out variants), '*' one that PyTorch itself composes of others.

    python3 scripts/exports/torch_ops.py >lib/frontends/pt2/torch_ops.inc
"""
import collections

import torch

overloads = collections.defaultdict(list)
for schema in torch._C._jit_get_all_schemas():
    namespace, _, name = schema.name.partition("::")
    full = schema.name + ("." + schema.overload_name if schema.overload_name else "")
    if namespace != "aten" or name.startswith("_test_"):
        continue
    try:
        if not torch._C._dispatch_has_kernel(full):
            continue  # TorchScript's own, which the dispatcher does not have
        composite = torch._C._dispatch_has_kernel_for_dispatch_key(full, "CompositeImplicitAutograd")
    except RuntimeError:
        continue
    writes = [a.alias_info is not None and a.alias_info.is_write for a in schema.arguments]
    mark = "" if not any(writes) else "!" if writes[0] else ">"
    overloads[name].append((schema.overload_name or "default") + mark + ("*" if composite else ""))
print('// Ops of PyTorch ' + torch.__version__.split("+")[0] + ", as scripts/exports/torch_ops.py prints them.")
print('R"list(')
for name in sorted(overloads):
    print(name, *sorted(overloads[name]))
print(')list"')
