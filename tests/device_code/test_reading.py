"""The parsers of reading.py, which test_device_code.py relies on, on snippets."""

import unittest

from reading import Function, functions, resources, short_names


class Ptx(unittest.TestCase):
    def test_finds_kernels_and_functions_and_their_instructions(self):
        first, helper, second = functions("""
            .version 9.0
            .target sm_90
              // .globl  first
            .visible .entry first(
              .param .u64 first_param_0
            )
            .maxntid 256
            {
              .reg .pred %p<2>;
              ld.param.u64 %rd1, [first_param_0];
            $L__BB0_1:
              @%p1 bra $L__BB0_1;
              @!%p1	bra	$L__BB0_1;
              ret;
            }
            .func (.param .b32 func_retval0) helper(
              .param .b32 helper_param_0
            )
            { ret; }
            .weak .entry second() { exit; }""")
        self.assertEqual(first, Function("first", True, ["ld.param.u64", "bra", "bra", "ret"]))
        self.assertEqual(helper, Function("helper", False, ["ret"]))
        self.assertEqual(second, Function("second", True, ["exit"]))

    def test_braces_may_be_scopes_or_operands(self):
        tensor = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        (kernel,) = functions(f""".entry k() {{
            // begin inline asm
            {{
            .reg .pred ended;
            mbarrier.try_wait.parity.shared::cta.b64 ended, [%r1], %r2;
            }}
            // end inline asm
            ld.global.v2.f32 {{%f1, %f2}}, [%rd1];
            {tensor} [%r1], [%rd1, {{%r2, %r3}}], [%r4];
            {{ .param .b32 param0; call.uni helper, (param0); }}
            ret;
          }}""")
        wait = "mbarrier.try_wait.parity.shared::cta.b64"
        self.assertEqual(kernel.opcodes, [wait, "ld.global.v2.f32", tensor, "call.uni", "ret"])

    def test_what_only_looks_like_an_instruction_is_none(self):
        (kernel,) = functions("""
            .extern .func (.param .b32 func_retval0) cp.async;
            .global .align 1 .b8 text[3] = {99, 112, 0};
            .entry k() {
              // cp.async.cg.shared.global [%r1], [%rd1], 16;
              /* mbarrier.try_wait
                 cp.async; */
              .pragma "cp.async; } nounroll";
              mov.b32 %r1, cp.async;
              cp.asynchronous %r1;
              ret;
            }""")
        self.assertEqual(kernel.opcodes, ["mov.b32", "cp.asynchronous", "ret"])
        self.assertFalse(kernel.has("cp.async"))
        self.assertFalse(kernel.has("mbarrier"))

    def test_instructions_are_found_by_their_first_parts(self):
        function = Function("k", True, ["cp.async.bulk.global.shared::cta.bulk_group"])
        for there in (
            "cp.async",
            "cp.async.bulk.global.shared",
            "cp.async.bulk.global.shared::cta",
            "cp.async.ca|cp.async.bulk",
        ):
            self.assertTrue(function.has(there), there)
        for not_there in ("cp.async.bu", "async.bulk", "cp.async.ca|cp.async.cg"):
            self.assertFalse(function.has(not_there), not_there)
        self.assertFalse(Function("k", True).has("ret"))

    def test_a_file_may_have_no_functions(self):
        self.assertEqual(functions(".version 9.0\n.target sm_90\n"), [])

    def test_text_that_ends_too_early_is_an_error(self):
        for broken in (".entry k() { ret;", ".entry k() { ld.global.v2.f32 {%f1, %f2"):
            self.assertRaises(ValueError, functions, broken)


KERNEL = "ptxas info : Compiling entry function 'k' for 'sm_90'\n"
PROPERTIES = "ptxas info : Function properties for k\n"
SPILLS = "24 bytes stack frame, 16 bytes spill stores, 8 bytes spill loads\n"
USED = "ptxas info : Used 255 registers, used 1 barriers, 24 bytes cumulative stack size, 1024 bytes smem\n"


class Report(unittest.TestCase):
    def test_has_what_a_kernel_takes(self):
        next_one = (KERNEL + PROPERTIES).replace("'k'", "'next'").replace("for k", "for next")
        plain = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nUsed 8 registers, 368 bytes cmem[0]\n"
        first, second = resources(KERNEL + PROPERTIES + SPILLS + USED + next_one + plain)
        self.assertTrue(first.is_kernel)
        self.assertEqual((first.name, first.registers, first.barriers, first.shared), ("k", 255, 1, 1024))
        self.assertEqual((first.stack, first.spill_stores, first.spill_loads), (24, 16, 8))
        self.assertEqual((second.name, second.registers, second.barriers, second.shared), ("next", 8, 0, 0))

    def test_a_functions_spills_are_its_own(self):
        kernel, helper = resources(
            KERNEL + PROPERTIES + SPILLS.replace("16", "0").replace("8", "0") + USED + PROPERTIES[:-2] + "helper\n" + SPILLS
        )
        self.assertEqual((kernel.spill_stores, kernel.spill_loads), (0, 0))
        self.assertEqual((helper.name, helper.is_kernel, helper.spill_stores), ("helper", False, 16))

    def test_what_is_missing_is_an_error_and_not_zero(self):
        resources(KERNEL + PROPERTIES + SPILLS + USED)
        moved = SPILLS.replace("spill stores", "moved")
        for lines in (
            (KERNEL,),
            (KERNEL, PROPERTIES, USED),
            (KERNEL, PROPERTIES, SPILLS),
            (SPILLS,),
            (USED,),
            (KERNEL, PROPERTIES, moved, USED),
        ):
            self.assertRaises(ValueError, resources, "".join(lines))


class ShortNames(unittest.TestCase):
    def test_are_what_the_source_calls_a_kernel(self):
        names = {
            "_ZN9xferbench1fIfLj4EEEvi": "f<float, 4u>",
            "_ZN9xferbench7kernels12_GLOBAL__N_15countEPm": "count",
            "_ZN9xferbench7kernels40_GLOBAL__N__2cffda3a_8_chase_cu_ac7624aa5chaseEPKNS0_9ChaseLineE": "chase",
            "_ZN9xferbench12_GLOBAL__N_11fINS_4StepELNS_4KindE2ELb1EEEvNS_4WorkE": "f<Step, (Kind)2, true>",
            "__nv_static_34__a4e77fba_9_dynpar_cu_15650319__ZN9xferbench7kernels12_GLOBAL__N_15childEPi": "child",
            "_Z1fv": "f",
            "f": "f",
        }
        self.assertEqual(short_names(names), list(names.values()))


if __name__ == "__main__":
    unittest.main()
