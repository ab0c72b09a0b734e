"""Inputs are drawn once on the CPU, keep their strides on the way to a device, and can be cut and repeated."""

import pytest
import torch

from course_utils.numerics import compare_numerics, draw, lay_out
from course_utils.numerics.tensors.inputs import cast_inputs, elements, fresh, move
from course_utils.numerics.tensors.layouts import EXPANDED, LAYOUTS, SAME_VALUES, differs_in_memory, with_layout
from course_utils.numerics.tensors.resizing import leading_size, resize
from course_utils.numerics.tensors.special_values import with_values


def test_draw_is_the_same_every_time():
    """The same seed gives the same numbers, and the global generator is left alone."""
    before = torch.get_rng_state()

    assert torch.equal(draw(3, 4, seed=5), draw(3, 4, seed=5))
    assert not torch.equal(draw(3, 4, seed=5), draw(3, 4, seed=6))
    assert torch.equal(torch.get_rng_state(), before)


def test_nothing_is_drawn_on_the_device():
    """A run with a device uses tensors made on the CPU and draws none there (pytorch #84288, #153102)."""
    drawn = []

    class Watching(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if torch.Tag.nondeterministic_seeded in func.tags:
                drawn.append(func)
            return func(*args, **(kwargs or {}))

    class Device:
        name = "watched"

        def run(self, fn, inputs):
            with Watching():
                return fn(*inputs)

    report = compare_numerics(torch.nn.functional.silu, (draw(4, 5),), device=Device())

    assert report.clean
    assert drawn == []


def test_comparing_leaves_the_random_state_alone():
    """A comparison draws and seeds, and puts the CPU's generator back."""
    before = torch.get_rng_state()
    compare_numerics(torch.nn.functional.silu, (draw(2, 2),), device="cpu")

    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_change_memory_and_not_shapes(layout):
    """Each layout is a view; all but the expanded ones keep the values."""
    x = draw(2, 3, 4, 5)
    y = lay_out(x, layout)

    assert y.shape == x.shape
    assert differs_in_memory(y)
    if layout in SAME_VALUES:
        assert torch.equal(y, x)
    else:
        assert y.stride()[int(layout[-1])] == 0


def test_layouts_that_real_faults_needed():
    """Rows with steps, permuted heads, channels_last, a slice of five dimensions and an offset are among them."""
    weight, image = draw(6, 4), draw(2, 3, 4, 5)

    assert lay_out(weight, "sliced rows").stride() == (8, 1)
    assert lay_out(image, "permuted").transpose(1, 2).is_contiguous()
    assert lay_out(image, "channels_last").is_contiguous(memory_format=torch.channels_last)
    assert lay_out(image, "slice of more dimensions").storage_offset() > 0
    assert lay_out(image, "sliced everywhere").stride() == (16 * 60, 8 * 20, 4 * 5, 2)
    offset = lay_out(image, "storage offset")
    assert offset.is_contiguous()
    assert offset.storage_offset() > 0
    assert len(EXPANDED) == 4


def test_sliced_neighbours_are_other_values():
    """Between the elements of a sliced tensor lie other ones, so that reading them by mistake shows."""
    x = torch.arange(6.0)
    memory = lay_out(x, "sliced").untyped_storage()

    assert memory.nbytes() == 2 * 6 * 4
    assert not torch.equal(torch.tensor(list(memory)), torch.tensor(list(x.repeat(2).untyped_storage())))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("change", [fresh, lambda inputs: cast_inputs(inputs, torch.float16)], ids=["fresh", "cast"])
def test_copies_keep_strides(layout, change):
    """Copying and casting leave the strides as they are."""
    x = lay_out(draw(4, 6), layout)
    (y,) = change((x,))

    assert y.stride() == x.stride()
    assert torch.equal(y.float(), x.to(y.dtype).float())
    assert y.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_moving_keeps_strides_and_offset(layout):
    """A sliced, shifted or expanded tensor arrives as it lies, which Tensor.to alone would not keep."""
    x = lay_out(draw(4, 6), layout)

    assert move(x, "cpu").stride() == x.stride()
    assert move(x, "cpu").storage_offset() == x.storage_offset()
    assert torch.equal(move(x, "cpu"), x)


def test_unknown_layout():
    """A misspelt layout is one sentence."""
    with pytest.raises(ValueError, match="layout is 'turned'; there are storage offset"):
        with_layout((draw(2, 2),), "turned")


def test_scalars_have_no_other_layout():
    """Where no tensor can lie otherwise, there is nothing to ask."""
    assert with_layout((torch.tensor(1.0), 3), "transposed") is None


def test_resize_cuts_and_repeats():
    """Only tensors of the leading size change; repeated numbers differ a little, so that errors do not line up."""
    x, weight = draw(4, 3), draw(5, 3)
    cut_weight, same = resize((weight, x), 2)
    assert leading_size((weight, x)) == 5

    cut, kept = resize((x, draw(2, 3)), 2)
    assert cut.shape == (2, 3)
    assert kept.shape == (2, 3)
    assert cut_weight.shape == (2, 3)
    assert same.shape == (4, 3)

    (longer,) = resize((x,), 10)
    assert longer.shape == (10, 3)
    assert torch.equal(longer[:4], x)
    assert not torch.equal(longer[4:8], x)
    assert torch.equal(longer[4:8].sign(), x.sign())
    assert elements((longer, weight)) == 30


def test_large_integers_are_odd_and_even():
    """Past 2**24 float32 loses odd numbers; inputs that hold integers get both kinds."""
    (large,) = with_values((torch.arange(6),), "integers past 2**24")

    assert int(large.min()) >= 2**24
    assert set((large % 2).tolist()) == {0, 1}
    assert with_values((draw(3),), "integers past 2**24") is None
