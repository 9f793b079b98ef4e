"""What make must know of a CPython to build modules for it; the interpreter that runs this is the one.

Modules of one version, debug builds apart, stand in one folder: BUILD/python/PY_TAG.
"""
import platform
import sys
import sysconfig


def tag():
    return platform.python_version() + getattr(sys, "abiflags", "")


def main():
    paths = sysconfig.get_paths()
    print("PY_TAG := " + tag())
    print("PY_SUFFIX := " + sysconfig.get_config_var("EXT_SUFFIX"))
    flags = ["-isystem " + path for path in sorted({paths["include"], paths["platinclude"]})]
    # Where the headers of a debug build are links to those of the other, gcc takes the pyconfig.h that stands beside those.
    if hasattr(sys, "gettotalrefcount"):
        flags.append("-DPy_DEBUG=1")
    print("PY_INCLUDE := " + " ".join(flags))


if __name__ == "__main__":
    main()
