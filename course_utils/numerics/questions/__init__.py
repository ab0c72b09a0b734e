"""What is asked of a device: values, layouts, sizes, integers, gradients."""
