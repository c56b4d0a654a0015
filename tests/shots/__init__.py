"""Pictures of the page: ``make shots`` drives Chromium over the app and lays contact sheets in ``build/shots``."""
