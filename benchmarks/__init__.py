"""The figures: each module prints one, as ratios measured side by side in one run."""
