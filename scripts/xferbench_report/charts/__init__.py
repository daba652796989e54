"""The charts of each scenario: functions from runs to charts, which know nothing of HTML."""
