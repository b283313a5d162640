"""The lab tab: a form, the drawing and steps that follow it, and practice."""
