"""What goes into a comparison and comes out of it: tensors, their layouts, flat outputs."""
