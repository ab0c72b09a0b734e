"""The ledger counts live storages once, by what they are for, and keeps the peak."""

import torch

from course_utils.memory.ledger import StorageLedger


def test_a_result_counts_while_it_lives():
    """A result enters when it is made and leaves when it is freed; the peak stays."""
    ledger = StorageLedger()
    with ledger:
        first = torch.zeros(256, device="meta")
        second = first + 1
        assert ledger.total_bytes == 2 * 1024
        del first
        assert ledger.total_bytes == 1024
        del second

    assert ledger.total_bytes == 0
    assert ledger.peak_bytes == 2 * 1024
    assert ledger.largest_bytes == 1024


def test_views_share_one_storage():
    """Views, slices and transposes cost nothing."""
    ledger = StorageLedger()
    with ledger:
        base = torch.zeros(16, 16, device="meta")
        kept = (base.T, base[3:], base.view(-1))

    assert ledger.total_bytes == base.nbytes
    assert len(kept) == 3


def test_real_tensors_count_alike():
    """A real CPU tensor is counted like one on meta."""
    ledger = StorageLedger()
    with ledger:
        kept = torch.ones(100) * 2

    assert ledger.total_bytes == kept.nbytes


def test_filing_moves_a_storage():
    """A storage is in one category at a time, and only_from protects the others."""
    ledger = StorageLedger()
    weight = torch.empty(10, device="meta")
    ledger.file(weight, "parameters")
    ledger.file(weight, "activations", only_from="workspace")

    assert ledger.live_bytes["parameters"] == 40
    ledger.file(weight, "gradients")
    assert (ledger.live_bytes["parameters"], ledger.live_bytes["gradients"]) == (0, 40)


def test_a_claim_at_the_peak_is_seen_there():
    """A storage that is claimed right after it made the peak belongs to its category at the peak."""
    ledger = StorageLedger()
    with ledger:
        kept = torch.empty(10, device="meta")
        ledger.file(kept, "activations", only_from="workspace")

    assert ledger.at_peak_bytes["activations"] == 40
    assert ledger.at_peak_bytes["workspace"] == 0


def test_sparse_tensors_have_two_storages():
    """A sparse tensor counts its indices and its values."""
    ledger = StorageLedger()
    sparse = torch.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (3,), check_invariants=False)
    ledger.file(sparse, "gradients")

    assert ledger.total_bytes == 2 * 8 + 2 * 4
