"""The verdict of every aten overload: rules on small yaml texts, the installed torch, names, cache, dispatcher."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from course_utils.data.versions import installed_torch, line_of, order
from course_utils.operators import STATUSES, operator_table, table, torchvision_kernels
from course_utils.operators.cache import cache_folder, file_name, load, store
from course_utils.operators.dispatcher import compare, registrations
from course_utils.operators.hand_registered import HandRegistered, hand_registered
from course_utils.operators.history import history
from course_utils.operators.names import find_overload
from course_utils.operators.rules import RULES, VerdictLetters, judge, read_yaml

NO_HAND_LIST = HandRegistered()
ON_THIS_TORCH = operator_table()
YAML_PATH = Path(str(resources.files("torchgen"))) / table.YAML

ADD = """
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  structured_delegate: add.out
- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA: add_out
    MPS: add_out_mps
"""


def verdicts_of(text, hand=NO_HAND_LIST):
    return judge(read_yaml(text), hand)


def table_of(text, hand=NO_HAND_LIST):
    return table.OperatorTable("2.14.1", "a test", verdicts_of(text, hand))


@pytest.mark.parametrize(
    ("dispatch", "letter"),
    [
        ("  dispatch:\n    MPS: f_mps\n", "n"),
        ("  dispatch:\n    CPU, CUDA, MPS: f\n", "n"),
        ("  dispatch:\n    CompositeExplicitAutograd: f\n    CPU, MPS: g\n", "n"),
        ("", "i"),
        ("  dispatch:\n    CompositeImplicitAutograd: f\n", "i"),
        ("  dispatch:\n    CompositeExplicitAutograd: f\n", "e"),
        ("  dispatch:\n    CompositeImplicitAutograd: f\n    CompositeExplicitAutograd: g\n", "e"),
        ("  dispatch:\n    CompositeExplicitAutogradNonFunctional: f\n    CompositeExplicitAutograd: g\n", "f"),
        ("  dispatch:\n    CPU, CUDA: f\n", "m"),
        ("  dispatch:\n    CUDA: f\n", "u"),
        ("  dispatch: {}\n", "u"),
        ("  structured: True\n", "u"),
        ("  dispatch:\n    SparseCPU, SparseMPS, SparseMeta: f\n    Meta: g\n", "r"),
        ("  dispatch:\n    QuantizedCPU: f\n    NestedTensorCPU, MkldnnCPU, SparseCsrCUDA: g\n", "r"),
        ("  dispatch:\n    CPU: f\n    SparseCPU: g\n", "m"),
    ],
)
def test_dispatch_keys_decide_in_the_dispatchers_order(dispatch, letter):
    """The first of MPS, NonFunctional, Explicit, Implicit decides; no table means Implicit, an empty one nothing."""
    assert verdicts_of(f"- func: f(Tensor self) -> Tensor\n{dispatch}").letters == {"f": letter}


def test_a_view_without_a_kernel_cannot_fall_back():
    """A view operator without MPS kernel raises even with the variable; one that returns its out= argument does not."""
    text = "- func: {}\n  dispatch:\n    CPU: f\n"
    assert verdicts_of(text.format("f(Tensor(a) self) -> Tensor(a)")).letters["f"] == "v"
    assert verdicts_of(text.format("f(Tensor(a -> *) self) -> Tensor(a)[]")).letters["f"] == "v"
    assert verdicts_of(text.format("f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")).letters["f.out"] == "m"
    assert not RULES["v"].cpu_fallback
    assert RULES["m"].cpu_fallback


def test_a_structured_operator_takes_over_the_kernel_of_its_out_overload():
    """add.Tensor has a kernel because add.out has one."""
    assert verdicts_of(ADD).letters == {"add.Tensor": "d", "add.out": "n"}


def test_a_structured_operator_without_kernel_names_its_out_overload_in_the_error():
    """Where add.out has no kernel, the error for add.Tensor says aten::add.out."""
    verdict = table_of(ADD.replace("    MPS: add_out_mps\n", "")).verdict("add.Tensor")
    assert (verdict.status, verdict.error_name, verdict.cpu_fallback) == ("missing", "aten::add.out", True)
    assert "the error names aten::add.out" in str(verdict)


def test_a_structured_operator_without_any_cpu_kernel_has_no_fallback():
    """The variable cannot help where the out= overload has no CPU kernel either."""
    text = ADD.replace("    MPS: add_out_mps\n", "").replace("CPU, CUDA", "CUDA")
    verdict = table_of(text).verdict("add.Tensor")
    assert (verdict.status, verdict.error_name, verdict.cpu_fallback) == ("missing", "aten::add.out", False)


def test_a_structured_operator_keeps_its_own_composite_where_the_out_overload_is_composite():
    """all.dims and all.dims_out are both CompositeExplicitAutograd (torch 2.14)."""
    text = (
        "- func: all.dims(Tensor self) -> Tensor\n  structured_delegate: all.dims_out\n"
        "  dispatch:\n    CompositeExplicitAutograd: f\n"
        "- func: all.dims_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CPU, CUDA: g\n    CompositeExplicitAutograd: h\n"
    )
    assert set(verdicts_of(text).letters.values()) == {"e"}


def test_a_delegate_that_is_not_there_is_an_error():
    """A yaml cut short must not give verdicts."""
    with pytest.raises(ValueError, match=r"delegates to add\.out, which this yaml does not have"):
        verdicts_of("- func: add.Tensor(Tensor self, Tensor other) -> Tensor\n  structured_delegate: add.out\n")


def test_generated_variants_are_composite_unless_they_have_an_entry_of_their_own():
    """Names under autogen get a verdict too, and an entry of that name wins."""
    text = (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n  autogen: f.out, f_\n"
        "- func: f_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    MPS: f_\n"
    )
    assert verdicts_of(text).letters == {"f": "m", "f.out": "g", "f_": "n"}


def test_the_hand_lists_win_over_the_yaml():
    """What a release registers by hand comes first, as in the dispatcher; variants that call it inherit it."""
    hand = HandRegistered(
        cpu_fallback=frozenset({"add.out"}),
        refuses_mixed_devices=frozenset({"conv"}),
        python_registration=frozenset({"norm"}),
    )
    text = (
        ADD.replace("    MPS: add_out_mps\n", "")
        + "- func: conv(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n"
        + "- func: norm(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n"
    )
    found = table_of(text, hand)
    assert found.verdicts.letters == {"add.Tensor": "C", "add.out": "c", "conv": "x", "norm": "p"}
    statuses = [found.verdict(name).status for name in ("add.Tensor", "add.out", "conv", "norm")]
    assert statuses == ["cpu_always", "cpu_always", "refused", "composite"]
    assert found.verdict("add.Tensor").error_name is None


def test_sparse_keys_are_kept_apart():
    """A kernel for SparseMPS does not make an operator native for dense tensors, and is still told."""
    text = (
        "- func: f(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n    SparseCPU, SparseMPS: g\n    SparseCsrMPS: h\n"
    )
    found = table_of(text)
    assert found.verdict("f").status == "missing"
    assert found.verdict("f").sparse == ("SparseMPS", "SparseCsrMPS")
    assert found.native == frozenset()
    assert found.sparse == {"aten::f"}


@pytest.mark.parametrize("text", ["just words", "- 3\n", "- name: f\n", "{", ""])
def test_a_text_that_is_no_operator_list_is_refused(text):
    """Something else than native_functions.yaml gets one sentence, no traceback of a parser."""
    with pytest.raises(ValueError, match=r"this is not torch's native_functions\.yaml"):
        read_yaml(text)


# overloads of the yaml proper by letter, without those under autogen, in torch's published wheels
COUNTS = {
    "2.5.1": {"native": 686, "missing": 424, "via out": 99, "cpu": 6, "implicit": 828, "explicit": 525},
    "2.8.0": {"native": 813, "missing": 375, "via out": 42, "cpu": 3, "implicit": 828, "explicit": 531},
    "2.9.1": {"native": 847, "missing": 354, "via out": 33, "cpu": 3, "implicit": 831, "explicit": 532},
    "2.12.1": {"native": 878, "missing": 343, "via out": 27, "cpu": 3, "implicit": 836, "explicit": 544},
    "2.14.1": {"native": 912, "missing": 320, "via out": 23, "cpu": 1, "implicit": 736, "explicit": 537},
    "2.15.0": {"native": 928, "missing": 312, "via out": 21, "cpu": 1, "implicit": 736, "explicit": 536},
}


def letter_counts(found):
    """Count letters under the names that COUNTS uses."""
    count = Counter(found.verdicts.letters.values())
    groups = {"native": "nd", "missing": "mvur", "via out": "ow", "cpu": "cC", "implicit": "i", "explicit": "e"}
    return {name: sum(count[letter] for letter in letters) for name, letters in groups.items()}


@pytest.mark.parametrize("release", COUNTS)
def test_counts_of_published_releases(release):
    """The history holds the counts that the wheels' yaml gives; 55 NonFunctional composites in each."""
    found = operator_table(release)
    assert letter_counts(found) == COUNTS[release]
    assert Counter(found.verdicts.letters.values())["f"] == 55


