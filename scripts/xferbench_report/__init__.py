"""What the Python scripts beside this package share: reading and validating results files, and the report's pages."""
