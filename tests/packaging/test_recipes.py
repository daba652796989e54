"""Recipes for Spack, conda, EasyBuild and Docker in a dry run: stand-ins for these tools record what the recipes ask
for, which must fit the build, and the Dockerfile must refer to existing files. The recipes are not built here."""

import pathlib
import re
import shutil
import subprocess
import sys
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPE = ROOT / "packaging" / "spack" / "package.py"
CONDA = ROOT / "packaging" / "conda" / "meta.yaml"
EASYBUILD = ROOT / "packaging" / "easybuild" / "xferbench.eb"
DOCKERFILE = ROOT / "packaging" / "docker" / "Dockerfile"
CMAKE = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")


class Spec:
    """A concretised Spack spec: enabled variants and CUDA architectures."""

    def __init__(self, on, architectures):
        self.on = on
        self.variants = {"cuda_arch": types.SimpleNamespace(value=architectures)}

    def satisfies(self, wanted):
        return wanted.removeprefix("+") in self.on


class Spack:
    """A stand-in for spack.package that records the recipe's declarations."""

    def __init__(self):
        self.versions, self.variants, self.dependencies = [], {"cuda"}, {}

    def module(self):
        class Package:
            def __init__(self, spec):
                self.spec = spec

            @staticmethod
            def define(name, value):
                kind, text = ("BOOL", "ON" if value else "OFF") if isinstance(value, bool) else ("STRING", value)
                return f"-D{name}:{kind}={text}"

        made = types.ModuleType("spack.package")
        made.CMakePackage, made.CudaPackage = type("CMakePackage", (Package,), {}), type("CudaPackage", (), {})
        made.version = lambda name, **_: self.versions.append(name)
        made.variant = lambda name, **_: self.variants.add(name)
        made.depends_on = lambda spec, when="", type=("build", "link"): self.dependencies.update({spec: (when, type)})
        made.generator = lambda name: None
        made.run_before = lambda phase, when="": lambda function: function
        return made


def loaded():
    """The recipe's class, and the Spack object with its declarations."""
    spack = Spack()
    sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), spack.module()
    names = {}
    exec(compile(RECIPE.read_text(encoding="utf-8"), str(RECIPE), "exec"), names)
    return names["Xferbench"], spack


class SpackRecipe(unittest.TestCase):
    def setUp(self):
        self.recipe, self.spack = loaded()

    def arguments(self, *on, architectures=("none",)):
        given = self.recipe(Spec(on, architectures)).cmake_args()
        return dict(re.fullmatch(r"-D(\w+):\w+=(.*)", one).groups() for one in given)

    def test_what_is_on_and_off(self):
        for variant, option in (("cuda", "XFERBENCH_CUDA"), ("mpi", "XFERBENCH_MPI")):
            self.assertEqual(self.arguments(variant)[option], "ON")
            self.assertEqual(self.arguments()[option], "OFF")

    def test_architectures(self):
        self.assertNotIn("CMAKE_CUDA_ARCHITECTURES", self.arguments("cuda"))
        chosen = self.arguments("cuda", architectures=("80", "90"))
        self.assertEqual(chosen["CMAKE_CUDA_ARCHITECTURES"], "80;90")
        self.assertNotIn("CMAKE_CUDA_ARCHITECTURES", self.arguments(architectures=("90",)))

    def test_every_option_is_one_of_the_build(self):
        cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        of_cmake = {"BUILD_TESTING", "CMAKE_CUDA_ARCHITECTURES"}
        for name in self.arguments("cuda", "mpi", architectures=("90",)).keys() - of_cmake:
            self.assertRegex(cmake, rf"(?:set|option)\({name} ")

    def test_every_condition_names_a_variant(self):
        self.assertEqual(self.spack.versions, ["main"])
        for dependency, (when, _) in self.spack.dependencies.items():
            if when:
                self.assertIn(when.removeprefix("+"), self.spack.variants, dependency)

    def test_versions_are_those_of_the_build(self):
        for file, pattern, dependency in (
            ("CMakeLists.txt", r"cmake_minimum_required\(VERSION ([\d.]+)\)", "cmake@{}:"),
            ("cmake/cuda.cmake", r"set\(xferbench_oldest_cuda ([\d.]+)\)", "cuda@{}:"),
            ("cmake/mpi.cmake", r"MPI_CXX_VERSION VERSION_GREATER_EQUAL (\d+)", "mpi@{}:"),
        ):
            (oldest,) = set(re.findall(pattern, (ROOT / file).read_text(encoding="utf-8")))
            self.assertIn(dependency.format(oldest), self.spack.dependencies)

    def test_what_cmake_looks_for_is_asked_for(self):
        names = {spec.partition("@")[0] for spec in self.spack.dependencies}
        cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8") + (ROOT / "cmake/fmt.cmake").read_text("utf-8")
        found = set(re.findall(r"find_package\((\w+) REQUIRED\)", cmake)) - {"Threads"}
        self.assertEqual(found, {"CLI11", "nlohmann_json", "fmt"})
        self.assertLessEqual({"cli11", "nlohmann-json", "fmt", "numactl", "liburing"}, names)