def test_the_installed_torch_and_the_history_agree():
    """The yaml of the installed release and the one in its published wheel give the same verdicts."""
    installed = installed_torch()
    if order(installed) not in [order(release) for release in history().releases]:
        pytest.skip(f"torch {installed} is not among the releases that were read")
    assert dict(ON_THIS_TORCH.verdicts.letters) == dict(history().verdicts(installed).letters)
    assert dict(ON_THIS_TORCH.verdicts.sparse_keys) == dict(history().verdicts(installed).sparse_keys)
    assert dict(ON_THIS_TORCH.verdicts.delegates) == dict(history().verdicts(installed).delegates)


@pytest.mark.skipif(torch.backends.mps.is_built(), reason="a torch with MPS kernels has a fallback for every operator")
def test_composites_are_what_the_dispatcher_can_compute_without_an_mps_kernel():
    """On a torch without MPS, the dispatcher has a kernel for composites and none for the missing."""
    wrong = {}
    for name, letter in ON_THIS_TORCH.verdicts.letters.items():
        rule = RULES[letter]
        if letter in "cCpP":
            continue  # a registration that only a build with MPS makes
        # the generic kernel of a structured operator is there, and calls an out= overload that may not be
        expected = rule.status == "composite" or rule.from_delegate
        try:
            computed = torch._C._dispatch_has_computed_kernel_for_dispatch_key(f"aten::{name}", "MPS")
        except RuntimeError:
            continue  # declared in the yaml, not registered in this build
        if rule.status != "native" and computed != expected:
            wrong[name] = (letter, computed)
    assert wrong == {}


