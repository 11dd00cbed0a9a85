

if __name__ == "__main__":
    sides = {"eager": lambda module: module, "compiled": lambda module: torch.compile(module, options=OPTIONS)}
    asked = sys.argv[1:] or list(sides)  # `repro.py eager` compiles nothing
    sys.exit(1 if sum([show(Side(name, sides[name])) for name in asked]) else 0)
