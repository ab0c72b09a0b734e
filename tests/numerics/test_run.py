"""compare_numerics from end to end: bad input is answered, devices and dtypes are chosen, doubts are stated."""

import ast
import gc
import json

import pytest
import torch
from torch import nn

from course_utils import compare_numerics
from course_utils.devices import probe as devices
from course_utils.emulation import emulated_mps
from course_utils.numerics import FaultyDevice, draw
from course_utils.numerics.questions import session


@pytest.fixture
def no_mps(monkeypatch):
    """Describe a machine without MPS and CUDA."""
    monkeypatch.setattr(devices, "probe_mps", lambda: devices.Probe("mps", "absent", "no Metal here"))
    monkeypatch.setattr(devices, "probe_cuda", lambda: devices.Probe("cuda", "absent", "no GPU"))


def test_without_mps_the_cpu_is_compared_with_itself(no_mps):
    """Where no device is given and none is there, the report says that it says nothing about MPS."""
    report = compare_numerics(torch.exp, (draw(3),))

    assert report.clean
    assert report.device == "cpu"
    assert any("says nothing about MPS" in warning for warning in report.warnings)


def test_absent_device_is_refused_with_its_reason(no_mps):
    """Asking for MPS where there is none is one sentence."""
    with pytest.raises(ValueError, match="'mps' cannot be used here \\(absent\\): no Metal here"):
        compare_numerics(torch.exp, (draw(3),), device="mps")


def test_order_of_the_questions():
    """The inputs as given come first, then values, strides, sizes and the step."""
    torch.manual_seed(0)
    names = [case.name for case in compare_numerics(nn.Linear(3, 2), (draw(4, 3),), device="cpu").cases]
    wanted = ["as given", "gradient", "other values", "NaN", "storage offset inputs", "gradient, transposed inputs"]
    wanted += ["transposed parameters", "expanded dimension 0 inputs", "leading size 1", "optimizer step"]

    assert [name for name in names if name in wanted] == wanted


def test_nan_in_the_reference():
    """NaN and infinity that the reference has too are no difference, and a doubt."""
    x = torch.tensor([1.0, float("nan"), float("inf"), -1.0])
    report = compare_numerics(torch.sqrt, (x,), device="cpu")

    assert report.clean
    assert any("reference itself has" in warning for warning in report.warnings)


def test_callable_that_changes_its_input():
    """A callable that writes into its input gets copies; what it wrote is compared, and the caller's tensor stays."""
    x = draw(3, 4)
    before = x.clone()

    def write(t):
        t[:, 1] = 7
        return t.sum()

    assert compare_numerics(write, (x,), device="cpu").clean
    assert torch.equal(x, before)
    report = compare_numerics(write, (x,), device=FaultyDevice("forgets an in-place write"))
    assert "forgets an in-place write" in report.kinds
    assert any(finding.where == "input 0 after the call" for finding in report.findings)


def test_module_is_not_changed():
    """Buffers that a module writes, such as running means, are compared on copies."""
    torch.manual_seed(0)
    norm = nn.BatchNorm1d(3)
    report = compare_numerics(norm, (draw(8, 3),), device="cpu")

    assert report.clean
    assert "buffer running_mean" in {leaf.path for leaf in report.cases[0].expected}
    assert torch.equal(norm.running_mean, torch.zeros(3))
    assert all(parameter.grad is None for parameter in norm.parameters())


def bytes_held():
    """Count the memory of all tensors that something refers to, which garbage in cycles does not."""
    gc.collect()
    tensors = [found for found in gc.get_objects() if type(found) in (torch.Tensor, nn.Parameter)]
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}.values())


def test_what_is_held_of_a_large_model(monkeypatch):
    """Answers and references of earlier questions are gone when the next ones are asked."""
    monkeypatch.setattr(session, "_KEEP_ELEMENTS", 0)
    model, held = nn.Linear(400, 400), {}
    before, size = bytes_held(), 4 * 400**2

    def look(question):
        if question.startswith(("expanded", "leading", "optimizer")):  # late ones
            held[question] = (bytes_held() - before) / size

    compare_numerics(model, (draw(2, 400),), device="cpu", progress=look)

    # the model twice, once of them in float64: 3; a reference with its gradients: 2; what the CPU and the device gave
    assert len(held) > 4
    assert max(held.values()) < 7, held


