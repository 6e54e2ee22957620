"""The configuration file: its groups as specs, and one clear line for each error."""

from __future__ import annotations

import pytest

from gfsmith.build import config
from gfsmith.codes import parity_matrix
from gfsmith.field import Field
from gfsmith.field.matrix import bit_matrix
from gfsmith.kernel.spec import Operation, SpecError, Store, Technique
from tests.support.paths import ROOT
from tests.support.specs import make_program

GOOD = '[[kernels]]\noperation = "dot"\nshapes = ["nx1"]\n'


def test_a_group_for_packets_has_the_bit_matrix() -> None:
    text = (
        '[generator]\nisas = ["avx2", "scalar"]\n[[kernels]]\noperation = "dot"\ncode = "cauchy_good"\n'
        'packets = true\noutputs = 2\nshapes = ["6x3"]\n'
    )
    first, second = config.specs(config.parse(text, "x.toml"), "x.toml")
    assert (first.inputs, first.outputs, second.inputs, second.outputs) == (48, 16, 48, 8)
    assert first.baked is not None and second.baked is not None
    matrix = bit_matrix(Field(), parity_matrix("cauchy_good", 6, 3))
    assert first.baked.rows + second.baked.rows == matrix
    assert (first.technique, first.baked.packets, second.baked.first) == (Technique.PLAIN, True, 16)


def test_one_kernel_has_up_to_128_parities() -> None:
    text = (
        '[generator]\nisas = ["gfni_avx512", "scalar"]\n[[kernels]]\noperation = "dot"\ncode = "lch"\n'
        'isas = ["gfni_avx512"]\nshapes = ["64x128"]\noutputs = {}\n'
    )
    (whole,) = config.specs(config.parse(text.format(128), "x.toml"), "x.toml")
    assert (whole.inputs, whole.outputs) == (64, 128)
    with pytest.raises(config.ConfigError, match="128"):
        config.parse(text.format(129), "x.toml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = ", "not valid TOML"),
        ("", "kernels: missing; at least one table [[kernels]] is needed"),
        ("kernels = []", "kernels: List should have at least 1"),
        (GOOD + "unrol = 2\n", "kernels[0].unrol: no such key; allowed: operation, "),
        ("[generator]\nisa = []\n" + GOOD, "generator.isa: no such key; allowed: polynomial, "),
        (GOOD + "[kernel]\n", "kernel: no such key; allowed: generator, kernels, adaptive"),
        (GOOD.replace("[[kernels]]", "[[kernel]]"), "kernel: no such key; allowed: generator, kernels, "),
        (GOOD.replace("shapes", "shape"), "kernels[0].shape: no such key; allowed: operation, shapes, "),
        (
            GOOD.replace("[[kernels]]", "[kernels]"),
            "kernels: not a list of tables; allowed: tables that begin",
        ),
        (GOOD + 'isas = "avx2"\n', 'kernels[0].isas: not a list; allowed: a list, such as ["avx2"]'),
        (GOOD + "[adaptive]\noutputs = 4\n", "adaptive.outputs: not a list; allowed: a list, such as [4]"),
        (GOOD + 'isas = ["avx9"]\n', "kernels[0].isas: 'avx9' is not an instruction set; allowed:"),
        (
            GOOD.replace("dot", "dott"),
            "kernels[0].operation: 'dott'; allowed: dot, mad, mul, xor, horner",
        ),
        (GOOD.replace("nx1", "4+2"), "kernels[0].shapes: '4+2' is not a shape"),
        (GOOD + 'unroll = "many"\n', "kernels[0].unroll: "),
        (GOOD + "unroll = 0\n", "kernels[0].unroll: Input should be greater than or equal to 1"),
        ("[generator]\npolynomial = 0x100\n" + GOOD, "polynomial 0x100 is reducible"),
        (
            "[generator]\nprefix = '9x'\n" + GOOD,
            "generator.prefix: prefix '9x' is not a C identifier, such as",
        ),
        ("[generator]\noutput = ''\n" + GOOD, "generator.output: '' is empty; allowed: a folder, such as"),
        ("[generator]\nisas = []\n" + GOOD, "generator.isas: names no instruction set; allowed: one or more"),
        ("[generator]\nprefix = 7\n" + GOOD, "generator.prefix: Input should be a valid string"),
        (GOOD + "width = 128\n", "kernels[0].width: Input should be 'auto', 256 or 512"),
        (
            GOOD + 'width = 256\nisas = ["avx2"]\n',
            "kernels[0] (nx1, avx2): width = 256; avx2 has no such choice; "
            "allowed: 512 or 256 on gfni_avx512, 512 or 256 on avx512",
        ),
        (GOOD + 'width = 512\nisas = ["gfni_sse"]\n', "width = 512; gfni_sse has no such choice"),
        (GOOD + GOOD, "gfs_dot_nx1__gfni_avx512_u4_steps is listed twice"),
        (GOOD.replace("nx1", "nx99"), ""),
        (GOOD + "packets = true\n", "only kernels for a code work on packets"),
        (
            GOOD.replace("nx1", "4x2") + 'code = "cauchy"\npackets = true\ntechnique = "nibble"\n',
            "allow no other",
        ),
        (GOOD + 'code = "minoi"\n', "kernels[0].code: code 'minoi' is unknown; allowed: vandermonde, cauchy"),
        (
            GOOD.replace("nx1", "22x4") + 'code = "vandermonde"\n',
            "not MDS: losing shards 0, 10, 21, 24 cannot",
        ),
        (GOOD.replace("nx1", "4x3") + 'code = "md"\n', "raid6 has no shape 4+3; allowed: k >= 1, m = 2"),
        (
            GOOD.replace("nx1", "4x2") + 'code = "cauchy"\npolynomial = 0x11b\n',
            "polynomial = 0x11b; codes are over 0x11d",
        ),
    ],
)
def test_bad_configurations_get_one_line(text: str, words: str) -> None:
    with pytest.raises((config.ConfigError, SpecError)) as error:
        for spec in config.specs(config.parse(text, "my.toml"), "my.toml"):
            make_program(spec)
    assert "\n" not in str(error.value)
    assert words in str(error.value)
    if isinstance(error.value, config.ConfigError):
        assert str(error.value).startswith("my.toml: ")