def test_the_dispatcher_is_read_correctly():
    """For the key CPU, where every build has kernels, the dispatcher names all that the yaml promises."""
    entries = {entry.name: entry for entry in read_yaml(YAML_PATH.read_text(encoding="utf-8"))}
    promised = {
        name
        for name, entry in entries.items()
        if "CPU" in (entry.keys or ()) or (entry.delegate and "CPU" in (entries[entry.delegate].keys or ()))
    }
    assert len(promised) > 1000
    assert promised <= registrations("CPU")


@pytest.mark.needs_mps
@pytest.mark.skipif(not torch.backends.mps.is_built(), reason="needs a torch built with MPS")
def test_a_torch_with_mps_registers_exactly_what_the_rules_expect():
    """On a Mac the dispatcher and the yaml agree, so that the table has no warning."""
    assert ON_THIS_TORCH.source.endswith("and the dispatcher")
    assert ON_THIS_TORCH.warnings == ()


def test_a_dispatcher_that_agrees_changes_nothing():
    """Native, CPU fallbacks and the mixed-device refusal are registered; Python registrations may be."""
    hand = HandRegistered(frozenset({"svd"}), frozenset({"conv"}), frozenset({"norm"}))
    text = ADD + "".join(
        f"- func: {name}(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n" for name in ("svd", "conv", "norm", "eig")
    )
    expected = frozenset({"add.Tensor", "add.out", "svd", "conv"})
    for registered in (expected, expected | {"norm"}):
        found = table.with_dispatcher(table_of(text, hand), registered)
        assert found.warnings == ()
        assert found.verdicts == table_of(text, hand).verdicts
        assert found.source == "a test and the dispatcher"