def test_random_operators_without_a_seed():
    """A callable that draws cannot be compared; it is told apart from a device that does not repeat itself."""
    report = compare_numerics(nn.Dropout(0.5), (draw(50),), device="cpu")

    assert report.kinds == ("not comparable",)
    assert "call .eval()" in report.findings[0].sentence
    assert compare_numerics(nn.Dropout(0.5).eval(), (draw(50),), device="cpu").clean


@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0)])
def test_empty_tensor(shape):
    """An empty tensor has a shape and a dtype to compare, and a doubt."""
    report = compare_numerics(torch.exp, (torch.empty(*shape),), device="cpu")

    assert report.clean
    assert any("empty" in warning for warning in report.warnings)


def test_refused_dtype_is_a_finding():
    """float64 on a device without it is a finding with the TypeError's text (pytorch #122602)."""
    report = compare_numerics(torch.exp, (draw(3).double(),), device=FaultyDevice("no float64"))

    assert report.kinds == ("refused",)
    assert "TypeError: Cannot convert a MPS Tensor to float64" in report.findings[0].sentence


def test_refused_dtype_on_the_emulated_mps():
    """The emulated MPS refuses float64 as a Mac does, also in a buffer of the model (pytorch #122602)."""
    if devices.probe_mps().usable:
        pytest.skip("emulation refuses to start where MPS works")
    with emulated_mps():
        report = compare_numerics(nn.Linear(3, 2).double(), (draw(4, 3).double(),), device="mps")

    assert report.kinds == ("refused",)
    assert "float64" in report.findings[0].sentence


def test_emulated_mps_says_what_its_numbers_are():
    """On the emulated device the numbers are the CPU's, and the report says so."""
    if devices.probe_mps().usable:
        pytest.skip("emulation refuses to start where MPS works")
    with emulated_mps():
        report = compare_numerics(nn.Linear(3, 2), (draw(4, 3),), device="mps", largest_elements=64)

    assert report.clean
    assert any("emulated" in warning for warning in report.warnings)


def test_dtype_that_the_cpu_refuses_too():
    """A kernel missing on the CPU as well is "refused", and the sentence says so."""
    report = compare_numerics(nn.AvgPool3d(2), (draw(1, 2, 4, 4, 4),), dtypes=[torch.bfloat16], device="cpu")

    assert report.kinds == ("refused",)
    assert "so does the CPU" in report.findings[0].sentence


def test_values_that_the_cpu_refuses_too_are_not_asked():
    """Of 64 times the numbers a scale overflows in float32 and not in float64: the CPU raises, and so may a device."""

    def log_probability(mean, scale):
        # asked for: in a process that used torch.compile, distributions check nothing by themselves (torch 2.9 to 2.15)
        return torch.distributions.Normal(mean, scale.exp(), validate_args=True).log_prob(mean)

    report = compare_numerics(log_probability, (draw(6, 8), draw(6, 8, seed=1)), device="cpu", largest_elements=0)

    assert report.clean, report.findings
    assert "large numbers" in {left.question for left in report.not_asked}


class RaisesForLarge:
    """The CPU that refuses numbers above 100, which the CPU takes."""

    name = "CPU that refuses large numbers"

    def run(self, fn, inputs):
        """Call, or raise."""
        if any(isinstance(x, torch.Tensor) and bool((x.abs() > 100).any()) for x in inputs):
            raise ValueError("numbers above 100")
        return fn(*inputs)


def test_values_that_only_the_device_refuses_are_a_finding():
    """A device that raises where the CPU answers is named."""
    report = compare_numerics(torch.sin, (draw(6, 8) * 4,), device=RaisesForLarge(), largest_elements=0)

    assert report.kinds == ("refused",)


def test_reference_falls_back_to_float32():
    """A callable that holds float32 tensors of its own has a float32 reference, and the report states it."""
    weight = draw(3, 3)
    report = compare_numerics(lambda x: x @ weight, (draw(2, 3),), device="cpu")

    assert report.clean
    assert report.references == {"float32": "float32"}


def test_callable_that_does_not_run():
    """A callable that fails on the CPU has no reference; its own words come back in one sentence."""
    with pytest.raises(ValueError, match=r"does not run on the CPU .*nothing to compare with"):
        compare_numerics(torch.mm, (draw(2, 3), draw(2, 3)), device="cpu")


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ((42, (draw(2),)), {}, TypeError, "fn is a int"),
        ((torch.exp, draw(2)), {}, TypeError, r"inputs=\(x,\)"),
        ((torch.exp, 3), {}, TypeError, "inputs is a int"),
        ((torch.exp, (draw(2),)), {"dtypes": [torch.int32]}, ValueError, "dtypes holds torch.int32"),
        ((torch.exp, (draw(2),)), {"dtypes": []}, ValueError, "dtypes is empty"),
        ((torch.exp, (draw(2),)), {"device": "bogus"}, ValueError, "'bogus'"),
    ],
)
def test_senseless_arguments(arguments, options, error, words):
    """What makes no sense is refused before anything runs, with the value."""
    with pytest.raises(error, match=words):
        compare_numerics(*arguments, **({"device": "cpu"} | options))


