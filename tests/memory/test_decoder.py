"""The decoder has the published shape, and predicts each token from those before it."""

import pytest
import torch
from support.decoder import LLAMA_2_70B, Decoder

from course_utils.memory.decoder import LLAMA_2_7B, DecoderShape

SMALL = DecoderShape(layers=2, width=32, heads=4, kv_heads=2, feed_forward=64, vocabulary=50)


def test_published_size():
    """Llama 2 7B has the published number of parameters, without being allocated."""
    with torch.device("meta"):
        model = Decoder(LLAMA_2_7B)

    assert sum(p.numel() for p in model.parameters()) == 6_738_415_616


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


@pytest.mark.parametrize(("field", "value", "word"), [("layers", 0, "layers is 0"), ("kv_heads", 3, "evenly")])
def test_sizes_that_make_no_sense(field, value, word):
    """A size below 1, or heads that cannot be shared, are refused with their values."""
    with pytest.raises(ValueError, match=word):
        DecoderShape(**{**vars(SMALL), field: value})
