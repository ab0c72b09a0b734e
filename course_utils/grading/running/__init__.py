"""Many submissions: jobs in worker processes here or on a cluster, a results folder, a report."""