def test_several_dtypes_in_one_report():
    """Each dtype has its own rule and its own cases."""
    report = compare_numerics(torch.tanh, (draw(3, 4),), device="cpu", dtypes=[torch.float32, torch.float16])

    assert {case.dtype for case in report.cases} == {"float32", "float16"}
    assert len(report.rules()) == 2
    assert [asked.dtype for asked in report.asked] == ["float32", "float16"]


def test_nested_inputs_and_outputs():
    """Lists and dicts of tensors go in and come out."""

    def fn(batch, scale):
        return {"sum": batch["a"] + batch["b"][0], "scaled": [batch["a"] * scale]}

    report = compare_numerics(fn, ({"a": draw(3, 4), "b": [draw(3, 4, seed=1)]}, 2.0), device="cpu")

    assert report.clean


def test_shapes_of_adaptive_max_pool():
    """5x5 to 3x3 values and indices are compared; a wrong shape of 2x2 to 4x4 is "shape" (pytorch #190064)."""

    class WrongShape:
        name = "wrong shape"

        def run(self, fn, inputs):
            outputs = fn(*inputs)
            return outputs | {"output": outputs["output"][..., :2, :2]}

    pool = nn.AdaptiveMaxPool2d(3, return_indices=True)
    assert compare_numerics(pool, (draw(1, 2, 5, 5),), device="cpu").clean
    report = compare_numerics(nn.AdaptiveMaxPool2d(4), (draw(1, 2, 2, 2),), device=WrongShape())
    assert report.kinds == ("shape",)
    assert "(1, 2, 2, 2), the reference (1, 2, 4, 4)" in report.findings[0].sentence


def test_two_assignments_into_slices():
    """zeros(3), x[1]=1, x[2]=3 has to read 0, 1, 3, not 0, 3, 3 (pytorch #122016, #123178)."""

    def assign(x):
        x = torch.zeros_like(x)
        x[1] = 1
        x[2] = 3
        return x

    class SecondOverwrites:
        name = "second assignment overwrites the first"

        def run(self, fn, inputs):
            outputs = fn(*inputs)
            return outputs | {"output": torch.tensor([0.0, 3.0, 3.0])}

    assert compare_numerics(assign, (draw(3),), device="cpu").clean
    report = compare_numerics(assign, (draw(3),), device=SecondOverwrites())
    assert "error" in report.kinds
    assert (report.findings[0].on_device, report.findings[0].expected) == (3.0, 1.0)


def test_nothing_copies_without_waiting():
    """No code of the package and no notebook asks for a non-blocking copy (pytorch #139550, #189690)."""
    from support.paths import ROOT

    paths = [*(ROOT / "course_utils").rglob("*.py"), *(ROOT / "notebooks").glob("*.ipynb")]
    paths += [*(ROOT / "solutions").rglob("*.ipynb"), *(ROOT / "benchmarks").glob("*.py")]
    # the suite of known faults asks for exactly this one
    found = [path.name for path in paths if "known_faults" not in path.parts and copies_without_waiting(path)]

    assert len(paths) > 10
    assert found == []


def copies_without_waiting(path):
    """Find calls with non_blocking=True in code; in text, as in a script that a lesson repairs, it may stand."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        text = "\n".join("".join(cell["source"]) for cell in cells)
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.keyword) and node.arg == "non_blocking"]
    return [node.lineno for node in found if ast.unparse(node.value) == "True"]


@pytest.mark.needs_mps
@pytest.mark.parametrize("fn", [torch.nn.functional.silu, torch.softmax, torch.matmul], ids=lambda fn: fn.__name__)
def test_mps_agrees_with_the_cpu(fn):
    """On a Mac, common operators agree with the reference."""
    inputs = {torch.softmax: (draw(8, 16), -1), torch.matmul: (draw(8, 16), draw(16, 8))}.get(fn, (draw(8, 16),))

    assert compare_numerics(fn, inputs, device="mps").clean
