"""Publish tables and recordings with a defence, and save fitted defences."""
