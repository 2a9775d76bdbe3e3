// SPDX-License-Identifier: Apache-2.0
// The Python side of a PythonReference: JSON lines on stdin and stdout, arrays in files.
#pragma once

namespace ako {

inline constexpr const char* python_reference_program = R"py(
import importlib.util, inspect, json, os, sys, traceback

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what the file prints goes to stderr

def say(**fields):
    answers.write(json.dumps(fields) + "\n")
    answers.flush()

def shortened(error):
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    own = [line for line in lines if 'File "<string>"' not in line and "frozen importlib" not in line]
    return "".join(own)[-4000:]

class Mistake(Exception):
    def __init__(self, what, advice):
        self.what, self.advice = what, advice

def load(file, name):
    try:
        spec = importlib.util.spec_from_file_location("reference", file)
        module = importlib.util.module_from_spec(spec)
        sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise Mistake(f"the file needs the Python module {error.name}, which is not installed\n{shortened(error)}",
                      f"install {error.name} for this Python, or set AKO_PYTHON to one that has it")
    except BaseException as error:
        raise Mistake("the file cannot be loaded:\n" + shortened(error), "correct the file")
    function = getattr(module, name, None)
    if not callable(function):
        known = [k for k, v in vars(module).items() if inspect.isfunction(v)]
        raise Mistake(f"the file has no function {name}",
                      "it has: " + ", ".join(known) if known else f"define: def {name}(...)")
    return function

def arguments(function, values):
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind == p.VAR_KEYWORD for p in parameters):
        return values
    chosen = {}
    for p in parameters:
        if p.name in values:
            chosen[p.name] = values[p.name]
        elif p.default is p.empty:
            raise Mistake(f"the function asks for '{p.name}', which the problem does not have",
                          "its parameters are names of " + ", ".join(sorted(values)))
    return chosen

def plain(value):
    if hasattr(value, "detach"):  # a torch tensor
        value = value.detach().cpu().double().numpy() if value.is_floating_point() else value.detach().cpu().numpy()
    return numpy.asarray(value)

def results(returned, outputs):
    names = [one["name"] for one in outputs]
    if isinstance(returned, dict):
        for name in returned:
            if name not in names:
                raise Mistake(f"the function returned '{name}', which is no output", "outputs are " + ", ".join(names))
        missing = [name for name in names if name not in returned]
        if missing:
            raise Mistake("the function did not return " + ", ".join(missing), "return one array for each output")
        return [plain(returned[name]) for name in names]
    if isinstance(returned, (tuple, list)) and len(names) > 1:
        if len(returned) != len(names):
            raise Mistake(f"the function returned {len(returned)} values for {len(names)} outputs",
                          "return them in the order " + ", ".join(names))
        return [plain(one) for one in returned]
    if len(names) > 1:
        raise Mistake(f"the function returned one value for {len(names)} outputs",
                      "return a tuple in the order " + ", ".join(names) + ", or a dict by name")
    return [plain(returned)]

def write(array, output):
    if array.dtype == object or numpy.iscomplexobj(array):
        raise Mistake(f"output {output['name']} is an array of {array.dtype}", "return real numbers, integers or truth values")
    if list(array.shape) != output["shape"]:
        raise Mistake(f"output {output['name']} has shape {list(array.shape)}, declared is {output['shape']}",
                      "return an array of the declared shape")
    array.astype("<f8").tofile(output["path"])

def call(function, request):
    values = dict(request["dims"])
    values.update(request["scalars"])
    for one in request["inputs"]:
        array = numpy.fromfile(one["path"], dtype="<f8").reshape(one["shape"])
        values[one["name"]] = array if one["kind"] == "real" else array.astype("int64" if one["kind"] == "integer" else "bool")
    chosen = arguments(function, values)
    try:
        returned = function(**chosen)
    except BaseException as error:
        raise Mistake("the function failed:\n" + shortened(error), "correct the file")
    for array, output in zip(results(returned, request["outputs"]), request["outputs"]):
        write(array, output)

try:
    import numpy
except ImportError:
    say(no_numpy=sys.executable)
    sys.exit()
function = None
for line in sys.stdin:
    request = json.loads(line)
    try:
        if function is None:
            function = load(request["file"], request["function"])
        else:
            call(function, request)
        say(done=True)
    except Mistake as mistake:
        say(what=mistake.what, advice=mistake.advice)
)py";

}  // namespace ako
