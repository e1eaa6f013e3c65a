"""Compiling templates: the cache, and what OPA or usher refuses."""

from pathlib import Path

import pytest

import opa_server
from builders import policies
from usher import errors
from usher.extensions import installed_programs
from usher.extensions.gatekeeper import constraint_templates, library
from usher.extensions.gatekeeper.constraint_templates import Rego, Written


def test_without_opa_the_error_says_what_to_do() -> None:
    with pytest.raises(errors.InputError, match=r"the program was not found; .*Install opa .*--opa, or give a bundle"):
        library.make_compiler(Path("/nonexistent/opa"), cache=None)


def test_another_program_is_not_taken_for_opa(tmp_path: Path) -> None:
    program = tmp_path / "opa"
    program.write_text("#!/bin/sh\necho no; exit 3\n")
    program.chmod(0o755)

    with pytest.raises(errors.InputError, match="this is not OPA: no"):
        library.make_compiler(program, cache=None)


@pytest.fixture
def compiler(tmp_path: Path) -> library.Compiler:
    return library.make_compiler(opa_server.OPA, cache=tmp_path / "cache")


needs_opa = pytest.mark.skipif(
    not opa_server.OPA.is_file(), reason="not in .tools/bin: opa; build with: scripts/tools opa"
)
REGO = Rego(text=policies.REQUIRED_LABELS)


@pytest.mark.opa
@needs_opa
def test_a_template_is_compiled_once(compiler: library.Compiler, tmp_path: Path) -> None:
    module = compiler.compiled(REGO)
    without_opa = library.Compiler(opa=Path("/nonexistent"), version=compiler.version, cache=compiler.cache)

    assert without_opa.compiled(REGO) == module
    assert len(list((tmp_path / "cache").iterdir())) == 1


@pytest.mark.opa
@needs_opa
def test_a_damaged_file_of_the_cache_is_replaced(compiler: library.Compiler, tmp_path: Path) -> None:
    module = compiler.compiled(REGO)
    (file,) = (tmp_path / "cache").iterdir()
    file.write_bytes(file.read_bytes()[:1000])

    assert compiler.compiled(REGO) == module
    assert len(file.read_bytes()) > 1000


@pytest.mark.opa
@needs_opa
def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    compiler = library.make_compiler(opa_server.OPA, cache=tmp_path / "file" / "cache")

    assert compiler.compiled(REGO).startswith(b"\0asm")


@pytest.mark.opa
@needs_opa
@pytest.mark.parametrize(
    ("rego", "message"),
    [
        (Rego(text="package a\nviolation[{"), "template.rego:2"),
        (Rego(text="package a\nallow = true"), "it has no rule `violation`"),
        (Rego(text='package a\nviolation[{"msg": x}] { x := unknown_function(1) }'), "unknown_function"),
        (Rego(text='package a\nviolation[{"msg": "x"}] { true }', version="v1"), "template.rego:2"),
        (Rego(text='package a\nimport data.lib.b\nviolation[{"msg": "x"}] { b.c }', libraries=("x",)), "lib_0.rego:1"),
        (Rego(text="violation = 1"), "template.rego:1"),
        (
            Rego(text='package usher_gatekeeper\nresult = 1\nviolation[{"msg": "x"}] { true }'),
            "which usher uses itself",
        ),
    ],
)
def test_rego_that_opa_refuses_is_an_error_with_its_reason(
    compiler: library.Compiler, rego: Rego, message: str
) -> None:
    with pytest.raises(installed_programs.RegoError, match=message):
        compiler.compiled(rego)


@pytest.mark.opa
@needs_opa
def test_a_template_that_opa_accepts_and_cannot_compile_is_not_evaluated(tmp_path: Path) -> None:
    program = tmp_path / "opa"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = build ] && {{ echo "no such instruction" >&2; exit 1; }}\n{opa_server.OPA} "$@"\n'
    )
    program.chmod(0o755)
    template = constraint_templates.read_template(Written(value=policies.template(), source="t.yaml"))

    found = library.compile_template(template, library.make_compiler(program, cache=None))

    assert found.module is None
    assert found.template.not_evaluated == "OPA cannot compile it to WebAssembly: no such instruction"


@pytest.mark.opa
@needs_opa
def test_a_package_may_have_any_name_and_the_syntax_may_be_that_of_v1(compiler: library.Compiler) -> None:
    for package in ("a.b", 'a["x-y"]', "data.lib"):
        text = f'package {package}\nviolation contains {{"msg": "x"}} if true'
        assert compiler.compiled(Rego(text=text, version="v1"))
