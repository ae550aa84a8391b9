"""Data files of trainrun from chats, texts, preferences and labels."""

__version__ = "0.1.0"
