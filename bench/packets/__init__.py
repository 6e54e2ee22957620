"""Codes for packet layout and their schedules from memory, next to ISA-L."""
