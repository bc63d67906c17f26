"""The screens: values in by constructor, a typed result out."""
