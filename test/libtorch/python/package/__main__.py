import sys

from .model import double

print(double(float(sys.argv[1])).item())
sys.exit(7)
