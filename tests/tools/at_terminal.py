#!/usr/bin/python3
"""at_terminal.py [--size ROWSxCOLS] [--redirect FDS] STEP... -- CMD [ARG...]

Runs CMD on a terminal of its own, as a user would sit at it, and does the steps in order. Prints all that CMD wrote to the terminal; reports go to stderr.
Exits with CMD's status (128 + n for a signal), 99 where a wait was in vain.

  wait:TEXT    until TEXT appears (each search starts behind the last find)
  send:TEXT    types TEXT; \\n, \\r, \\xNN as in Python
  paste:N      types N bytes in lines of 64
  resize:RxC   the terminal changes its size
  kill:SIG     a signal to CMD
  mode         says "raw" or "cooked", as the terminal now is
  sleep:MS
  hangup       closes the terminal
--redirect: letters of i, o, e: those are /dev/null, not the terminal.
"""
import fcntl, os, pty, select, signal, struct, sys, termios, time

def main():
    args = sys.argv[1:]
    size, redirect = (24, 80), ""
    while args and args[0] in ("--size", "--redirect"):
        if args[0] == "--size":
            size = tuple(int(x) for x in args[1].split("x"))
        else:
            redirect = args[1]
        args = args[2:]
    cut = args.index("--")
    return Session(args[cut + 1:], size, redirect).play(args[:cut])

class Session:
    def __init__(self, command, size, redirect):
        self.seen, self.at, self.status = b"", 0, None
        self.master, slave = pty.openpty()
        self.resize(*size)
        # The terminal stays there for `mode` when CMD has ended.
        self.slave = slave
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.master)
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            null = os.open("/dev/null", os.O_RDWR)
            for fd, letter in enumerate("ioe"):
                os.dup2(null if letter in redirect else slave, fd)
            os.closerange(3, 64)
            for s in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGPIPE):
                signal.signal(s, signal.SIG_DFL)
            os.execvp(command[0], command)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            try:
                self.seen += os.read(self.master, 65536)
            except OSError:
                return False
        return True

    def wait_for(self, text):
        end = time.monotonic() + 10
        while True:
            found = self.seen.find(text, self.at)
            if found >= 0:
                self.at = found + len(text)
                return True
            if time.monotonic() > end:
                sys.stderr.write("waited in vain for %r\n" % text)
                return False
            self.read(0.1)

    def type(self, data):
        end = time.monotonic() + 20
        while data and time.monotonic() < end:
            self.read(0)
            _, ready, _ = select.select([], [self.master], [], 0.1)
            if ready:
                data = data[os.write(self.master, data[:1024]):]

    def mode(self):
        flags = termios.tcgetattr(self.slave)
        sys.stderr.write("cooked\n" if flags[3] & termios.ICANON and flags[3] & termios.ECHO and flags[0] & termios.ICRNL else "raw\n")

    def step(self, name, value):
        if name == "wait":
            return self.wait_for(value)
        if name == "send":
            self.type(value)
        elif name == "paste":
            line = bytes(97 + i % 26 for i in range(63)) + b"\n"
            self.type((line * (int(value) // 64 + 1))[:int(value)])
        elif name == "resize":
            self.resize(*(int(x) for x in value.split(b"x")))
        elif name == "kill":
            os.kill(self.pid, getattr(signal, "SIG" + value.decode()))
        elif name == "mode":
            self.mode()
        elif name == "sleep":
            end = time.monotonic() + int(value) / 1000
            while time.monotonic() < end:
                self.read(0.05)
        elif name == "hangup":
            os.close(self.slave)
            os.close(self.master)
            self.master = None
        return True

    def finish(self):
        end = time.monotonic() + 15
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.master is not None and select.select([self.master], [], [], 0.05)[0]:
                    self.read(0)
                return status
            if self.master is not None:
                self.read(0.05)
            else:
                time.sleep(0.05)
        sys.stderr.write("it did not end\n")
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None

    def play(self, steps):
        good, after = True, []
        if "--end" in steps:
            cut = steps.index("--end")
            steps, after = steps[:cut], steps[cut + 1:]
        for s in steps:
            name, _, value = s.partition(":")
            good = good and self.step(name, value.encode("utf-8", "surrogateescape").decode("unicode_escape").encode("latin-1"))
        if not good:
            os.kill(self.pid, signal.SIGKILL)
        status = self.finish()
        for s in after:
            self.step(s, b"")
        sys.stdout.buffer.write(self.seen)
        if not good or status is None:
            return 99
        return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

sys.exit(main())
