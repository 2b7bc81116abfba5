"""A multilingual FAQ assistant: grounded answers in the asker's language, or an honest "the articles do not say"."""
