"""The dialog of the models: those on this laptop, and those that can be downloaded."""
