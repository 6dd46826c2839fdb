"""Machines and their domains."""

import polars
import pytest
import schedscape


def test_a_machine_is_read_from_what_the_command_takes(tmp_path):
    machine = schedscape.Machine("power9-big-core")
    assert (machine.name, machine.cpus, machine.online) == ("power9-big-core", 16, list(range(16)))
    assert "small core" in machine.tree() and str(machine) == machine.tree()
    assert machine._repr_svg_().startswith("<svg") and machine._repr_svg_() == machine.svg()
    guest = schedscape.Machine("qemu:-M virt -smp 8,clusters=2,cores=4")
    assert guest.cpus == 8 and guest.release is None
    xml = tmp_path / "machine.xml"
    xml.write_text(guest.hwloc())
    assert schedscape.Machine(xml).cpus == 8


def test_a_machine_changes_into_another():
    machine = schedscape.Machine("power9-big-core")
    assert len(machine.with_smt(4).online) == 8
    assert machine.with_online("0-3").online == [0, 1, 2, 3]
    with pytest.raises(schedscape.Error) as caught:
        machine.with_smt(99)
    assert (caught.value.field, caught.value.found) == ("smt", "99")
    with pytest.raises(schedscape.Error, match="online"):
        machine.with_online("0-x")


def test_constants_are_a_table_with_their_provenance():
    constants = polars.DataFrame(schedscape.Machine("power9-big-core").constants())
    assert constants.columns == [
        *["name", "value", "unit", "mark", "source"],
        *["low", "high", "range_source"],
    ]
    assert constants.filter(polars.col("low") > polars.col("value")).is_empty()
    assert constants.filter(polars.col("high") < polars.col("value")).is_empty()
    assert set(constants["mark"]) <= {"measured", "published", "calibrated", "assumed"}
    assert constants.filter(polars.col("name") == "nominal_khz")["unit"].to_list() == ["kHz"]


def test_what_is_no_machine_is_refused():
    with pytest.raises(schedscape.Error) as caught:
        schedscape.Machine("no-such-machine")
    error = caught.value
    assert error.file is None and error.field == "machine `no-such-machine`"
    assert error.found == "neither a name of the catalog nor a path"
    assert str(error) == f"{error.field}: found {error.found}, expected {error.expected}"


def test_every_machine_of_the_catalog_has_domains():
    for name in schedscape.catalog():
        assert "domain-0" in schedscape.domains(name, "6.12").log()


def test_mechanisms_change_domains():
    machine = schedscape.Machine("power9-big-core")
    plain = schedscape.domains(machine, "4.18")
    small = schedscape.domains(machine, "4.18", {"small-core-smt": True})
    assert "CPU0 attaching sched-domain(s):" in plain.log()
    assert plain.log() != small.log() and plain.tree() != small.tree()
    assert small.to_dict() and small.debugfs()
    assert "small-core-smt" in schedscape.mechanisms()
    with pytest.raises(schedscape.Error) as caught:
        schedscape.domains(machine, "4.18", {"nonsense": True})
    assert caught.value.field == "mechanism" and "small-core-smt" in caught.value.expected
    with pytest.raises(schedscape.Error) as caught:
        schedscape.domains(machine, "four")
    assert (caught.value.field, caught.value.found) == ("kernel", "four")
