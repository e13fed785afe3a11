"""Native training kernel."""
