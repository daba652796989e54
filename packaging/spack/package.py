"""Spack recipe. Spack's own repository does not contain xferbench, so copy this file into a repository of yours
(packages/xferbench/package.py) and build a checkout: spack dev-build --source-path /path/to/xferbench xferbench@main"""

from spack.package import *


class Xferbench(CMakePackage, CudaPackage):
    """Measures how fast data moves between host and NVIDIA GPU, and how well pipelines overlap copies with kernels.
    Compares each result with its limit, which is measured in the same run."""

    version("main")

    variant("mpi", default=True, description="The plug-in for runs under mpirun and srun")
    variant("python", default=True, description="Python and jsonschema, for xferbench-validate-results")

    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("fmt@9:", type="build")  # header-only
    depends_on("numactl")
    depends_on("liburing")
    depends_on("cuda@12.4:", when="+cuda")
    depends_on("mpi@3:", when="+mpi")
    depends_on("python@3.9:", type="run", when="+python")
    depends_on("py-jsonschema@4:", type="run", when="+python")

    generator("ninja")

    def cmake_args(self):
        # If no architecture is given, CMake builds for every major one that the toolkit supports.
        args = [
            self.define("BUILD_TESTING", False),
            self.define("XFERBENCH_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define("XFERBENCH_MPI", "ON" if self.spec.satisfies("+mpi") else "OFF"),
        ]
        chosen = self.spec.variants["cuda_arch"].value if self.spec.satisfies("+cuda") else ("none",)
        if "none" not in chosen:
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(chosen)))
        return args
