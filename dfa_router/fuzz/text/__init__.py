"""Findings and campaigns as text: reasons in words (``explain``), data files (``casefile``), reports (``report``)."""
