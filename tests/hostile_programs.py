"""Programs that want to pass without an answer, to break out, or to take the judge down with them.

Each is asked for `uniq(numbers)`, the sorted list of the different numbers, and none computes it. In the order of the file:
forged protocol, tricks with values, tricks with the interpreter, ends, appetite, processes and signals, the system.
"""

FORGE = """
import json, os, sys
LINES = b"".join(b'{"i": %d, "returned": ["list", []]}\\n' % i for i in range(3)) + b'{"end": 3}\\n'
"""

PROGRAMS: dict[str, str] = {
    # Forged protocol
    "forged lines on every fd": FORGE
    + """
def uniq(numbers):
    for fd in range(256):
        try: os.write(fd, LINES)
        except OSError: pass
    return []
""",
    "forged lines while it loads": FORGE
    + """
for fd in range(3, 256):
    try: os.write(fd, LINES)
    except OSError: pass
def uniq(numbers): return []
""",
    "forged lines by reopening its fds": FORGE
    + """
def uniq(numbers):
    for pid in ("self", "1"):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                with open(f"/proc/{pid}/fd/{fd}", "wb", buffering=0) as out: out.write(LINES)
            except OSError: pass
    os._exit(0)
""",
    "a float beyond all floats": """
import os
def uniq(numbers):
    for fd in range(3, 256):
        try: os.write(fd, b'{"i": 0, "returned": ["float", "0x1p99999"]}\\n')
        except OSError: pass
    os._exit(0)
""",
    "an endless name for a fault": """
import os
for fd in range(3, 256):
    try: os.write(fd, b'{"load": {"raised": ["ValueError"], "said": "\\u001b[2J", "type": "' + b'x' * 2000000 + b'"}}\\n')
    except OSError: pass
os._exit(0)
""",
    "the end at once": """
import os
for fd in range(3, 256):
    try: os.write(fd, b'{"end": 3}\\n')
    except OSError: pass
os._exit(0)
""",
    "ends of every count": """
import os
def uniq(numbers):
    for fd in range(3, 256):
        for n in range(10):
            try: os.write(fd, b'{"end": %d}\\n' % n)
            except OSError: pass
    os._exit(0)
""",
    "all tests passed": """
import os, sys
print("ALL TESTS PASSED"); print('{"passed": true}')
def uniq(numbers):
    for fd in range(3, 256):
        try: os.write(fd, b'ALL TESTS PASSED\\n{"passed": true, "score": 1.0}\\n')
        except OSError: pass
    os._exit(0)
""",
    "observations of another shape": """
import os
def uniq(numbers):
    for line in (b'null', b'[]', b'{"i": 0}', b'{"i": 0, "returned": ["list", 5]}', b'{"i": 0, "returned": 1e999}', b'\\xff'):
        for fd in range(3, 256):
            try: os.write(fd, line + b'\\n')
            except OSError: pass
    os._exit(0)
""",
    "deeply nested JSON": """
import os
def uniq(numbers):
    for fd in range(3, 256):
        try: os.write(fd, b'{"i": 0, "returned": ' + b'[' * 50000 + b']' * 50000 + b'}\\n')
        except OSError: pass
    os._exit(0)
""",
    "a number of many digits in JSON": """
import os
def uniq(numbers):
    for fd in range(3, 256):
        try: os.write(fd, b'{"i": 0, "returned": ' + b'9' * 60000 + b'}\\n')
        except OSError: pass
    os._exit(0)
""",
    "patched json": """
import json
json.dumps = lambda *a, **k: '{"i": 0, "returned": ["list", []]}'
def uniq(numbers): return []
""",
    "patched encode": """
import __main__
__main__.encode = lambda value: {"anything": "equal"}
def uniq(numbers): return []
""",
    "patched observe": """
import __main__
__main__.observe = lambda step, *rest: {"returned": step["args"][0]}
def uniq(numbers): return numbers
""",
    "replaced modules": """
import sys, types
class Any(types.ModuleType):
    def __getattr__(self, name): return lambda *a, **k: "ok"
for name in ("json", "os", "builtins", "__main__"): sys.modules[name] = Any(name)
def uniq(numbers): return []
""",
    "an import hook": """
import sys
class Hook:
    def find_spec(self, name, path=None, target=None): raise SystemExit(0)
sys.meta_path.insert(0, Hook()); sys.modules.pop("json", None)
def uniq(numbers):
    import json
""",
    "hunting frames for what is expected": """
import gc, sys
def uniq(numbers):
    frame = sys._getframe()
    while frame is not None:
        for name, value in frame.f_locals.items():
            if "expect" in name or "wanted" in name: return value
        frame = frame.f_back
    for found in gc.get_objects():
        if isinstance(found, dict) and ("expected" in found or "wanted" in found): return found
""",
    "changed later inputs": """
import sys
def uniq(numbers):
    frame = sys._getframe()
    while frame is not None:
        if "job" in frame.f_locals:
            for step in frame.f_locals["job"]["steps"]: step["args"] = [["list", []]]
        frame = frame.f_back
    return numbers
""",
    "dropped later steps": """
import sys
def uniq(numbers):
    frame = sys._getframe()
    while frame is not None:
        if "job" in frame.f_locals: frame.f_locals["job"]["steps"].clear()
        frame = frame.f_back
    return numbers
""",
    # Tricks with values
    "equal to everything": """
class Same:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
def uniq(numbers): return Same()
""",
    "a list that is equal to everything": """
class Same(list):
    def __eq__(self, other): return True
    def __iter__(self): return iter([1, 2, 3])
    def __len__(self): return 3
def uniq(numbers): return Same()
""",
    "a list subclass": """
class Right(list): pass
def uniq(numbers): return Right(sorted(set(numbers)))
""",
    "int subclasses": """
class Int(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
def uniq(numbers): return [Int(n) for n in sorted(set(numbers))]
""",
    "a str subclass": """
class Text(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
def uniq(numbers): return Text("[1, 2, 3]")
""",
    "another __class__": """
class Liar:
    __class__ = list
    def __iter__(self): return iter([1, 2, 3])
def uniq(numbers): return Liar()
""",
    "a metaclass that lies": """
class Meta(type):
    __name__ = "list"
    def __instancecheck__(cls, other): return True
    def __eq__(cls, other): return True
    def __hash__(cls): return hash(list)
class Liar(metaclass=Meta): pass
def uniq(numbers): return Liar()
""",
    "NaN": "def uniq(numbers): return [float('nan')] * 3",
    "minus zero": "def uniq(numbers): return [-0.0]",
    "floats for ints": "def uniq(numbers): return [float(n) for n in sorted(set(numbers))]",
    "True for 1": "def uniq(numbers): return [True if n == 1 else n for n in sorted(set(numbers))]",
    "a huge int": "def uniq(numbers): return 1 << 4_000_000",
    "bytes": "def uniq(numbers): return bytes(sorted({abs(n) for n in numbers}))",
    "a bytearray": "def uniq(numbers): return bytearray(sorted({abs(n) for n in numbers}))",
    "a tuple": "def uniq(numbers): return tuple(sorted(set(numbers)))",
    "a set": "def uniq(numbers): return set(numbers)",
    "a generator": "def uniq(numbers): yield from sorted(set(numbers))",
    "a coroutine": "async def uniq(numbers): return sorted(set(numbers))",
    "a cyclic list": "def uniq(numbers):\n    out = []\n    out.append(out)\n    return out",
    "a deeply nested list": "def uniq(numbers):\n    out = []\n    for _ in range(100_000): out = [out]\n    return out",
    "a billion laughs": "def uniq(numbers):\n    out = ['ha'] * 10\n    for _ in range(50): out = [out] * 10\n    return out",
    "lone surrogates": "def uniq(numbers): return ['\\udc80' * 100]",
    "an exception of a name with surrogates": "def uniq(numbers): raise ValueError('\\udc80\\ud800')",
    "an exception that is hostile to read": """
class Bad(Exception):
    args = property(lambda self: 1 / 0)
    def __str__(self): raise SystemExit(0)
    __repr__ = __str__
def uniq(numbers): raise Bad()
""",
    "an exception whose class lies": """
class Meta(type):
    __mro__ = property(lambda cls: 1 / 0)
    __name__ = property(lambda cls: 1 / 0)
class Bad(BaseException, metaclass=Meta): pass
def uniq(numbers): raise Bad()
""",
    "a BaseException": "class Out(BaseException): pass\ndef uniq(numbers): raise Out",
    # Tricks with the interpreter
    "patched builtins": """
import builtins
builtins.type = lambda value: list
builtins.sorted = builtins.set = lambda *a, **k: []
builtins.isinstance = lambda *a: True
def uniq(numbers): return sorted(numbers)
""",
    "a trace": """
import sys
def trace(frame, event, arg):
    if event == "return" and "told" in frame.f_locals: frame.f_locals["told"] = {"returned": True}
    return trace
sys.settrace(trace)
def uniq(numbers): return numbers
""",
    "atexit": """
import atexit, os
def forge():
    for fd in range(3, 256):
        try: os.write(fd, b'{"i": 0, "returned": true}\\n{"end": 1}\\n')
        except OSError: pass
atexit.register(forge)
def uniq(numbers): raise SystemExit(0)
""",
    "__del__": """
import os
class Late:
    def __del__(self): os._exit(0)
def uniq(numbers): return [Late()]
""",
    "the entry is no function": "uniq = [1, 2, 3]",
    "no entry": "def unique(numbers): return numbers",
    "not Python": "Here is the solution:\n```python\n",
    "a null byte": "def uniq(numbers): return []\n\0",
    "deeply nested source": "def uniq(numbers): return " + "(" * 5000 + ")" * 5000,
    # Ends
    "sys.exit": "import sys\ndef uniq(numbers): sys.exit(0)",
    "sys.exit while it loads": "import sys\nsys.exit(0)",
    "os._exit(0)": "import os\ndef uniq(numbers): os._exit(0)",
    "os._exit(0) while it loads": "import os\nos._exit(0)",
    "exit as if killed": "import os\ndef uniq(numbers): os._exit(137)",
    "closed fds": "import os\nos.closerange(0, 256)\ndef uniq(numbers): return []",
    "closed fds, and running on": """
import os, time
def uniq(numbers):
    os.closerange(0, 256)
    time.sleep(10**6)
""",
    "deep recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef uniq(numbers): return uniq(numbers)",
    "deep recursion in C": """
import sys
sys.setrecursionlimit(10**9)
def uniq(numbers):
    out = []
    for _ in range(10**6): out = [out]
    return [repr(out)]
""",
    "a segmentation fault": "import ctypes\ndef uniq(numbers): return ctypes.string_at(0)",
    "abort": "import os\ndef uniq(numbers): os.abort()",
    # Appetite
    "a busy loop": "def uniq(numbers):\n    while True: pass",
    "a long sleep": "import time\ndef uniq(numbers): time.sleep(10**6)",
    "a loop that catches all": """
def uniq(numbers):
    while True:
        try:
            while True: pass
        except BaseException: pass
""",
    "a slow power": "def uniq(numbers): return [9 ** 9 ** 9]",
    "a slow regular expression": "import re\ndef uniq(numbers): return re.match('(a+)+$', 'a' * 60 + 'b')",
    "memory": "def uniq(numbers):\n    out = []\n    while True: out.append(bytes(range(256)) * 40_000)",
    "one huge allocation": "def uniq(numbers): return bytearray(10**15)",
    "memory in one list": "def uniq(numbers): return [0] * 10**9",
    "memory of a child": """
import os, time
def uniq(numbers):
    if os.fork() == 0:
        out = []
        while True: out.append(bytes(range(256)) * 40_000)
    time.sleep(2)
    return []
""",
    "a full /tmp": """
def uniq(numbers):
    n = 0
    while True:
        with open(f"/tmp/{n}", "wb") as out: out.write(bytes(2**24))
        n += 1
""",
    "a zip bomb": """
import io, zlib
def uniq(numbers):
    squeezed = zlib.compress(bytes(2**27)); return [zlib.decompress(squeezed) for _ in range(100)]
""",
    "many small files": """
import os
def uniq(numbers):
    for n in range(10**7): os.close(os.open(f"/tmp/{n}", os.O_CREAT))
""",
    "a large answer": "def uniq(numbers): return ['x' * 2**24]",
    "a long answer": "def uniq(numbers): return list(range(10**6))",
    "endless output on every fd": """
import os
def uniq(numbers):
    data = b"x" * 65535 + b"\\n"
    while True:
        for fd in range(256):
            try: os.write(fd, data)
            except OSError: pass
""",
    "one endless line": """
import os
def uniq(numbers):
    while True:
        for fd in range(3, 8):
            try: os.write(fd, b"[" * 65536)
            except OSError: pass
""",
    "endless valid lines": """
import os
def uniq(numbers):
    n = 0
    while True:
        for fd in range(3, 8):
            try: os.write(fd, b'{"i": %d, "returned": null}\\n' % n)
            except OSError: pass
        n += 1
""",
    "endless print": "def uniq(numbers):\n    while True: print('x' * 1000)",
    # Processes and signals
    "a fork bomb": "import os\ndef uniq(numbers):\n    while True:\n        try: os.fork()\n        except OSError: pass",
    "a thread bomb": """
import threading, time
def uniq(numbers):
    while True:
        try: threading.Thread(target=time.sleep, args=(10**6,)).start()
        except RuntimeError: pass
""",
    "a process pool": """
import multiprocessing
def work(n):
    while True: pass
def uniq(numbers): return multiprocessing.get_context("fork").Pool(16).map(work, range(16))
""",
    "ignored signals": """
import signal, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
def uniq(numbers):
    while True: time.sleep(1)
""",
    "daemons that keep the output open": """
import os, time
def uniq(numbers):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True: time.sleep(1)
        os._exit(0)
    os._exit(0)
""",
    "a signal to process 1": "import os, signal\ndef uniq(numbers): os.kill(1, signal.SIGKILL); return []",
    "kill(-1)": "import os, signal\ndef uniq(numbers): os.kill(-1, signal.SIGKILL); return []",
    "stops itself": "import os, signal\ndef uniq(numbers): os.kill(os.getpid(), signal.SIGSTOP); return []",
    "a child kills its parent": """
import os, signal, time
def uniq(numbers):
    if os.fork() == 0:
        for number in range(1, 65):
            try: os.kill(1, number)
            except OSError: pass
        os._exit(0)
    time.sleep(1)
    return []
""",
    "raised limits": """
import resource
def uniq(numbers):
    for name in dir(resource):
        if name.startswith("RLIMIT_"):
            try: resource.setrlimit(getattr(resource, name), (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            except (OSError, ValueError): pass
    return [0] * 10**9
""",
    "lowered limits": """
import resource
def uniq(numbers):
    for name in dir(resource):
        if name.startswith("RLIMIT_"):
            try: resource.setrlimit(getattr(resource, name), (0, 0))
            except (OSError, ValueError): pass
    return [0] * 1000
""",
    "another program": "import os, sys\ndef uniq(numbers): os.execv(sys.executable, ['python', '-c', 'print(1)'])",
    "a shell": "import subprocess\ndef uniq(numbers): return subprocess.check_output(['sh', '-c', 'id; cat /etc/shadow'])",
    "a program of its own in /tmp": """
import os, shutil, sys
def uniq(numbers):
    shutil.copy(sys.executable, "/tmp/own"); os.chmod("/tmp/own", 0o6755); os.execv("/tmp/own", ["own", "-c", "print(1)"])
""",
    # The system
    "reads its parent's memory": """
import os
def uniq(numbers):
    found = []
    parent = os.getpid()
    if os.fork() == 0:
        with open(f"/proc/{parent}/maps") as maps, open(f"/proc/{parent}/mem", "rb", 0) as memory:
            for line in maps:
                if "rw" in line:
                    low, high = (int(x, 16) for x in line.split()[0].split("-"))
                    memory.seek(low); found.append(b"expected" in memory.read(min(high - low, 2**20)))
        os._exit(0)
    os.wait()
    return found
""",
    "ptrace": "import ctypes\ndef uniq(numbers): return [ctypes.CDLL(None).ptrace(16, 1, 0, 0)]",
    "reads the system": """
import glob
def uniq(numbers):
    out = []
    for path in ["/etc/shadow", "/proc/1/environ", "/proc/kcore", "/var/run/docker.sock", *glob.glob("/proc/*/cmdline")]:
        try: out.append(open(path, "rb").read(1000))
        except OSError as e: out.append(str(e))
    return out
""",
    "writes to the system": """
def uniq(numbers):
    done = []
    for path in ("/x", "/sandbox/inside.py", "/etc/passwd", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/dev/x"):
        try: open(path, "w").write("x"); done.append(path)
        except OSError: pass
    return done
""",
    "links": """
import os
def uniq(numbers):
    os.symlink("/etc/shadow", "/tmp/result"); os.symlink("/proc/1/root", "/tmp/top")
    return [open("/tmp/top/tmp/result").read()]
""",
    "chmod and chown": """
import os
def uniq(numbers):
    for path in ("/sandbox/inside.py", "/", "/tmp", "/usr/local/bin/python3"):
        try: os.chmod(path, 0o7777)
        except OSError: pass
        try: os.chown(path, 0, 0)
        except OSError: pass
    os.setuid(0)
""",
    "the network": """
import socket
def uniq(numbers):
    for address in (("1.1.1.1", 53), ("127.0.0.1", 2375), ("169.254.169.254", 80), ("172.17.0.1", 22)):
        try: socket.create_connection(address, 2); return ["connected"]
        except OSError: pass
    return [socket.getaddrinfo("example.org", 80)]
""",
    "a server": """
import socket
def uniq(numbers):
    server = socket.create_server(("127.0.0.1", 0)); server.settimeout(1); return [server.accept()]
""",
    "namespaces and mounts": """
import ctypes
def uniq(numbers):
    libc = ctypes.CDLL(None)
    return [libc.unshare(0x10000000), libc.mount(b"none", b"/tmp", b"tmpfs", 0, 0), libc.chroot(b"/tmp"), libc.setuid(0)]
""",
}

ENDS: dict[str, set[str]] = {
    "forged lines while it loads": {"garbled", "finished"},
    "ends of every count": {"garbled"},
    "the end at once": {"garbled"},
    "deeply nested JSON": {"garbled"},
    "not Python": {"load_failed"},
    "no entry": {"load_failed"},
    "sys.exit while it loads": {"load_failed"},
    "os._exit(0)": {"crashed"},
    "exit as if killed": {"crashed"},
    "a segmentation fault": {"crashed"},
    "a busy loop": {"timeout"},
    "a long sleep": {"timeout"},
    "ignored signals": {"timeout"},
    "memory": {"memory"},
    "memory in one list": {"memory"},
    "a large answer": {"flooded"},
    "one endless line": {"flooded"},
    "an exception that is hostile to read": {"finished"},
    "a cyclic list": {"finished"},
    "a billion laughs": {"finished", "timeout"},
}
"""How some of them must end; how the others do depends on the kernel or does not matter."""
