"""What carries the agent: the thread, the model, the guard, the command line. Rarely edited."""
