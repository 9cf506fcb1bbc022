import sys
sys.exit(open('/app/answer.txt').read() != '42\n')
