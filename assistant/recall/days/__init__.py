"""Time as people speak of it: days and spans in words, events they hang on, the chats they name."""
