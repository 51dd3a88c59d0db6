"""The fifty coding problems: one module each, whose `PROBLEM` it is, and what each check must give in expected/ID.json."""
