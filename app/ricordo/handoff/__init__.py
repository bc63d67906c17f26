"""Handoffs: what the next agent needs to continue the work, each statement with its proof."""