def test_a_dispatcher_that_disagrees_becomes_a_warning():
    """The dispatcher's answer wins, and table and verdict say that it was not expected."""
    text = ADD + "- func: eig(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n"
    found = table.with_dispatcher(table_of(text), frozenset({"add.out", "eig"}))
    assert found.verdict("eig").status == "native"
    assert found.verdict("eig").warnings[-1] == "the yaml shows no MPS kernel, but the dispatcher has one"
    assert found.verdict("add.Tensor").status == "missing"
    assert "the yaml promises an MPS kernel" in found.verdict("add.Tensor").warnings[-1]
    assert found.warnings == (
        "the dispatcher has 1 MPS kernels that the yaml does not show (eig); "
        "they may be native or CPU fallbacks registered by hand",
        "the dispatcher lacks 1 MPS kernels that the yaml promises (add.Tensor)",
    )


def test_a_long_difference_is_cut():
    """A warning names five overloads at most."""
    (warning,) = compare(frozenset("abcdefg"), frozenset()).warnings
    assert "7 MPS kernels" in warning
    assert "(a, b, c, d, e, ...)" in warning


@pytest.mark.parametrize(
    "name",
    [
        "isin.Tensor_Tensor",
        "aten::isin.Tensor_Tensor",
        "aten.isin.Tensor_Tensor",
        " torch.ops.aten.isin.Tensor_Tensor",
        torch.ops.aten.isin.Tensor_Tensor,
    ],
)
def test_an_overload_is_found_by_any_of_its_names(name):
    """People write names in several ways, torch itself in two."""
    assert ON_THIS_TORCH.verdict(name).overload == "aten::isin.Tensor_Tensor"


@pytest.mark.parametrize(
    "name", ["linalg_eig", "aten::linalg_eig", "aten::linalg_eig.default", torch.ops.aten.linalg_eig.default]
)
def test_the_default_overload_needs_no_suffix(name):
    """Both "linalg_eig" and "aten::linalg_eig.default" mean the same overload."""
    assert ON_THIS_TORCH.verdict(name).overload == "aten::linalg_eig"


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("linalg_eigg", "torch has no operator aten::linalg_eigg; nearest names: linalg_eig"),
        ("bicubic", "upsample_bicubic2d"),
        ("qqqqqqqq", "no name is like it"),
        ("isin", "aten::isin is not an overload; this operator has isin.Scalar_Tensor"),
        ("add.Tenser", "add.Tensor"),
        ("torchvision::nms", "torchvision::nms is outside aten"),
    ],
)
def test_an_unknown_name_gets_the_nearest_ones(name, part):
    """A name that is no overload gets one sentence with what to try next."""
    with pytest.raises(LookupError, match=part):
        ON_THIS_TORCH.verdict(name)


def test_an_operators_name_finds_all_its_overloads():
    """The operator isin has no default overload, and all of its overloads are found at once."""
    found = {verdict.overload for verdict in ON_THIS_TORCH.overloads("aten::isin")}
    assert {"aten::isin.Tensor_Tensor", "aten::isin.Tensor_Scalar", "aten::isin.Scalar_Tensor"} <= found
    assert [verdict.overload for verdict in ON_THIS_TORCH.overloads("add.Tensor")] == ["aten::add.Tensor"]
    with pytest.raises(LookupError, match="nearest names: linalg_eig"):
        ON_THIS_TORCH.overloads("linalg_eigg")


def test_a_suffix_of_the_yaml_wins_over_the_shorthand():
    """Only names that are not there are tried without a suffix."""
    assert find_overload("f.default", {"f"}) == "f"


