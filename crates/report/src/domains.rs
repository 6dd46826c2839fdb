//! Sched domains as the big-core study prints them.

use kernel::Domains;
use kernel::log::cpu_log;

/// The SMT domain of the first two online CPUs, or a line that says that there is none.
pub fn smt_domain(domains: &Domains) -> String {
    let mut out = String::new();
    for cpu in domains.cpus.iter().take(2) {
        let chain = &domains.by_cpu[cpu];
        match chain.first() {
            Some(lowest) if lowest.name == "SMT" => out.push_str(&cpu_log(chain, cpu, 1)),
            Some(lowest) => {
                let above: Vec<&str> = chain.iter().map(|d| d.name).collect();
                let above = above.join(", ");
                out.push_str(&format!("CPU{cpu}: SMT domain ceases to exist; {above} are left\n"));
                out.push_str(&format!(" domain-0: span={} level={}\n", lowest.span, lowest.name));
            }
            None => out.push_str(&cpu_log(chain, cpu, 1)),
        }
    }
    out
}
