"""Material of the chapter *own-patients*."""
