"""Facts with their provenance: chips, published measurements. JSON, each entry with its source."""