# what a model meets below a public function, by torch release: overload, status, name in the error
CASES = [
    # pytorch #125537, #185954: svd went to the CPU up to 2.13, another path raised; native kernel since 2.14
    ("2.13", "linalg_svd", "cpu_always", None),
    ("2.13", "_linalg_svd", "missing", "aten::_linalg_svd.U"),
    ("2.14.1", "linalg_svd", "composite", None),
    ("2.14.1", "_linalg_svd", "native", None),
    # pytorch #151874: eigh
    ("2.13.0", "_linalg_eigh", "missing", "aten::_linalg_eigh.eigenvalues"),
    ("2.14.1", "_linalg_eigh", "native", None),
    # pytorch #195278: eig is in no release
    ("2.14.1", "linalg_eig", "missing", "aten::linalg_eig"),
    ("2.14.1", "linalg_eigvals", "composite", None),
    ("2.15.0", "linalg_eig", "missing", "aten::linalg_eig"),
    # pytorch #136123: bicubic interpolation
    ("2.5.1", "upsample_bicubic2d", "missing", "aten::upsample_bicubic2d.out"),
    ("2.6.0", "upsample_bicubic2d", "native", None),
    # pytorch #116392: the FFTs below stft
    ("2.2.2", "stft", "composite", None),
    ("2.2.2", "_fft_r2c", "missing", "aten::_fft_r2c"),
    ("2.2.2", "_fft_c2c", "missing", "aten::_fft_c2c"),
    ("2.3.0", "_fft_r2c", "native", None),
    ("2.3.0", "_fft_c2c", "native", None),
    # pytorch #160829: CTC loss, forward and backward
    ("2.7.1", "_ctc_loss", "missing", "aten::_ctc_loss"),
    ("2.13", "_ctc_loss.Tensor", "missing", "aten::_ctc_loss.Tensor"),
    ("2.13", "_ctc_loss_backward", "missing", "aten::_ctc_loss_backward"),
    ("2.14.1", "_ctc_loss", "native", None),
    ("2.14.1", "_ctc_loss.Tensor", "native", None),
    ("2.14.1", "_ctc_loss_backward", "native", None),
    # pytorch #77818: a kernel that refuses three dimensions, which no table can show
    ("2.2", "_mps_convolution", "native", None),
    # pytorch #96610: int64 was refused on an old macOS, which no table can show either
    ("2.0", "cumsum", "native", None),
    # pytorch #141711: no dense-to-sparse kernel before 2.9
    ("2.8", "_to_sparse", "missing", "aten::_to_sparse"),
    ("2.9", "_to_sparse", "native", None),
    # datalab-to/marker #42
    ("2.0.1", "roll", "missing", "aten::roll"),
    ("2.1", "roll", "native", None),
    # aten/src/ATen/mps/MPSFallback.mm
    ("2.15", "embedding_renorm_", "cpu_always", None),
    ("2.15", "_slow_conv2d_forward", "refused", None),
    # torch/backends/mps/__init__.py
    ("2.12", "native_group_norm", "composite", None),
    ("2.13", "native_group_norm", "native", None),
]


@pytest.mark.parametrize(("release", "name", "status", "error_name"), CASES)
def test_reported_operators_have_their_verdict(release, name, status, error_name):
    """What users reported about a release is what the table says about it."""
    verdict = operator_table(release).verdict(name)
    assert (verdict.status, verdict.error_name) == (status, error_name)
    assert line_of(verdict.torch_release) == line_of(release)


def test_sparse_buffers_have_no_kernel_before_torch_2_9():
    """In 2.8 (pytorch #141711) nothing is registered for SparseMPS, so the fallback for MPS never applies."""
    assert operator_table("2.8").sparse == frozenset()
    assert "SparseMPS" in operator_table("2.9").verdict("_sparse_coo_tensor_with_dims_and_tensors").sparse


