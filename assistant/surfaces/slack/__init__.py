"""The Slack bot: one Bolt app, by HTTP within the server or by Socket Mode on its own."""
