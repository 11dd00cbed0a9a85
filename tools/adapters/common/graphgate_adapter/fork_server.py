"""Processes that are forked from one which has imported and warmed up (docs/executors.md).

The side that connects to the socket sends the three files of a process and its limit of memory, and gets
the number of a keeper. The keeper forks the process, tells how it ended, and ends all that has come
of it when the connection is closed.
"""

import array
import ctypes
import os
import resource
import select
import signal
import socket
import struct
import time

_CHILD_SUBREAPER, _DEATH_SIGNAL = 36, 1  # of prctl
_KEEPER_SECONDS = 5.0  # how long a keeper tries to end what it keeps


def thread_names():
    """The names of this process's threads, its first one included. None where the machine does not say."""
    names = []
    try:
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/comm", encoding="utf-8", errors="replace") as file:
                names.append(file.read().strip())
    except OSError:
        return None
    return names


def has_one_thread():
    """Whether a fork has all that this process has. False where the machine does not say."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def listen(path):
    """A socket at the path that nobody has connected to yet."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    return listener


def accept(listener, owned):
    """Forks a process for the next connection. Returns True in that process alone: its standard files
    are those that were sent. A connection that sends something else is closed.

    `owned`: numbers of files that no keeper is to hold.
    """
    connection, _ = listener.accept()
    with connection:
        files, limit = _receive(connection)
        is_server = bool(files) and _fork(connection, files, limit, [listener.fileno(), *owned])
        for file in files:
            os.close(file)
    if not is_server:
        _take_in()
    return is_server


def run_beside(work):
    """Does it in a process of its own, behind others that want the processor. Nobody learns how it ends.
    That process is ended with the group of this one."""
    if os.fork():
        return
    try:
        _prctl(_DEATH_SIGNAL, signal.SIGKILL)
        os.nice(5)
        for file in (0, 1):  # requests and answers are the parent's
            os.dup2(os.open(os.devnull, os.O_RDWR), file)
        work()
    finally:
        os._exit(0)


def _receive(connection):
    """The files, and the limit of address space in bytes; no file where that is not what comes."""
    expected = struct.calcsize("q")
    files = array.array("i")
    data, control, _, _ = connection.recvmsg(expected, socket.CMSG_SPACE(3 * files.itemsize))
    for level, kind, content in control:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(content[: len(content) - len(content) % files.itemsize])
    if len(data) == expected and len(files) == 3:
        return list(files), struct.unpack("q", data)[0]
    for file in files:
        os.close(file)
    return [], -1


def _take_in():
    """Takes in children that have ended, and returns their statuses by their numbers."""
    statuses = {}
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            statuses[ended[0]] = ended[1]
    except ChildProcessError:
        pass
    return statuses


def _prctl(what, value):
    if ctypes.CDLL(None).prctl(what, value, 0, 0, 0) != 0:
        raise OSError("prctl")


def _fork(connection, files, limit, owned):
    """True in the process that serves; its keeper never returns."""
    if os.fork():
        return False
    try:
        os.setpgid(0, 0)  # what ends the fork server's group is not for it
        _prctl(_CHILD_SUBREAPER, 1)
        if limit >= 0:
            most = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (limit, most))
        news, wakeup = os.pipe()
        os.set_blocking(wakeup, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        keeper = os.getpid()
        process = os.fork()
        if process == 0:
            _be_server(keeper, files, [news, wakeup])
            return True
        _keep(connection, process, [*files, *owned], news)
    except BaseException:  # of the machine: the connection ends, and tells no more
        pass
    os._exit(0)


def _be_server(keeper, files, owned):
    os.setpgid(0, 0)
    _prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != keeper:
        os._exit(0)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for target, file in enumerate(files):
        os.dup2(file, target)
    for file in owned:
        os.close(file)


def _keep(connection, process, files, news):
    """Tells its own number and how the process ends; ends all that is left when nobody listens."""
    for file in {0, 1, 2, *files}:
        os.close(file)
    is_over = False
    try:
        connection.sendall(struct.pack("i", os.getpid()))
        while True:
            status = _children_ended(process).get(process)
            if status is not None:
                is_over = True
                connection.sendall(struct.pack("i", status))
            ready, _, _ = select.select([connection, news], [], [])
            if news in ready:
                os.read(news, 4096)
            if connection in ready and not connection.recv(64):
                break
    except OSError:  # nobody listens any more
        pass
    _end_all(process, is_over)


def _children_ended(process):
    """As _take_in(). The group goes with its first process: while that is not taken in, no other
    group has its number."""
    try:
        ended = os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        ended = None
    if ended:
        _kill(-process)
    return _take_in()


def _kill(number):
    try:
        os.kill(number, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _end_all(process, is_over):
    """A process that is killed leaves its children to the keeper: so no tree is walked."""
    if not is_over:
        _kill(-process)
    end = time.monotonic() + _KEEPER_SECONDS
    while time.monotonic() < end:
        with open("/proc/thread-self/children", encoding="ascii") as children:
            for number in children.read().split():
                _kill(int(number))
        _take_in()
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        time.sleep(0.002)
