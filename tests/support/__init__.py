"""What several test modules share: described machines, small exercises, submissions, a browser, a database."""