def test_a_group_can_name_a_part_of_the_sets() -> None:
    text = '[generator]\nisas = ["avx2", "scalar"]\n' + GOOD + 'isas = ["avx2", "sse"]\n'
    found = config.specs(config.parse(text, "my.toml"), "my.toml")
    assert [spec.isa.name for spec in found] == ["avx2"]


def test_a_group_can_choose_the_width_of_vectors() -> None:
    text = '[generator]\nisas = ["gfni_avx512", "avx512"]\n' + GOOD + GOOD + "width = 256\n"
    found = config.specs(config.parse(text, "my.toml"), "my.toml")
    assert [(spec.isa.name, spec.isa.width) for spec in found] == [
        (name, width) for name in ("gfni_avx512", "avx512") for width in (512, 256)
    ]


def test_codes_stay_over_their_field() -> None:
    """With any polynomial of the build, and under the family's name."""
    text = "[generator]\npolynomial = 0x11b\n" + GOOD.replace("nx1", "4x2") + 'code = "minio"\n'
    for spec in config.specs(config.parse(text, "my.toml"), "my.toml"):
        assert spec.field.polynomial == 0x11D
        assert spec.baked is not None and spec.baked.code == "backblaze"


@pytest.mark.parametrize("isa", ["gfni_avx512", "gfni_avx2", "avx512", "avx2"])
def test_fixed_shapes_of_the_default_set_have_kernels_for_memory(isa: str) -> None:
    """From memory a kernel for any number of sources is slower (docs/batches.md)."""
    loaded = config.load(ROOT / "gfsmith.toml")
    fixed = [
        spec
        for spec in config.specs(loaded, "gfsmith.toml")
        if (spec.isa.name, spec.operation) == (isa, Operation.DOT)
        and spec.inputs is not None
        and spec.baked is None
        and spec.technique not in (Technique.MULB, Technique.ISAL)
    ]
    cached, streaming, pipelined = (
        {(spec.inputs, spec.outputs) for spec in fixed if (spec.store, spec.pipelined) == kind}
        for kind in ((Store.TEMPORAL, False), (Store.STREAMING, False), (Store.STREAMING, True))
    )
    assert cached >= {(10, 4), (6, 3)}
    assert cached == streaming == pipelined