class Overloads(TorchDispatchMode):
    """Notes the overloads that reach the dispatcher below autograd."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("function", "shape", "missing"),
    [
        (torch.linalg.eigvals, (3, 3), "aten::linalg_eig"),
        (torch.linalg.svdvals, (3, 3), None),
        (torch.linalg.eigh, (3, 3), None),
        (lambda signal: torch.stft(signal, 16, window=torch.ones(16), return_complex=True), (64,), None),
        (lambda image: torch.nn.functional.interpolate(image, scale_factor=2, mode="bicubic"), (1, 1, 4, 4), None),
        (lambda tensor: torch.roll(tensor, 1), (4,), None),
    ],
)
def test_a_composite_function_is_judged_by_the_operators_it_calls(function, shape, missing):
    """The route of eigvals ends in linalg_eig, which torch 2.14.1 lacks; the others end in operators that it has."""
    with Overloads() as mode:
        function(torch.rand(shape, requires_grad=True))
    found = operator_table("2.14.1")
    assert mode.seen
    lacking = {verdict.error_name for verdict in map(found.verdict, mode.seen) if verdict.status == "missing"}
    assert lacking == ({missing} if missing else set())


def test_a_verdict_prints_what_a_reader_needs():
    """Text and HTML name overload, release, verdict and since when there is a kernel."""
    verdict = operator_table("2.13").verdict("_linalg_svd")
    assert str(verdict) == (
        "aten::_linalg_svd on MPS, torch 2.13.0: missing (no kernel for MPS in its out= overload); "
        "the error names aten::_linalg_svd.U; native since 2.14, you have 2.13"
    )
    assert verdict.first_native_release == "2.14"
    assert "out= overload" in verdict._repr_html_()


def test_a_table_counts_every_overload_once():
    """The counts add up to the table's length, and text and HTML show them."""
    counts = ON_THIS_TORCH.counts()
    assert tuple(counts) == STATUSES
    assert sum(counts.values()) == len(ON_THIS_TORCH)
    assert counts["native"] == len(ON_THIS_TORCH.native)
    assert re.search(rf"^ +{counts['native']} +native$", str(ON_THIS_TORCH), re.MULTILINE)
    assert f"<td>{counts['missing']}</td>" in ON_THIS_TORCH._repr_html_()


def test_overloads_are_listed_by_status():
    """A status selects overloads under torch's own names, and an unknown one gets the list of statuses."""
    assert "aten::embedding_renorm_" in ON_THIS_TORCH.with_status("cpu_always")
    with pytest.raises(ValueError, match="the table uses native, composite"):
        ON_THIS_TORCH.with_status("nativ")


@pytest.fixture
def small_yaml(tmp_path):
    """A yaml of two overloads: reading torch's own takes a second."""
    path = tmp_path / "native_functions.yaml"
    path.write_text(ADD)
    return path


def test_the_second_load_does_not_read_the_yaml(tmp_path):
    """Verdicts come from the cache once they are there, the same ones."""
    first = table.read_table(YAML_PATH, "2.14.1", tmp_path)
    (cached,) = tmp_path.iterdir()
    data = json.loads(cached.read_text())
    data["letters"]["planted"] = "n"
    cached.write_text(json.dumps(data))
    second = table.read_table(YAML_PATH, "2.14.1", tmp_path)
    assert second.native == first.native | {"aten::planted"}
    assert second.verdicts.delegates == first.verdicts.delegates
    assert second.verdicts.sparse_keys == first.verdicts.sparse_keys


def test_another_torch_yaml_or_hand_list_gets_another_cache_file():
    """Version, size, time of modification and the hand lists are the key."""
    keys = [
        ("2.14.1", 1, 1, NO_HAND_LIST),
        ("2.14.0", 1, 1, NO_HAND_LIST),
        ("2.14.1", 2, 1, NO_HAND_LIST),
        ("2.14.1", 1, 2, NO_HAND_LIST),
        ("2.14.1", 1, 1, HandRegistered(cpu_fallback=frozenset({"f"}))),
    ]
    assert len({file_name(*key) for key in keys}) == len(keys)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[]", b"{}", b'{"letters": {}, "delegates": {}, "sparse_keys": {}}']
    + [
        json.dumps({"letters": letters, "delegates": delegates, "sparse_keys": sparse}).encode()
        for letters, delegates, sparse in [
            ({"f": "?"}, {}, {}),
            ({"f": ["n"]}, {}, {}),
            ({"f": "n"}, {"g": "g.out"}, {}),
            ({"f": "n"}, {}, {"f": None}),
            (["f"], {}, {}),
        ]
    ],
)
def test_a_broken_cache_is_read_as_none_and_replaced(small_yaml, tmp_path, content):
    """Whatever lies in the cache file, the table is right, and the next load finds a sound file."""
    table.read_table(small_yaml, "2.14.1", tmp_path / "cache")
    (cached,) = (tmp_path / "cache").iterdir()
    cached.write_bytes(content)
    assert load(cached) is None
    assert len(table.read_table(small_yaml, "2.14.1", tmp_path / "cache")) == 2
    assert load(cached) is not None