class Conda(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import jinja2
        import yaml

        def load_file_regex(load_file, regex_pattern, from_recipe_dir):
            folder = CONDA.parent if from_recipe_dir else ROOT
            return re.search(regex_pattern, (folder / load_file).read_text(encoding="utf-8"))

        rendered = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(CONDA.read_text("utf-8")).render(
            load_file_regex=load_file_regex, cuda_compiler_version="13.0",
            compiler=lambda language: f"{language}_compiler", stdlib=lambda language: f"{language}_stdlib",
        )
        cls.recipe = yaml.safe_load(rendered)

    def test_version_is_that_of_the_build(self):
        self.assertIn(f"project(xferbench VERSION {self.recipe['package']['version']} ", CMAKE)

    def test_asks_for_what_cmake_looks_for(self):
        needed = self.recipe["requirements"]
        self.assertIn(f"cmake >={re.search(r'cmake_minimum_required.VERSION ([0-9.]+)', CMAKE)[1]}", needed["build"])
        self.assertLessEqual({"cxx_compiler", "cuda_compiler", "ninja"}, set(needed["build"]))
        names = {one.split()[0] for one in needed["host"]}
        self.assertLessEqual({"cli11", "nlohmann_json", "fmt", "libnuma", "liburing", "openmpi"}, names)

    def test_script_and_files(self):
        script = "\n".join(self.recipe["build"]["script"])
        for name in set(re.findall(r"-D(XFERBENCH_\w+)=", script)):
            self.assertRegex(CMAKE, rf"(?:set|option)\({name} ")
        if shutil.which("shellcheck"):  # CMAKE_ARGS is of conda and several words
            command = ["shellcheck", "--shell=bash", "--exclude=SC2086,SC2154", "-"]
            said = subprocess.run(command, input=script, capture_output=True, text=True, check=False).stdout
            self.assertEqual(said, "")
        self.assertTrue((CONDA.parent / self.recipe["source"]["path"] / "CMakeLists.txt").is_file())
        for name in self.recipe["about"]["license_file"]:
            self.assertTrue((ROOT / name).is_file(), name)


class EasyBuild(unittest.TestCase):
    def setUp(self):
        self.config = {"SYSTEM": "system"}
        exec(compile(EASYBUILD.read_text(encoding="utf-8"), str(EASYBUILD), "exec"), self.config)

    def test_has_what_every_file_must_have(self):
        for name in ("name", "version", "homepage", "description", "toolchain", "moduleclass", "sanity_check_paths"):
            self.assertTrue(self.config[name], name)
        self.assertEqual(len(self.config["sources"]), len(self.config["checksums"]))
        self.assertLessEqual(max(map(len, EASYBUILD.read_text("utf-8").splitlines())), 120)

    def test_is_filled_in_by_a_release(self):
        script = (ROOT / "scripts/release").read_text(encoding="utf-8")
        for place in (self.config["version"], *self.config["checksums"]):
            self.assertIn(place, script)

    def test_asks_for_what_cmake_looks_for(self):
        found = {one[0]: one[1] for one in self.config["builddependencies"] + self.config["dependencies"]}
        self.assertLessEqual({"CMake", "Ninja", "CUDA", "CLI11", "fmt", "nlohmann_json", "numactl", "liburing"}, found.keys())
        for name, oldest in (("CMake", (3, 25)), ("fmt", (9,)), ("CUDA", (12, 4))):
            self.assertGreaterEqual(tuple(map(int, found[name].split("."))), oldest, name)
        for name in set(re.findall(r"-D(XFERBENCH_\w+)=", self.config["configopts"])):
            self.assertRegex(CMAKE, rf"(?:set|option)\({name} ")


class Docker(unittest.TestCase):
    def test_instructions_and_files(self):
        text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", DOCKERFILE.read_text(encoding="utf-8"), flags=re.MULTILINE))
        words = [line.split() for line in text.splitlines() if line.strip()]
        self.assertLessEqual({line[0] for line in words}, {"ARG", "FROM", "COPY", "RUN", "ENTRYPOINT"})
        scripts = re.findall(r"/src/(\S+)", text)
        self.assertEqual(scripts, ["scripts/package"])
        for script in scripts:
            self.assertTrue((ROOT / script).is_file(), script)


if __name__ == "__main__":
    unittest.main()
