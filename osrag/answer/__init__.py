"""From passages to a streamed, checked answer."""