def test_a_cache_that_cannot_be_written_is_not_an_error(small_yaml, tmp_path):
    """A file where the folder should be, or no folder at all, costs only time."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert len(table.read_table(small_yaml, "2.14.1", blocked)) == 2
    assert blocked.read_text() == "in the way"
    assert len(table.read_table(small_yaml, "2.14.1", None)) == 2


def test_nothing_half_written_stays_behind(tmp_path):
    """Where the last step of writing fails, the temporary file goes."""
    target = tmp_path / "cache.json"
    target.mkdir()
    store(target, VerdictLetters({"f": "n"}, {}, {}))
    assert list(tmp_path.iterdir()) == [target]


def test_the_cache_folder_follows_the_users_settings(monkeypatch, tmp_path):
    """XDG_CACHE_HOME moves it; without it the folder lies below the user's home."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "course_utils"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tmp_path in cache_folder().parents


def test_a_yaml_that_is_not_there_gets_a_sentence(tmp_path):
    """A torch without the file says so, and what to do."""
    with pytest.raises(FileNotFoundError, match="install torch from its published wheel"):
        table.read_table(tmp_path / "none.yaml", "2.14.1", tmp_path)


def test_a_torch_nobody_looked_at_warns(tmp_path):
    """A newer torch gets the newest hand list and a warning in the table and in each verdict."""
    found = table.read_table(YAML_PATH, "2.99.0", tmp_path)
    assert "the list of 2.15 is used" in found.warnings[0]
    assert found.verdict("linalg_eig").warnings == found.warnings
    assert "the list of 2.0 is used" in hand_registered("1.13.1").warnings[0]


def test_a_release_is_found_by_name():
    """A line stands for the release read of it, another patch warns, the installed version reads its own yaml."""
    assert operator_table("2.9").torch_release == "2.9.1"
    assert operator_table("2.9").warnings == ()
    assert operator_table("2.9.0").torch_release == "2.9.1"
    assert "torch 2.9.0 itself was not read" in operator_table("2.9.0").warnings[0]
    assert operator_table(installed_torch()) is operator_table()
    with pytest.raises(LookupError, match=r"torch 1\.13\.1 are not in the history; it has 2\.0\.1"):
        operator_table("1.13.1")
    with pytest.raises(ValueError, match="'newest' is not a torch release"):
        operator_table("newest")


def test_torchvisions_own_operators_are_known():
    """The operator nms has an MPS kernel since torchvision 0.16, the backward of deform_conv2d in no release read."""
    kernels = torchvision_kernels()
    assert kernels["torchvision::nms"] == "0.16"
    assert kernels["torchvision::deform_conv2d"] == "0.23"
    assert kernels["torchvision::_deform_conv2d_backward"] is None


def test_the_table_loads_without_torch(tmp_path):
    """Neither the package nor, off a Mac, the table imports torch; a second process does not import yaml either."""
    code = (
        "import sys\nfrom course_utils.operators import operator_table\n"
        "print(operator_table().verdict('linalg_eig').status)\n"
        "print('torch' in sys.modules and sys.platform != 'darwin', 'yaml' in sys.modules)"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    answers = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stdout
        for _ in range(2)
    ]
    assert answers[0].split() == ["missing", "False", "True"]
    assert answers[1].split() == ["missing", "False", "False"]
