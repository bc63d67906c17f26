"""The screens of handing off."""
