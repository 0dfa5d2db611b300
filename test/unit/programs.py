"""The format of unit tests: each program that kvc_add_unit_test() made is one
test, which passes when it exits with 0.

A module of its own, because lit sends formats to its workers by name."""
import os

import lit.formats
import lit.Test
import lit.util


class Programs(lit.formats.TestFormat):
    def getTestsInDirectory(self, suite, path_in_suite, lit_config, local):
        folder = suite.getExecPath(path_in_suite)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            program = os.path.join(folder, name)
            # What an earlier build left behind is no test of this one.
            source = os.path.join(suite.getSourcePath(path_in_suite), name + ".cpp")
            if name.endswith("Test") and os.path.exists(source):
                yield lit.Test.Test(suite, path_in_suite + (name,), local)

    def execute(self, test, lit_config):
        with open(test.getExecPath() + ".args") as lines:
            arguments = lines.read().splitlines()
        try:
            out, err, code = lit.util.executeCommand(
                [test.getExecPath()] + arguments,
                env=test.config.environment,
                cwd=os.path.dirname(test.getExecPath()),
                timeout=lit_config.maxIndividualTestTime,
            )
        except lit.util.ExecuteCommandTimeoutException as timeout:
            return lit.Test.TIMEOUT, timeout.out + timeout.err
        result = lit.Test.PASS if code == 0 else lit.Test.FAIL
        return result, f"exit {code}\n{out}{err}"
