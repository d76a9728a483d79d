// Sources/Daemon/Configuration/YAMLDocument.swift reads these limits, whose own file needs most of the daemon.

enum ConfigurationDefaults {
    static let maximumFileElements = 1_000_000
    static let maximumDuplicateKeys = 100
}
