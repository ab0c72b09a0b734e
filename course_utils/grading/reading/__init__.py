"""What students handed in: found in folders and zips, read without trusting any of it."""
