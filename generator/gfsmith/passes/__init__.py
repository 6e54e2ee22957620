"""Pure rewrites Program -> Program, one per module. `pipeline` lists them in order."""
