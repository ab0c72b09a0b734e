"""The decoder has the published shape, and predicts each token from those before it."""

from types import SimpleNamespace

import pytest
import torch

from course_utils.memory.decoder import LLAMA_2_7B, LLAMA_2_70B, Decoder, DecoderShape

SMALL = DecoderShape(layers=2, width=32, heads=4, kv_heads=2, feed_forward=64, vocabulary=50)


@pytest.mark.parametrize(("shape", "n_parameters"), [(LLAMA_2_7B, 6_738_415_616), (LLAMA_2_70B, 68_976_648_192)])
def test_published_sizes(shape, n_parameters):
    """Llama 2's two shapes have the published number of parameters, without being allocated."""
    with torch.device("meta"):
        model = Decoder(shape)

    assert sum(p.numel() for p in model.parameters()) == n_parameters


def test_it_predicts_from_the_past():
    """Logits are (B, T, vocabulary), and a later token changes no earlier prediction."""
    torch.manual_seed(0)
    model = Decoder(SMALL).eval()
    tokens = torch.randint(50, (2, 6))
    changed = tokens.clone()
    changed[:, 4] = (changed[:, 4] + 1) % 50
    with torch.inference_mode():
        before, after = model(tokens), model(changed)

    assert before.shape == (2, 6, 50)
    assert torch.equal(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4:], after[:, 4:])


def test_kv_cache():
    """Llama 2 70B at 4096 tokens in float16 keeps 1.25 GiB a sequence, an eighth of what 64 heads would."""
    one_sequence = LLAMA_2_70B.kv_cache_bytes(1, 4096, torch.float16)

    assert one_sequence == 2 * 80 * 8 * 4096 * 128 * 2
    assert one_sequence == 1.25 * 2**30


def test_shape_from_a_configuration():
    """A configuration with the names of Hugging Face gives the shape; one without them says what is missing."""
    config = SimpleNamespace(
        num_hidden_layers=2,
        hidden_size=32,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=64,
        vocab_size=50,
    )

    assert DecoderShape.from_config(config) == SMALL
    with pytest.raises(ValueError, match="num_hidden_layers"):
        DecoderShape.from_config(SimpleNamespace())


@pytest.mark.parametrize(("field", "value", "word"), [("layers", 0, "layers is 0"), ("kv_heads", 3, "evenly")])
def test_sizes_that_make_no_sense(field, value, word):
    """A size below 1, or heads that cannot be shared, are refused with their values."""
    with pytest.raises(ValueError, match=word):
        DecoderShape(**{**vars(SMALL), field: value})
