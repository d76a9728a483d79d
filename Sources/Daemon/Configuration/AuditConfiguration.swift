/// Where the audit is kept, and how long.
package struct AuditConfiguration: Sendable, Equatable {
    /// The directory of the log.
    package let directory: String
    /// How long records are kept at least.
    package let retention: Duration
    /// The file for records that the log cannot take.
    package let reserveFile: String
    /// Its length, in bytes.
    package let reserveBytes: Int

    /// Beside a store, unless something else is wanted.
    package init(
        beside store: StoreLocation, directory: String? = nil,
        retention: Duration = ConfigurationDefaults.Audit.retention.default, reserveFile: String? = nil,
        reserveBytes: Int = ConfigurationDefaults.Audit.reserveBytes.default
    ) {
        self.directory = directory ?? store.companion("audit")
        self.retention = retention
        self.reserveFile = reserveFile ?? store.companion("audit-reserve")
        self.reserveBytes = reserveBytes
    }
}

extension ConfigurationParser {
    /// Reads `audit`; nil without a store.
    mutating func auditSection(beside store: StoreLocation?) -> AuditConfiguration? {
        typealias Defaults = ConfigurationDefaults.Audit
        let directory = setting(["audit", "directory"], as: .absolutePath)
        let retention = setting(["audit", "retention"], Defaults.retention)
        let reserveFile = setting(["audit", "reserveFile"], as: .absolutePath)
        let reserveBytes = setting(["audit", "reserveBytes"], Defaults.reserveBytes)
        return store.map { store in
            AuditConfiguration(
                beside: store, directory: directory, retention: retention, reserveFile: reserveFile,
                reserveBytes: reserveBytes)
        }
    }
}
