"""A copy of the tree to build and install in, so that tests which run make leave the tree and its build folder alone."""
import os
import shutil

# Of the build folder only what users make; the rest is large.
COPIED = {"release", "gen", "policies", "policyc", "unpickle", "upk-run", "libupk.a", "demo", "hidden", "guards", "python"}


def copy_tree(build, tree):
    """Copies the folder one is in to `tree`, which is made; what stands in `build` goes to its folder `build`."""
    top = os.getcwd()
    skip = {os.path.join(top, ".git"), os.path.realpath(build), os.path.join(top, "build")}
    shutil.copytree(top, tree, symlinks=True,
                    ignore=lambda folder, names: [n for n in names if os.path.realpath(os.path.join(folder, n)) in skip])
    os.mkdir(os.path.join(tree, "build"))
    for name in sorted(COPIED & set(os.listdir(build))):
        source, target = os.path.join(build, name), os.path.join(tree, "build", name)
        shutil.copytree(source, target) if os.path.isdir(source) else shutil.copy2(source, target)


def environment(**more):
    """This process's, without what a make that runs the test hands down."""
    kept = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "BUILD")}
    kept.update(LC_ALL="C.UTF-8", NO_COLOR="1", **more)
    return kept
