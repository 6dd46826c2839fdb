use super::*;

/// 5.11 knows the boost: 2250000 x 1545 / 1024 = 3394775.
#[test]
fn acpi_cpufreq_knows_boost_from_5_11_on() {
    for (version, max_khz, policy_max_khz) in [
        ((5, 9), 2_250_000, 2_250_000),
        ((5, 10), 2_250_000, 2_250_000),
        ((5, 11), 3_394_775, 3_394_775),
        ((5, 16), 3_394_775, 2_250_000),
        ((6, 12), 3_394_775, 2_250_000),
    ] {
        let driver = epyc(version.0, version.1);
        assert_eq!((driver.min_khz(), driver.max_khz()), (1_500_000, max_khz), "{version:?}");
        let limits = driver.limits(2_000_000);
        let expected = Limits { min_khz: 1_500_000, max_khz: policy_max_khz, cur_khz: 2_000_000 };
        assert_eq!(limits, expected, "{version:?}");
    }
    let table = Table::new(&P).unwrap();
    let unknown = AcpiCpufreq { table, transition_latency_ns: 0, boost_ratio: None };
    let driver = Driver::acpi_cpufreq(Version::new(6, 12), unknown).unwrap();
    assert_eq!(driver.max_khz(), 2_250_000);
}

#[test]
fn acpi_cpufreq_needs_two_states_and_32_bits() {
    let load = |khz: &[u64], boost_ratio| {
        let acpi =
            AcpiCpufreq { table: Table::new(khz).unwrap(), transition_latency_ns: 0, boost_ratio };
        Driver::acpi_cpufreq(Version::new(6, 1), acpi).map(|d| d.max_khz())
    };
    assert_eq!(load(&[1_000_000], None), Err(FrequencyError::OneState));
    assert!(matches!(load(&P, Some(u64::MAX)), Err(FrequencyError::Value { .. })));
}

#[test]
fn amd_pstate_takes_any_frequency() {
    let driver = smooth(6, 1);
    let limits = driver.limits(400_000);
    assert_eq!(driver.resolve(1_234_567, &limits, Relation::Low), 1_234_567);
    assert_eq!(driver.resolve(1, &limits, Relation::High), 400_000);
    assert_eq!(driver.resolve(4_000_000, &limits, Relation::Low), 3_400_000);
    assert_eq!(driver.table(), None);
}

#[test]
fn amd_pstate_is_of_its_time() {
    let pstate = |major, minor, mode, boost, lowest_khz| {
        let pstate =
            AmdPstate { lowest_khz, nominal_khz: 2_250_000, highest_khz: 3_400_000, boost, mode };
        Driver::amd_pstate(Version::new(major, minor), pstate)
    };
    let (active, passive) = (AmdPstateMode::Active, AmdPstateMode::Passive);
    assert_eq!(
        pstate(5, 16, passive, true, 400_000).unwrap_err().to_string(),
        "amd-pstate: found kernel 5.16, expected 5.17 or newer"
    );
    assert!(pstate(6, 2, active, true, 400_000).is_err());
    assert_eq!(pstate(5, 17, passive, false, 400_000).unwrap().max_khz(), 2_250_000);
    assert!(pstate(6, 1, passive, true, 2_250_001).is_err());
    assert!(pstate(6, 1, passive, true, 0).is_err());
    let driver = pstate(6, 3, active, true, 400_000).unwrap();
    assert_eq!(driver.offers(Governor::Powersave), Ok(()));
    assert_eq!(
        driver.offers(Governor::Schedutil).unwrap_err().to_string(),
        "governor of amd-pstate-epp: found schedutil, expected performance or powersave"
    );
    for governor in Governor::ALL {
        assert_eq!(smooth(6, 3).offers(governor), Ok(()));
        assert_eq!(epyc(5, 9).offers(governor), Ok(()));
    }
}

#[test]
fn time_between_changes_follows_the_release() {
    for (version, latency_ns, expected_us) in [
        ((5, 9), 0, 1000),
        ((5, 9), 999, 1000),
        ((5, 9), 1_000, 1000),
        ((5, 9), 4_000, 4000),
        // Firmware's 50 us count as 20, of which a thousand times are capped.
        ((6, 8), 50_000, 10_000),
        ((6, 9), 50_000, 2_000),
        ((6, 12), 50_000, 30),
        ((6, 12), 0, 1000),
    ] {
        let driver = acpi(version.0, version.1, &P, latency_ns);
        assert_eq!(driver.transition_delay_us(), expected_us, "{version:?}, {latency_ns}");
        assert_eq!(sampling_rate_us(&driver, TICK_NS), expected_us.max(8000));
    }
}

#[test]
fn full_utilisation_stands_for_the_maximum_or_the_present() {
    assert_eq!(epyc(5, 9).reference_khz(true, 1_500_000), 2_250_000);
    assert_eq!(epyc(6, 1).reference_khz(true, 1_500_000), 3_394_775);
    assert_eq!(epyc(6, 7).reference_khz(false, 1_500_000), 1_500_000);
    assert_eq!(epyc(6, 8).reference_khz(false, 1_500_000), 1_875_000);
}

#[test]
fn governors_that_look_at_nothing_set_a_limit() {
    let (driver, fixed) = (epyc(5, 12), |fixed: Fixed, driver: &Driver| {
        fixed.start_khz(driver, &driver.limits(2_000_000))
    });
    assert_eq!(fixed(Fixed::Highest, &driver), 2_250_000);
    assert_eq!(fixed(Fixed::Lowest, &driver), 1_500_000);
}
