cd repro
python3 run.py
