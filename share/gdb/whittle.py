# Lets gdb print tensors of Whittle's API with their data type, sizes and first values:
#   gdb -x PREFIX/share/whittle/gdb/whittle.py ./program
#   (gdb) print x
#   $1 = f32[2, 3] {1, 2, 3, 4, 5, 6}
#   (gdb) whittle-tensor x            prints the whole tensor, as the program would print it
# This calls a function in the program, which must be running. For a core file, gdb prints the members.
import gdb


def _locals(frame):
    """The variables in scope in the frame that are objects, not references or arguments."""
    try:
        block = frame.block()
    except RuntimeError:  # no debug information
        return
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            if symbol.is_variable and not symbol.is_argument and symbol.type.code != gdb.TYPE_CODE_REF:
                yield symbol
        block = block.superblock


def _is_made(tensor):
    """Whether a constructor has run: not for a local variable at whose line the function has not arrived."""
    address = int(tensor.address)
    frame = gdb.newest_frame()
    if address < int(frame.read_register("sp")):
        return True  # it is not on the stack
    while frame is not None:
        for symbol in _locals(frame):
            place = symbol.value(frame).address
            if place is not None and int(place) == address:
                return symbol.line < frame.find_sal().line
        frame = frame.older()
    return True


def _ask(function, tensor):
    """What the library says of the tensor, and why it cannot be asked; one of the two is None."""
    if tensor.address is None:
        return None, "it has no address"
    unwinds = gdb.parameter("unwindonsignal")
    try:
        if not _is_made(tensor):
            return None, "not constructed yet"
        gdb.execute("set unwindonsignal on")  # a question that fails does not end the program
        call = "((const char *(*)(const void *)) {})".format(function)
        text = gdb.parse_and_eval("{}((const void *) {})".format(call, int(tensor.address)))
        return text.string(), None
    except gdb.error as error:
        return None, str(error)
    finally:
        gdb.execute("set unwindonsignal " + ("on" if unwinds else "off"))


class TensorPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        text, why_not = _ask("whittle_debug_line", self.value)
        return text if text is not None else "a tensor ({})".format(why_not)


def _printer(value):
    name = value.type.strip_typedefs().unqualified().name or ""
    return TensorPrinter(value) if name.startswith("whittle::") and name.endswith("api::Tensor") else None


class TensorCommand(gdb.Command):
    """Print a tensor of Whittle's API as the program would print it: whittle-tensor EXPRESSION"""

    def __init__(self):
        super().__init__("whittle-tensor", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, expression, from_tty):
        value = gdb.parse_and_eval(expression)
        if value.type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            value = value.referenced_value()
        text, why_not = _ask("whittle_debug_text", value)
        if text is None:
            raise gdb.GdbError("cannot print '{}': {}".format(expression, why_not))
        gdb.write(text + "\n")


gdb.pretty_printers.append(_printer)
TensorCommand()
