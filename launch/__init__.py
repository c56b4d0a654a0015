"""What runs beside the server: starting, watching, explaining, rehearsing. Imports nothing of ``ui``."""
